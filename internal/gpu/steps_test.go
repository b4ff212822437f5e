//go:build linux && !nogpu

package gpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// analyst is a simple postprocessing of P parameters: θ = m + 0.1·input, a step
// along the noisy sum and the gradient of a standard normal prior, and a clip
// norm that follows the noisy count. The state is m (P), then C.
func analyst(t testing.TB, P int) privacy.Postprocessing {
	t.Helper()
	d := graph.Dim{Name: "p", Size: P}
	compile := func(b *graph.Builder, loss *graph.Node, outputs ...*graph.Node) *graph.Tape {
		tape, err := graph.Compile(b, loss, outputs, graph.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return tape
	}
	b := graph.NewBuilder()
	m, _ := b.Param("m", graph.Shape{d}), b.Param("c", nil)
	propose := compile(b, nil, b.Add(m, b.Mul(b.Const(0.1), b.Aux("input", graph.Shape{d}, false))))

	b = graph.NewBuilder()
	prior := compile(b, b.Mul(b.Const(-0.5), b.Sum(b.Square(b.Param("theta", graph.Shape{d})))))

	b = graph.NewBuilder()
	m, c := b.Param("m", graph.Shape{d}), b.Param("c", nil)
	b.Aux("input", graph.Shape{d}, false)
	sum, count, gradient := b.Aux("sum", graph.Shape{d}, false), b.Aux("count", nil, false), b.Aux("gradient", graph.Shape{d}, false)
	absorb := compile(b, nil, b.Add(m, b.Mul(b.Const(0.001), b.Add(sum, gradient))), b.Mul(c, b.Exp(b.Mul(b.Const(-0.001), count))))
	return privacy.Postprocessing{Propose: propose, Prior: prior, Absorb: absorb, ClipNorm: P}
}

// pointAnalyst is an analyst whose θ is m.
func pointAnalyst(t testing.TB, P int) privacy.Postprocessing {
	t.Helper()
	post := analyst(t, P)
	b := graph.NewBuilder()
	m, _ := b.Param("m", graph.Shape{{Name: "p", Size: P}}), b.Param("c", nil)
	b.Aux("input", graph.Shape{{Name: "p", Size: P}}, false)
	var err error
	if post.Propose, err = graph.Compile(b, nil, []*graph.Node{m}, graph.Options{}); err != nil {
		t.Fatal(err)
	}
	return post
}

// stepsInput is n steps on batches of the given sizes; size -1 is every record.
func stepsInput(n, P, N int, sizes []int) privacy.StepsInput {
	rng := rand.New(rand.NewPCG(8, 9))
	root := noise.Insecure(5)
	in := privacy.StepsInput{
		First: 3, N: n, State: make([]float64, P+1), Inputs: make([]float64, n*P), Kept: make([]float64, n*(P+1)), Offsets: []int64{0},
		RecordNoise: root.Stream(noise.RecordNoise), Sum: root.Stream(noise.GradientNoise), Count: root.Stream(noise.CountNoise),
		Clip: privacy.Clip{Kind: privacy.Flat}, GradientNoise: 2.5, CountNoise: 7, CountTarget: 0.75, Widened: 1 + 0x1p-40,
	}
	in.State[P] = 1.25
	for i := range in.Inputs {
		in.Inputs[i] = rng.NormFloat64()
	}
	for k := range n {
		size := sizes[k%len(sizes)]
		if size < 0 {
			in.Offsets = nil
			break
		}
		for _, i := range rng.Perm(N)[:size] {
			in.Places = append(in.Places, uint32(i))
		}
		in.Offsets = append(in.Offsets, int64(len(in.Places)))
	}
	return in
}

// Steps in one launch are those of a session that asks for each: the same sums
// and counts bit for bit, the same noise, and the analyst's arithmetic up to the
// rounding of exp.
func TestStepsFollowSession(t *testing.T) {
	const N = 2000
	for _, c := range []struct {
		name  string
		sizes []int
		key   bool
		model func(testing.TB, int, int) (*graph.Tape, *privacy.Rows)
		D     int
		wide  bool
		point bool
	}{
		{"batches", []int{0, 1, 33, 700, 1999}, false, plainRegression, 6, false, false},
		{"every record", []int{-1}, false, plainRegression, 6, false, false},
		{"words made on the device", []int{33, 700}, true, plainRegression, 44, false, false},
		{"noise of records", []int{0, 700, 33}, false, regression, 6, false, false},
		{"points", []int{0, 700, 33}, false, regression, 6, false, true},
		{"all blocks together", []int{0, 700, 33}, true, regression, 20, true, false},
		{"points, all blocks together", []int{0, 700, 33}, true, regression, 20, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tape, rows := c.model(t, c.D, N)
			e := newEngine("cuda:7", newOneThread(t, 1<<30), Options{})
			if c.wide {
				e.wideFrom = 0
			}
			w := openOn(t, e, tape, rows)
			post := analyst(t, tape.P)
			if c.point {
				post = pointAnalyst(t, tape.P)
			}
			if err := w.Prepare(post); err != nil {
				t.Fatal(err)
			}
			if (w.stepping.run.direct != 0) != c.point {
				t.Error("θ is the state where it is not proposed, and only there")
			}
			if c.key {
				e.mostWords = 0
			}
			follow(t, w, post, stepsInput(9, tape.P, N, c.sizes))
		})
	}
}

// Where double precision does not decide how noise is rounded the host adds it,
// and the run goes on: here to a number of the sum, and to the count, of which
// the radius of Box and Muller needs more bits than a word has.
func TestUncertainNoiseIsAddedOnTheHost(t *testing.T) {
	const N = 300
	tape, rows := plainRegression(t, 44, N)
	for name, key := range map[string]bool{"words": false, "words made on the device": true} {
		t.Run(name, func(t *testing.T) {
			d := newOneThread(t, 1<<30)
			e := newEngine("cuda:7", d, Options{})
			if key {
				e.mostWords = 0
			}
			w := openOn(t, e, tape, rows)
			post := analyst(t, tape.P)
			if err := w.Prepare(post); err != nil {
				t.Fatal(err)
			}
			in := stepsInput(5, tape.P, N, []int{50})
			for _, s := range []struct {
				stream *noise.Stream
				radii  int // words of the first group that are radii of what is added
			}{{in.Sum, 8}, {in.Count, 1}} {
				in.First = sensitive(t, s.stream, s.radii) - 2
				in.State = make([]float64, tape.P+1)
				in.State[tape.P] = 1.25
				before := d.launches
				follow(t, w, post, in)
				if launches := d.launches - before - 2*in.N; launches != 2 {
					t.Errorf("%d launches of steps, want 2", launches)
				}
			}
		})
	}
}

// sensitive finds a step of which one of the first words is too near 0 or 1:
// there is one among 11 million words, so that 2^31 have none with probability
// below 1e-80.
func sensitive(t *testing.T, s *noise.Stream, radii int) int {
	t.Helper()
	words := make([]uint64, radii)
	for step := 2; step < 1<<31/radii; step++ {
		s.Seek(uint64(step))
		s.Words64(words)
		for _, w := range words {
			if w < 1<<40 || w > 1<<64-1<<39 {
				return step
			}
		}
	}
	t.Fatal("no such word")
	return 0
}

// follow takes the steps in one launch, and one at a time.
func follow(t *testing.T, w *worker, post privacy.Postprocessing, in privacy.StepsInput) {
	t.Helper()
	P := w.p.tape.P
	want := append([]float64(nil), in.State...)
	done, err := w.Steps(in)
	if err != nil || done != in.N {
		t.Fatalf("%d steps of %d: %v", done, in.N, err)
	}
	same(t, in.State, in.Kept[(in.N-1)*(P+1):])
	propose, prior, absorb := graph.NewMachine(post.Propose, 1), graph.NewMachine(post.Prior, 1), graph.NewMachine(post.Absorb, 1)
	aux := make([]float64, 3*P+1)
	sum, count := aux[P:2*P], aux[2*P:2*P+1]
	for k := range in.N {
		copy(aux, in.Inputs[k*P:(k+1)*P])
		propose.Globals(want, aux[:P])
		theta := append([]float64(nil), propose.Output(0)...)
		batch, all, size := []uint32(nil), in.Offsets == nil, w.table.rows.N
		if !all {
			batch = in.Places[in.Offsets[k]:in.Offsets[k+1]]
			size = len(batch)
		}
		clip := in.Clip
		clip.Norm = want[P]
		c, err := w.ClippedSum(sum, privacy.StepInput{Params: theta, RecordNoise: in.RecordNoise, Step: in.First + k}, batch, all, clip)
		if err != nil {
			t.Fatal(err)
		}
		in.Sum.Seek(uint64(in.First + k))
		in.Sum.AddGaussian(sum, in.GradientNoise*clip.Norm*in.Widened)
		count[0] = c + (0.5-in.CountTarget)*float64(size)
		in.Count.Seek(uint64(in.First + k))
		in.Count.AddGaussian(count, in.CountNoise*in.Widened)
		prior.Globals(theta, nil)
		prior.GlobalGradient(aux[2*P+1:])
		absorb.Globals(want, aux)
		copy(want, absorb.Output(0))
		want[P] = absorb.Output(1)[0]
		got := in.Kept[k*(P+1):][:P+1]
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-13*math.Abs(want[i]) {
				t.Fatalf("step %d: state[%d] = %x, want %x", k, i, got[i], want[i])
			}
		}
		copy(want, got) // so that the next sums see the same bits
	}
}

// Where C is out of range or the state not finite, the run ends before that step,
// and nothing of it shows.
func TestStepsEndEarly(t *testing.T) {
	const N, n = 300, 6
	tape, rows := plainRegression(t, 6, N)
	P := tape.P
	for _, c := range []struct {
		name  string
		input float64
		done  int
	}{
		{"state not finite", math.Inf(1), 3},
		{"clip norm", 1e200, 4}, // the step that makes such a C is done
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := open(t, 0, tape, rows)
			if err != nil {
				t.Fatal(err)
			}
			post := analyst(t, P)
			post.Absorb = fragile(t, P)
			if err := w.Prepare(post); err != nil {
				t.Fatal(err)
			}
			in := stepsInput(n, P, N, []int{50})
			in.Inputs[3*P] = c.input
			done, err := w.Steps(in)
			if err != nil || done != c.done {
				t.Fatalf("%d steps, want %d: %v", done, c.done, err)
			}
			same(t, in.State, in.Kept[(done-1)*(P+1):done*(P+1)])
			for i, x := range in.Kept[done*(P+1):] {
				if x != 0 {
					t.Fatalf("number %d after the last step is %g", i, x)
				}
			}
		})
	}
}

// fragile multiplies C by the first input of a step if that is large.
func fragile(t testing.TB, P int) *graph.Tape {
	t.Helper()
	d := graph.Dim{Name: "p", Size: P}
	b := graph.NewBuilder()
	m, c := b.Param("m", graph.Shape{d}), b.Param("c", nil)
	input := b.Slice(b.Aux("input", graph.Shape{d}, false), "p", 0)
	for _, name := range []string{"sum", "count", "gradient"} {
		shape := graph.Shape{d}
		if name == "count" {
			shape = nil
		}
		b.Aux(name, shape, false)
	}
	tape, err := graph.Compile(b, nil, []*graph.Node{m, b.Mul(c, b.Max(b.Const(1), input))}, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tape
}
