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
		l.weak = count == 4
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

// Sums that are as expected at γ and s leave nothing: those of records that a bound weights, and of steps.
func TestMeansOfTheSums(t *testing.T) {
	const n, s, lost = 1000.0, 0.7, 0.1
	gamma := []float64{0.5, -1.2}
	of := func(a []float64, x []float64) float64 { return a[0]*x[0]*x[0] + 2*a[1]*x[0]*x[1] + a[2]*x[1]*x[1] }
	times := func(a []float64, x []float64) []float64 {
		return []float64{a[0]*x[0] + a[1]*x[1], a[1]*x[0] + a[2]*x[1]}
	}
	weighted, cut, pull := []float64{900, 40, 800}, []float64{60, 5, 80}, []float64{30, 4, 50}
	all := []float64{weighted[0] + cut[0], weighted[1] + cut[1], weighted[2] + cut[2]}
	with, pulled := times(weighted, gamma), times(pull, gamma)
	m := &Moments{P: 2, Noise: 5, Records: n, RecordsSD: 3, Lost: lost, Unknown: 0.5,
		Values: []float64{weighted[0], weighted[1], with[0] - pulled[0], weighted[2], with[1] - pulled[1], of(weighted, gamma) - 2*of(pull, gamma) + (1-lost)*n*s*s},
		Cut:    []float64{cut[0], cut[1], 0, cut[2], 0, 0}, Pull: []float64{pull[0], pull[1], pull[1], pull[2]}}
	var steps []Step
	for _, at := range [][]float64{{0, 0}, {1, -1}, {0.4, -2}} {
		off := []float64{gamma[0] - at[0], gamma[1] - at[1]}
		steps = append(steps, Step{At: at, Slope: times(all, off), Square: of(all, off) + n*s*s, SlopeNoise: 3, SquareNoise: 2 + at[0]})
	}
	for count := range len(steps) + 1 {
		l := NewLikelihood(m, mat.NewSymDense(2, []float64{1, 0, 0, 1}), steps[:count], []float64{0.3, -1}, 0.5)
		l.model(gamma, s)
		for i, d := range l.d {
			if math.Abs(d) > 1e-9 {
				t.Errorf("%d steps: sum %d is off by %g", count, i, d)
			}
		}
		if want := math.Hypot(3, 0.5*lost*n); l.nSD != want || l.weak {
			t.Errorf("sd of n %g, want %g; weak %v", l.nSD, want, l.weak)
		}
		if solved := l.Solved(); count > 0 && math.Hypot(solved[0]-gamma[0], solved[1]-gamma[1]) > 1e-9 {
			t.Errorf("%d steps are solved by %v, want %v", count, solved, gamma)
		}
	}
}

// What a regression leaves is Σe² of all records. A direction that noise hides has as much design as
// the noise, no less.
func TestHiddenDesign(t *testing.T) {
	m := &Moments{P: 2, Noise: 100, Records: 500, Lost: 0.2, Values: []float64{500, 0, 250, 400, 200, 125 + 100 + 360}}
	if got := m.Residual(); math.Abs(got-450) > 1e-9 {
		t.Errorf("the regression leaves %g, want 450", got)
	}
	m.Values[3] = -50
	var e mat.EigenSym
	l := NewLikelihood(m, nil, nil, []float64{0, 0}, 1)
	if e.Factorize(l.Positive(), false); math.Abs(e.Values(nil)[0]-100) > 1e-9 || !l.weak {
		t.Errorf("eigenvalues %v, want at least 100; weak %v", e.Values(nil), l.weak)
	}
}

// The mode of −Σcosh(aᵀ(x − c)) is c, its information Σaaᵀ. In a direction in which the density is constant
// the variance is the largest possible, and x stays at its start.
func TestMode(t *testing.T) {
	a, c := [][]float64{{1, 2, 0}, {-1, 1, 0}, {3, 0.5, 0}}, []float64{2, -3, 0}
	mode, covariance := Mode(func(gradient, x []float64) (value float64) {
		clear(gradient)
		for _, a := range a {
			along := 0.0
			for j := range x {
				along += a[j] * (x[j] - c[j])
			}
			value -= math.Cosh(along)
			for j := range x {
				gradient[j] -= a[j] * math.Sinh(along)
			}
		}
		return value
	}, []float64{0, 0, 7})
	for j, want := range []float64{2, -3, 7} {
		if math.Abs(mode[j]-want) > 1e-4 {
			t.Errorf("the mode is %v, want [2 -3 7]", mode)
		}
	}
	// Σaaᵀ = (11 2.5; 2.5 5.25)
	det := 11*5.25 - 2.5*2.5
	for _, v := range []struct {
		i, j int
		want float64
	}{{0, 0, 5.25 / det}, {0, 1, -2.5 / det}, {1, 1, 11 / det}, {2, 2, 1e6}} {
		if got := covariance.At(v.i, v.j); math.Abs(got/v.want-1) > 1e-4 {
			t.Errorf("covariance %d, %d is %g, want %g", v.i, v.j, got, v.want)
		}
	}
}
