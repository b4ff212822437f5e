package nuts

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"d3p/internal/simd"
	"d3p/internal/stattest"
)

// random is a seeded Rand.
type random struct{ *rand.Rand }

func (r random) Normal() float64  { return r.NormFloat64() }
func (r random) Uniform() float64 { return r.Float64() }

func seeded(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 1))} }

// normalDensity is N(0, Σ) with precision Σ⁻¹.
func normalDensity(precision *mat.SymDense) Density {
	n := precision.SymmetricDim()
	return func(gradient, x []float64) (float64, error) {
		v := mat.NewVecDense(n, gradient)
		v.MulVec(precision, mat.NewVecDense(n, x))
		q := mat.Dot(v, mat.NewVecDense(n, x))
		v.ScaleVec(-1, v)
		return -q / 2, nil
	}
}

// correlated is the covariance of a first-order autoregression with unequal scales.
func correlated(n int, rho float64) *mat.SymDense {
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range n {
			s.SetSym(i, j, math.Pow(rho, math.Abs(float64(i-j)))*float64(1+i)*float64(1+j))
		}
	}
	return s
}

func inverse(s *mat.SymDense) *mat.SymDense {
	var c mat.Cholesky
	if !c.Factorize(s) {
		panic("not positive definite")
	}
	var out mat.SymDense
	if err := c.InverseTo(&out); err != nil {
		panic(err)
	}
	return &out
}

// TestTransitionsLeaveTheTargetInvariant draws starts from the target itself: after
// any number of transitions with any fixed step and metric the law is the same.
func TestTransitionsLeaveTheTargetInvariant(t *testing.T) {
	covariance := correlated(3, 0.9)
	var factor mat.Cholesky
	factor.Factorize(covariance)
	var lower mat.TriDense
	factor.LTo(&lower)
	wrong := correlated(3, -0.3) // a metric far from the covariance
	for _, c := range []struct {
		name   string
		metric metric
		step   float64
	}{
		{"short steps", unitMetric(3), 0.3},
		{"long steps", unitMetric(3), 0.8},
		{"wrong dense metric", newDenseMetric(wrong), 0.25},
		{"right dense metric", newDenseMetric(covariance), 1.2},
	} {
		rng := seeded(7)
		h := &hamiltonian{density: normalDensity(inverse(covariance)), metric: c.metric}
		tree := newTree(h, 3, 8, rng)
		tree.step = c.step
		const n = 20000
		first, sum := make([]float64, n), make([]float64, n)
		at := newPoint(3)
		for i := range n {
			z := mat.NewVecDense(3, []float64{rng.Normal(), rng.Normal(), rng.Normal()})
			var x mat.VecDense
			x.MulVec(&lower, z)
			copy(at.x, x.RawVector().Data)
			h.evaluate(&at)
			for range 2 {
				tree.next(&at)
			}
			var v mat.VecDense
			if err := v.SolveVec(&lower, mat.NewVecDense(3, at.x)); err != nil {
				t.Fatal(err)
			}
			first[i], sum[i] = at.x[0], mat.Dot(&v, &v)
		}
		stattest.Require(t, c.name+", first coordinate", stattest.KolmogorovSmirnov(first, distuv.UnitNormal.CDF))
		stattest.Require(t, c.name+", squared length", stattest.KolmogorovSmirnov(sum, distuv.ChiSquared{K: 3}.CDF))
	}
}

// chainsOf runs four chains from dispersed starts.
func chainsOf(t *testing.T, density Density, size int, o Options) []*Chain {
	t.Helper()
	var chains []*Chain
	for c := range 4 {
		rng := seeded(uint64(c) + 100)
		start := make([]float64, size)
		for i := range start {
			start[i] = 4*rng.Uniform() - 2
		}
		chain, err := Sample(context.Background(), density, start, o, rng)
		if err != nil {
			t.Fatal(err)
		}
		chains = append(chains, chain)
	}
	return chains
}

// scalar is coordinate j of every chain.
func scalar(chains []*Chain, size, j int) [][]float64 {
	out := make([][]float64, len(chains))
	for c, chain := range chains {
		for i := j; i < len(chain.Draws); i += size {
			out[c] = append(out[c], chain.Draws[i])
		}
	}
	return out
}

// TestSampleFindsANormal compares means and variances with the truth in units of
// their Monte Carlo errors.
func TestSampleFindsANormal(t *testing.T) {
	const size = 10
	covariance := correlated(size, 0.95)
	for _, dense := range []bool{false, true} {
		chains := chainsOf(t, normalDensity(inverse(covariance)), size, Options{Dense: dense})
		for j := range size {
			draws := scalar(chains, size, j)
			d := Diagnose(draws)
			if !(d.RHat < 1.02) || d.BulkESS < 400 {
				t.Errorf("dense %v, coordinate %d: R-hat %.3f, ESS %.0f", dense, j, d.RHat, d.BulkESS)
			}
			mean, second := 0.0, 0.0
			for _, c := range draws {
				m, _ := moments(c)
				mean += m / 4
				for _, x := range c {
					second += x * x / float64(4*len(c))
				}
			}
			// The effective size for the second moment is at least a quarter of the bulk's here.
			v := covariance.At(j, j)
			stattest.Require(t, "mean", stattest.Normal(mean/math.Sqrt(v/d.BulkESS)))
			stattest.Require(t, "second moment", stattest.Normal((second/v-1)/math.Sqrt(2/(d.BulkESS/4))))
		}
		for _, c := range chains {
			if c.Divergences > 0 || c.Acceptance < 0.7 || c.Acceptance > 0.97 {
				t.Errorf("dense %v: %d divergences, acceptance %.2f", dense, c.Divergences, c.Acceptance)
			}
		}
	}
}

// TestDenseMetricShortensTrajectories: with the covariance known the trajectories
// need a few steps each, whatever the correlation.
func TestDenseMetricShortensTrajectories(t *testing.T) {
	const size = 20
	density := normalDensity(inverse(correlated(size, 0.99)))
	calls := map[bool]int{}
	for _, dense := range []bool{false, true} {
		for _, c := range chainsOf(t, density, size, Options{Dense: dense, Draws: 500}) {
			calls[dense] += c.Evaluations
		}
	}
	if calls[true]*2 > calls[false] {
		t.Errorf("%d evaluations with a dense metric, %d with a diagonal one", calls[true], calls[false])
	}
}

// TestDivergencesAreCounted uses Neal's funnel with a narrow neck.
func TestDivergencesAreCounted(t *testing.T) {
	funnel := func(gradient, x []float64) (float64, error) {
		v, precision := x[0], math.Exp(-x[0])
		gradient[0] = -v / 9
		value := -v * v / 18
		for i := 1; i < len(x); i++ {
			value += -x[i]*x[i]*precision/2 - v/2
			gradient[0] += x[i]*x[i]*precision/2 - 0.5
			gradient[i] = -x[i] * precision
		}
		return value, nil
	}
	divergences := 0
	for _, c := range chainsOf(t, funnel, 10, Options{}) {
		divergences += c.Divergences
	}
	if divergences == 0 {
		t.Error("no divergence in a funnel")
	}
}

func TestSampleStops(t *testing.T) {
	flat := func(gradient, x []float64) (float64, error) { return math.NaN(), nil }
	if _, err := Sample(context.Background(), flat, []float64{0}, Options{}, seeded(1)); !errors.Is(err, ErrNoStart) {
		t.Errorf("density NaN: error %v", err)
	}
	broken := errors.New("broken")
	calls := 0
	failing := func(gradient, x []float64) (float64, error) {
		calls++
		gradient[0] = -x[0]
		if calls > 50 {
			return 0, broken
		}
		return -x[0] * x[0] / 2, nil
	}
	if _, err := Sample(context.Background(), failing, []float64{0}, Options{}, seeded(1)); !errors.Is(err, broken) {
		t.Errorf("failing density: error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Sample(ctx, normalDensity(correlated(1, 0)), []float64{0}, Options{}, seeded(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// countedMetric counts products with the metric.
type countedMetric struct {
	metric
	products int
}

func (m *countedMetric) velocity(dst, momentum []float64) {
	m.products++
	m.metric.velocity(dst, momentum)
}

// TestOneProductPerStep: a leapfrog step multiplies by the metric once, a transition twice
// more. Velocities stay what their definition says.
func TestOneProductPerStep(t *testing.T) {
	covariance := correlated(3, 0.9)
	m := &countedMetric{metric: newDenseMetric(correlated(3, 0.5))}
	h := &hamiltonian{density: normalDensity(inverse(covariance)), metric: m}
	tree := newTree(h, 3, 10, seeded(3))
	tree.step = 0.1
	at, steps := newPoint(3), 0
	h.evaluate(&at)
	for range 50 {
		steps += tree.next(&at).leapfrogs
	}
	if m.products != steps+2*50 {
		t.Errorf("%d products in %d steps of 50 transitions", m.products, steps)
	}
	velocity := make([]float64, 3)
	m.metric.velocity(velocity, at.momentum)
	for j, v := range velocity {
		if math.Abs(v-at.velocity[j]) > 1e-10 {
			t.Errorf("velocity %v, want %v", at.velocity, velocity)
		}
	}
}

// TestNoAllocationPerTransition: a transition uses the memory of its tree.
func TestNoAllocationPerTransition(t *testing.T) {
	density := func(gradient, x []float64) (float64, error) {
		for i, v := range x {
			gradient[i] = -v
		}
		return -simd.Dot(x, x) / 2, nil
	}
	h := &hamiltonian{density: density, metric: unitMetric(5)}
	tree := newTree(h, 5, 10, seeded(3))
	tree.step = 0.1
	at := newPoint(5)
	h.evaluate(&at)
	if n := testing.AllocsPerRun(100, func() { tree.next(&at) }); n > 0 {
		t.Errorf("%v allocations per transition", n)
	}
}

// TestFunnelHasNoNormal: if the log density has no mode, chains start without a normal
// approximation.
func TestFunnelHasNoNormal(t *testing.T) {
	funnel := func(gradient, x []float64) (float64, error) {
		s := math.Exp(-2 * x[0])
		gradient[0], gradient[1] = x[1]*x[1]*s-1, -x[1]*s
		return -x[1]*x[1]*s/2 - x[0], nil
	}
	src := seeded(2)
	if l, err := newLaplace(&curvature{density: funnel, rng: src}, []float64{0.5, 1}); !errors.Is(err, errNoMode) {
		t.Errorf("a mode at %v (%v)", l, err)
	}
	skewed := func(gradient, x []float64) (float64, error) { // log of a gamma variable with shape 1
		gradient[0] = 1 - math.Exp(x[0])
		return x[0] - math.Exp(x[0]), nil
	}
	l, err := newLaplace(&curvature{density: skewed, rng: src}, []float64{3})
	if err != nil || math.Abs(l.mode[0]) > 0.05 || math.Abs(l.covariance.At(0, 0)-1) > 0.1 {
		t.Fatalf("%v (%v): want the mode 0 and the variance 1", l, err)
	}
}
