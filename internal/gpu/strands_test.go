//go:build linux && !nogpu

package gpu

import (
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// adamAnalyst is an analyst whose state has, after m and c, the moments of Adam, an average
// of m and a sum over gradients: results that need little of each other but the gradient.
func adamAnalyst(t testing.TB, P int) privacy.Postprocessing {
	t.Helper()
	post := analyst(t, P)
	d := graph.Shape{{Name: "p", Size: P}}
	b := graph.NewBuilder()
	m, c := b.Param("m", d), b.Param("c", nil)
	first, second, average, total := b.Param("first", d), b.Param("second", d), b.Param("average", d), b.Param("total", d)
	b.Aux("input", d, false)
	sum, count, gradient := b.Aux("sum", d, false), b.Aux("count", nil, false), b.Aux("gradient", d, false)
	mixed := func(rate float64, old, next *graph.Node) *graph.Node {
		return b.Add(b.Mul(b.Const(rate), old), b.Mul(b.Const(1-rate), next))
	}
	g := b.Add(sum, gradient)
	first, second = mixed(0.9, first, g), mixed(0.99, second, b.Square(g))
	m = b.Add(m, b.Mul(b.Const(0.01), b.Div(first, b.Add(b.Sqrt(second), b.Const(1e-8)))))
	average = b.Sub(average, b.Mul(b.Const(0.1), b.Sub(average, m)))
	total = b.Add(total, b.Neg(b.Mul(b.Square(g), b.Exp(b.Neg(b.Square(g))))))
	reversed, squares := make([]int32, P), make([]int32, P)
	for i := range reversed {
		reversed[i], squares[i] = int32(P-1-i), int32(i*i%P) // the squares are at uneven distances: in no chain
	}
	total = b.Add(total, b.Mul(b.Take(gradient, d, reversed), b.Mul(total, b.Take(sum, d, squares))))
	c = b.Mul(c, b.Exp(b.Mul(b.Const(-0.001), count)))
	var err error
	if post.Absorb, err = graph.Compile(b, nil, []*graph.Node{m, c, first, second, average, total}, graph.Options{}); err != nil {
		t.Fatal(err)
	}
	b = graph.NewBuilder()
	m = b.Param("m", d)
	b.Param("c", nil)
	b.Param("others", graph.Shape{{Name: "other", Size: 4 * P}})
	if post.Propose, err = graph.Compile(b, nil, []*graph.Node{b.Add(m, b.Mul(b.Const(0.1), b.Aux("input", d, false)))}, graph.Options{}); err != nil {
		t.Fatal(err)
	}
	return post
}

// inSequence is how many instructions of a program run one after the other.
func inSequence(list []instr) (n int) {
	for i := 0; i < len(list); i++ {
		c := &list[i]
		if c.rowStep == 0 || c.chain == 0 {
			n++
			continue
		}
		longest := int32(0)
		for k := range c.rowStep {
			longest = max(longest, list[i+int(k)].colStep)
		}
		n += int(longest)
		i += int(c.chain) - 1
	}
	return n
}

// Strands have all that their results need, each number in memory is written by one of them,
// and they shorten the time between two steps; long vectors keep all threads busy anyway.
func TestStrands(t *testing.T) {
	for P, strands := range map[int]bool{3: true, 33: true, 100: true, 300: false} {
		p, err := compileGlobal(adamAnalyst(t, P).Absorb, 1, span{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		written := map[int32]bool{}
		for i := range p.global {
			c := &p.global[i]
			found = found || c.chain > 0 && c.rowStep > 1
			if c.chain > 0 && c.rowStep*((c.size+31)/32) > mostStrands {
				t.Errorf("P=%d: %d strands of %d elements", P, c.rowStep, c.size)
			}
			if c.dst >= 0 && written[c.dst] {
				t.Errorf("P=%d: two instructions write number %d", P, c.dst)
			}
			written[c.dst] = true
		}
		if n := inSequence(p.global); found != strands || strands && n > len(p.global)*4/5 {
			t.Errorf("P=%d: strands %v, %d of %d instructions in sequence", P, found, n, len(p.global))
		}
	}
}

// Early instructions, which run while records are summed, read nothing that is noisy, nor what
// a late one makes; they are in no chain with late ones.
func TestEarlyInstructions(t *testing.T) {
	const P = 9
	noisy := span{P, 2*P + 1} // behind the inputs
	p, err := compileGlobal(adamAnalyst(t, P).Absorb, 1, noisy)
	if err != nil {
		t.Fatal(err)
	}
	if p.early < 2 || p.early > len(p.global)-10 {
		t.Fatalf("%d of %d instructions are early", p.early, len(p.global))
	}
	late := map[int32]bool{}
	for _, c := range p.global[p.early:] {
		late[c.dst] = c.dst >= 0
	}
	chainEnd := 0
	for i, c := range p.global[:p.early] {
		chainEnd = max(chainEnd, i+int(c.chain))
		for _, o := range []operand{c.a, c.b, c.c} {
			if o.space == inAux && int(o.at) >= noisy.from && int(o.at) < noisy.to || o.space == inGlobals && late[o.at] {
				t.Errorf("early instruction %d reads number %d of space %d", i, o.at, o.space)
			}
		}
	}
	if chainEnd > p.early {
		t.Errorf("a chain ends at %d, behind the %d early instructions", chainEnd, p.early)
	}
}

// Steps whose chains run in strands have the bits of steps whose chains do not.
func TestStrandsKeepBits(t *testing.T) {
	const N, n = 300, 9
	for _, P := range []int{6, 44} {
		tape, rows := plainRegression(t, P, N)
		var states [2]privacy.StepsInput
		for k, wide := range []bool{false, true} {
			w := openOn(t, newEngine("cuda:7", newOneThread(t, 1<<30), Options{}), tape, rows)
			s, err := newScript(tape.P, wide, adamAnalyst(t, tape.P))
			if err != nil {
				t.Fatal(err)
			}
			if sequence, all := inSequence(s.absorb.global), len(s.absorb.global); (sequence == all) != wide {
				t.Fatalf("wide %v: %d of %d instructions in sequence", wide, sequence, all)
			}
			if err := w.engine.exclusively(func() error { return w.openSteps(s) }); err != nil {
				t.Fatal(err)
			}
			in := stepsInput(n, tape.P, N, []int{33, 50})
			in.State = append(in.State, make([]float64, 4*tape.P)...)
			if done, err := w.Steps(in); err != nil || done != n {
				t.Fatal(done, err)
			}
			states[k] = in
		}
		same(t, states[0].State, states[1].State)
		same(t, states[0].Kept, states[1].Kept)
	}
}
