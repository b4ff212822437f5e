package dist

import (
	"fmt"
	"math"
	"testing"

	"d3p/internal/models/graph"
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
func TestSamplers(t *testing.T) {
	eachCase(t, func(t *testing.T, d *Distribution, p point) {
		b := graph.NewBuilder()
		a := p.applied(b, d)
		xs := p.sample(d, draws, 1)
		for _, x := range xs {
			if !a.Support().Contains(x) {
				t.Fatalf("drew %v, which is not %v", x, a.Support())
			}
		}
		if a.Support().Discrete() {
			requireOutcomes(t, enumerate(t, d, p), xs)
			return
		}
		requireDensity(t, integrate(t, b, a, shapeOf(d.EventRank, len(p.X.values))), xs)
	})
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
	mean := sum(values) / n
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
		if p.applied(b, d).Support().Kind == Interval {
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
		m := graph.NewMachine(tape, len(xs))
		m.Globals(theta, nil)
		m.Records(rows, len(p.X.values), len(xs), nil)
		gradients := make([][]float64, tape.P)
		gradient := make([]float64, tape.P)
		for r := range xs {
			m.Gradient(r, gradient)
			for i, v := range gradient {
				gradients[i] = append(gradients[i], v)
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

// constant says that all values are the same up to rounding.
func constant(values []float64) bool {
	for _, v := range values {
		if math.Abs(v-values[0]) > 1e-9*math.Abs(values[0])+1e-12 {
			return false
		}
	}
	return true
}
