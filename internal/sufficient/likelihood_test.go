package sufficient

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The gradient is that of the density, with and without steps.
func TestGradientOfDensity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, count := range []int{0, 3, 4} {
		l, gamma := example(rng, 4, count)
		l.weak = float64(count / 4)
		at := func(x []float64) float64 { return l.Density(nil, x[:4], x[4]) }
		x := append(append([]float64(nil), gamma...), math.Log(0.7))
		gradient := make([]float64, 5)
		l.Density(gradient, x[:4], x[4])
		for j := range x {
			const h = 1e-5
			up, down := append([]float64(nil), x...), append([]float64(nil), x...)
			up[j], down[j] = x[j]+h, x[j]-h
			if want := (at(up) - at(down)) / (2 * h); math.Abs(gradient[j]-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%d steps: derivative %d is %.8g, the difference quotient %.8g", count, j, gradient[j], want)
			}
		}
	}
}

// example is the likelihood of 200 records and a place near their regression.
func example(rng *rand.Rand, p, count int) (*Likelihood, []float64) {
	const n = 200
	gamma := make([]float64, p)
	for j := range gamma {
		gamma[j] = rng.NormFloat64()
	}
	m := &Moments{P: p, Noise: 5, Records: n, RecordsSD: 3, Values: make([]float64, (p+1)*(p+2)/2)}
	steps := make([]Step, count)
	for t := range steps {
		steps[t] = Step{At: make([]float64, p), Slope: make([]float64, p), SlopeNoise: 2 + float64(t), SquareNoise: 3 + float64(t)}
		for j := range p {
			steps[t].At[j] = gamma[j] + 0.1*rng.NormFloat64()
		}
	}
	for range n {
		x := make([]float64, p+1)
		x[0] = 1
		for j := 1; j < p; j++ {
			x[j] = rng.NormFloat64()
		}
		for j := range p {
			x[p] += x[j] * gamma[j]
		}
		x[p] += 0.7 * rng.NormFloat64()
		at := 0
		for i := range x {
			for j := i; j < len(x); j++ {
				m.Values[at] += x[i] * x[j]
				at++
			}
		}
		for t := range steps {
			r := x[p]
			for j := range p {
				r -= x[j] * steps[t].At[j]
			}
			for j := range p {
				steps[t].Slope[j] += x[j] * r
			}
			steps[t].Square += r * r
		}
	}
	for i := range m.Values {
		m.Values[i] += m.Noise * rng.NormFloat64()
	}
	shape := mat.NewSymDense(p, nil)
	for j := range p {
		shape.SetSym(j, j, 1)
	}
	shape.SetSym(0, 1, 0.3)
	for t := range steps {
		for j := range p {
			steps[t].Slope[j] += steps[t].SlopeNoise * rng.NormFloat64()
		}
		steps[t].Square += steps[t].SquareNoise * rng.NormFloat64()
	}
	return NewLikelihood(m, shape, steps), gamma
}
