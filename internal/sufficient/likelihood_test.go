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
	m.Lost, m.Unknown, m.Pull = 0.1, 0.5, make([]float64, p*p)
	for i := range m.Values {
		m.Cut = append(m.Cut, 4*rng.Float64())
		m.Values[i] += m.Noise*rng.NormFloat64() - m.Cut[i]
	}
	for i := range p {
		for j := range i + 1 {
			m.Pull[i*p+j] = 4 * rng.Float64()
			m.Pull[j*p+i] = m.Pull[i*p+j]
		}
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
	return NewLikelihood(m, shape, steps, gamma, 0.5), gamma
}

// The covariance of the sums is that of their derivatives in every entry of S above the
// diagonal, each with its error, in Σxe and in Σe².
func TestCovarianceOfTheSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, count := range []int{0, 3} {
		l, gamma := example(rng, 3, count)
		const s = 0.8
		l.model(gamma, s)
		size := l.size()
		var columns [][]float64 // derivatives, by the standard deviation of what moves
		for i := range 3 {
			for j := i; j < 3; j++ {
				entry := mat.NewSymDense(3, nil)
				entry.SetSym(i, j, math.Sqrt(l.noise))
				columns = append(columns, l.derivative(entry, l.sums...))
				for _, x := range l.sums {
					entry.SetSym(i, j, math.Sqrt(x.unknown.At(i, j)))
					columns = append(columns, l.derivative(entry, x))
				}
			}
		}
		var root mat.Cholesky
		root.Factorize(l.positive)
		var lower mat.TriDense
		root.LTo(&lower)
		n := make([]float64, size)
		for k := range 3 {
			column := make([]float64, size)
			for _, x := range l.sums {
				for i := range 3 {
					column[x.first+i] = s * lower.At(i, k)
					column[x.square] += 2 * s * x.b[i] * lower.At(i, k)
				}
			}
			columns = append(columns, column)
		}
		for _, x := range l.sums {
			n[x.square] = math.Sqrt(2*l.n) * s * s
		}
		columns = append(columns, n)
		for i := range 4 { // of the moments themselves
			column := make([]float64, size)
			column[i] = math.Sqrt(l.noise)
			columns = append(columns, column)
		}
		ofN := make([]float64, size)
		ofN[3] = l.nSD * s * s
		want := mat.NewSymDense(size, nil)
		for _, c := range append(columns, ofN) {
			want.SymRankOne(want, 1, mat.NewVecDense(size, c))
		}
		if l.steps {
			for i := range 3 {
				for j := range i + 1 {
					want.SetSym(4+i, 4+j, want.At(4+i, 4+j)+l.shape.At(i, j))
				}
			}
			want.SetSym(7, 7, want.At(7, 7)+l.squareVar)
		}
		if got := l.noises(s); !mat.EqualApprox(got, want, 1e-9*want.At(3, 3)) {
			t.Errorf("%d steps:\n%.5g\nwant\n%.5g", count, mat.Formatted(got), mat.Formatted(want))
		}
	}
}

// derivative is the change of the released sums by entry, a change of S in some.
func (l *Likelihood) derivative(entry *mat.SymDense, in ...*sum) []float64 {
	out := make([]float64, l.size())
	for _, x := range in {
		for i := range l.p {
			for j := range l.p {
				out[x.first+i] += entry.At(i, j) * x.a[j]
				out[x.square] += entry.At(i, j) * x.m.At(i, j)
			}
		}
	}
	return out
}

// Where S is unknown, the weights of steps move the place of their mean to the center, as
// far as the steps' places allow; where it is known they are those of least noise.
func TestWeightsOfSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	places := [][]float64{{0, 0}, {2, 0}, {0, 1}}
	center := []float64{0.5, 0.25}
	mean := func(noise, ofStep float64) []float64 {
		m := &Moments{P: 2, Noise: noise, Records: 1e6, Values: []float64{1e6, 0, 0, 1e6, 0, 1e6}}
		var steps []Step
		for _, at := range places {
			steps = append(steps, Step{At: at, Slope: []float64{rng.NormFloat64(), 0}, SlopeNoise: ofStep, SquareNoise: ofStep})
		}
		shape := mat.NewSymDense(2, []float64{1, 0, 0, 1})
		return NewLikelihood(m, shape, steps, center, 1).sums[1].at
	}
	if at := mean(1000, 1); math.Hypot(at[0]-center[0], at[1]-center[1]) > 1e-3 {
		t.Errorf("S unknown: the mean place is %v, want %v", at, center)
	}
	if at := mean(1, 1000); math.Hypot(at[0]-2./3, at[1]-1./3) > 1e-3 {
		t.Errorf("S known: the mean place is %v, want (2/3, 1/3)", at)
	}
}

// Where noise hides a direction of S, steps that end at a place do not tell that γ is there.
func TestHiddenDirectionsLeaveStepsOut(t *testing.T) {
	for least, want := range map[float64]bool{50: true, -5: false} {
		m := &Moments{P: 2, Noise: 20, Records: 1000, Values: []float64{1000, 0, 0, least, 0, 1000}}
		steps := []Step{{At: []float64{0, 0}, Slope: []float64{0, 0}, Square: 1000, SlopeNoise: 1, SquareNoise: 50}}
		l := NewLikelihood(m, mat.NewSymDense(2, []float64{1, 0, 0, 1}), steps, []float64{0, 0}, 1)
		near, far := l.Density(nil, []float64{0, 0}, 0), l.Density(nil, []float64{0, 1}, 0)
		if told := near-far > 3; told != want {
			t.Errorf("a moment of %g ± 20: the log density falls by %g towards γ = 1", least, near-far)
		}
	}
}
