//go:build linux && !nogpu

package gpu

import (
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
		First: 3, N: n, State: make([]float64, P+1), Inputs: make([]float64, n*P), Kept: make([]float64, n*(P+1)), Threads: 2,
		RecordNoise: root.Stream(noise.RecordNoise), Sum: root.Stream(noise.GradientNoise), Count: root.Stream(noise.CountNoise),
		Clip: privacy.Clip{Kind: privacy.Flat}, GradientNoise: 2.5, CountNoise: 7, CountTarget: 0.75, Widened: 1 + 0x1p-40,
	}
	in.State[P] = 1.25
	for i := range in.Inputs {
		in.Inputs[i] = rng.NormFloat64()
	}
	batches := make([][]uint32, n)
	for k := range n {
		size := sizes[k%len(sizes)]
		if size < 0 {
			continue
		}
		for _, i := range rng.Perm(N)[:size] {
			batches[k] = append(batches[k], uint32(i))
		}
		in.Rate += float64(size) / float64(N*n)
	}
	in.Draw = func(_, step int, dst []uint32) ([]uint32, bool) {
		return append(dst[:0], batches[step%n]...), sizes[0] < 0
	}
	return in
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
