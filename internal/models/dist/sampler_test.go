package dist

import (
	"fmt"
	"math"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/models/support"
	"d3p/internal/stattest"
)

const draws = 20000

// sample draws from the family itself.
func (p point) sample(d *Distribution, n int, seed uint64) [][]float64 {
	rng := newRand(seed)
	args := p.samplerArgs(d)
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, len(p.X.values))
		d.Sample(out[i], args, rng)
	}
	return out
}

// Draws follow the density: Kolmogorov-Smirnov for every free coordinate and
// a z-test of their products, or chi-square over outcomes. Each check fails a
// right sampler with probability stattest.Alpha.
func requireSampler(t *testing.T, a Applied, l law, p point) {
	xs := p.sample(a.Distribution, draws, 1)
	for _, x := range xs {
		if !a.Support().Contains(x) {
			t.Fatalf("drew %v, which is not %v", x, a.Support())
		}
	}
	if l.grid == nil {
		requireOutcomes(t, l.outcomes, xs)
		return
	}
	if l.outcomes != nil {
		inside := outcome{x: []float64{0.5}, p: l.grid.expect(func(_, _ []float64) float64 { return 1 })}
		var ends, others [][]float64
		for _, x := range xs {
			if x[0] == 0 || x[0] == 1 {
				ends = append(ends, x)
			} else {
				ends, others = append(ends, inside.x), append(others, x)
			}
		}
		requireOutcomes(t, append(l.outcomes, inside), ends)
		xs = others
	}
	requireDensity(t, l.grid, xs)
}

func requireOutcomes(t *testing.T, outcomes []outcome, xs [][]float64) {
	t.Helper()
	count := map[string]int{}
	for _, x := range xs {
		count[fmt.Sprint(x)]++
	}
	var observed []int
	var expected []float64
	for _, o := range outcomes {
		observed = append(observed, count[fmt.Sprint(o.x)])
		expected = append(expected, o.p*float64(len(xs)))
	}
	var total int
	for _, o := range observed {
		total += o
	}
	if total != len(xs) {
		t.Fatalf("%d of %d draws are no outcome", len(xs)-total, len(xs))
	}
	if most := maximum(expected); most > float64(len(xs))-100 {
		return // one outcome has nearly all the mass: there is nothing to pool
	}
	stattest.Require(t, "outcomes", stattest.ChiSquare(observed, expected))
}

func maximum(x []float64) float64 {
	m := math.Inf(-1)
	for _, v := range x {
		m = math.Max(m, v)
	}
	return m
}

func requireDensity(t *testing.T, g *grid, xs [][]float64) {
	t.Helper()
	us := make([][]float64, len(xs))
	for i, x := range xs {
		us[i] = make([]float64, g.axes)
		g.transform.InverseAll(us[i], x, g.shape)
	}
	for a := range g.axes {
		column := make([]float64, len(us))
		for i, u := range us {
			column[i] = u[a]
		}
		stattest.Require(t, fmt.Sprintf("coordinate %d", a), stattest.KolmogorovSmirnov(column, g.cdf(a)))
		for other := range a {
			product := func(u, _ []float64) float64 { return math.Tanh(u[a]) * math.Tanh(u[other]) }
			values := make([]float64, len(us))
			for i, u := range us {
				values[i] = product(u, nil)
			}
			stattest.Require(t, fmt.Sprintf("coordinates %d and %d", a, other), meanTest(values, g.expect(product)))
		}
	}
}

// meanTest is the p-value of the values' mean being want, by the central limit
// theorem; the values are bounded or have light tails.
func meanTest(values []float64, want float64) float64 {
	n := float64(len(values))
	mean := support.Sum(values) / n
	var square float64
	for _, v := range values {
		square += (v - mean) * (v - mean)
	}
	if square == 0 {
		if mean == want {
			return 1
		}
		return 0
	}
	return stattest.Normal((mean - want) / math.Sqrt(square/n/n))
}

// The expected score, the gradient of the log density in the arguments, is 0
// under the sampler: density, normalising constant and sampler agree in every
// argument (Fisher's identity). Arguments that bound the support or count
// trials have no such identity.
func TestScores(t *testing.T) {
	eachCase(t, func(t *testing.T, d *Distribution, p point) {
		b := graph.NewBuilder()
		if p.applied(b, d).Support().Kind == support.Interval {
			t.Skip("the arguments bound the support")
		}
		var theta []float64
		args := p.nodes(b, d, func(name string, s graph.Shape, v []float64) *graph.Node {
			theta = append(theta, v...)
			return b.Param(name, s)
		})
		loss := Apply(b, d, args).LogDensity(b, Observed{X: p.column(b, d)})
		tape, err := graph.Compile(b, loss, nil, graph.Options{})
		if err != nil {
			t.Fatal(err)
		}
		xs := p.sample(d, draws, 2)
		var rows []float64
		for _, x := range xs {
			rows = append(rows, x...)
		}
		const piece = 500 // fits into a cache
		width := len(p.X.values)
		m := graph.NewMachine(tape, piece)
		m.Globals(theta, nil)
		gradients := make([][]float64, tape.P)
		gradient := make([]float64, tape.P)
		for first := 0; first < len(xs); first += piece {
			m.Records(rows[first*width:], width, piece, nil)
			for r := range piece {
				m.Gradient(r, gradient)
				for i, v := range gradient {
					gradients[i] = append(gradients[i], v)
				}
			}
		}
		for i, a := range tape.Params {
			switch a.Name {
			case "trials", "cuts", "cholesky":
				continue // a count; where the density jumps; a triangle with fixed zeros
			case "probs":
				if len(a.Shape) > 0 {
					continue // bound to add up to 1
				}
			}
			for j := a.Offset; j < a.Offset+a.Shape.Size(); j++ {
				if constant(gradients[j]) {
					continue // x is all but certain: the score is rounding
				}
				stattest.Require(t, fmt.Sprintf("score of %s, %d", tape.Params[i].Name, j), meanTest(gradients[j], 0))
			}
		}
	})
}

// constant reports whether all values are the same up to rounding.
func constant(values []float64) bool {
	for _, v := range values {
		if math.Abs(v-values[0]) > 1e-9*math.Abs(values[0])+1e-12 {
			return false
		}
	}
	return true
}
