package accountant

import (
	"math"
	"math/cmplx"
	"testing"

	"d3p/internal/privacy/accountant/pairs"
	"d3p/internal/stattest"
)

// oracle is δ(ε) of T steps of one pair computed the long way: the contour
// integral of package contour with nothing adaptive, and with losses and densities
// written down here once more. It is slow, and proves nothing, but it has no
// grid of losses, no windows, no divisions and no Fourier transform.
type oracle struct {
	kind  pairs.Kind
	s, q  float64
	steps float64
	theta float64
	// P-mass cut off at the top and sent nowhere: only its T-fold counts
	cut float64
	// largest loss of a sum that is told from one a period smaller
	period float64
	group  int // records that neighbours differ in, if several
}

// weights[i] is the probability that i records of the group are in a batch.
func (o oracle) weights() []float64 {
	w := []float64{1}
	for range max(1, o.group) { // one record after the other
		next := make([]float64, len(w)+1)
		for i, p := range w {
			next[i] += p * (1 - o.q)
			next[i+1] += p * o.q
		}
		w = next
	}
	return w
}

// logDeltas is log δ at every ε.
func (o oracle) logDeltas(epsilons ...float64) []float64 {
	w := o.weights()
	logRatio := func(x float64) float64 {
		sum := 0.0
		for i, p := range w {
			sum += p * math.Expm1(float64(i)*(2*x-float64(i))/(2*o.s*o.s))
		}
		return math.Log1p(sum)
	}
	normal := func(x, mean float64) float64 {
		return math.Exp(-(x-mean)*(x-mean)/(2*o.s*o.s)) / (o.s * math.Sqrt(2*math.Pi))
	}
	mixture := func(x float64) (sum float64) {
		for i, p := range w {
			sum += p * normal(x, float64(i))
		}
		return sum
	}
	loss, density := logRatio, mixture // remove
	switch o.kind {
	case pairs.Add, pairs.GroupAdd:
		loss = func(x float64) float64 { return -logRatio(-x) }
		density = func(x float64) float64 { return normal(x, 0) }
	case pairs.Substitute:
		loss = func(x float64) float64 { return logRatio(x) - logRatio(-x) }
	}
	top := 0.0
	for math.Erfc(top/math.Sqrt2) > 2*o.cut {
		top += 0.01
	}
	lo, hi := -12*o.s-float64(len(w)-1), top*o.s
	dx := math.Min(o.s, o.s*o.s) / 60
	var losses, masses []float64
	k0, mean := 0.0, 0.0
	for x := lo; x < hi; x += dx {
		losses, masses = append(losses, loss(x)), append(masses, density(x)*dx)
	}
	for i, l := range losses {
		k0 += masses[i] * math.Expm1(o.theta*l)
		mean += masses[i] * l * math.Exp(o.theta*l)
	}
	mean /= 1 + k0
	logM := o.steps * math.Log1p(k0)
	dt := 2 * math.Pi / o.period
	sums := make([]complex128, len(epsilons))
	sin, cos := make([]float64, len(losses)), make([]float64, len(losses))
	for i := range losses {
		masses[i] *= math.Exp(o.theta*losses[i]) / (1 + k0)
		losses[i] -= mean
	}
	for n := range 200000 {
		t := float64(n) * dt
		re, im := 0.0, 0.0
		for i, l := range losses {
			sin[i], cos[i] = math.Sincos(t * l / 2)
			re -= 2 * masses[i] * sin[i] * sin[i]
			im += 2 * masses[i] * sin[i] * cos[i]
		}
		logAbs := o.steps * math.Log(cmplx.Abs(complex(1+re, im)))
		if math.Abs(re) < 0.5 {
			logAbs = o.steps * 0.5 * math.Log1p(2*re+re*re+im*im)
		}
		arg := o.steps * (math.Atan2(im, 1+re) + t*mean)
		z := complex(o.theta, t)
		term := cmplx.Rect(math.Exp(logAbs), arg) / (z * (1 + z))
		if n == 0 {
			term /= 2
		}
		for i, e := range epsilons {
			sums[i] += term * cmplx.Rect(1, -e*t)
		}
		if n > 10 && cmplx.Abs(term)*o.theta*(1+o.theta) < 1e-17 {
			break
		}
	}
	out := make([]float64, len(epsilons))
	for i, e := range epsilons {
		out[i] = logM - e*o.theta + math.Log(real(sums[i])*dt/math.Pi)
	}
	return out
}

// Where one rare loss decides, δ is T times that of one step.
func TestOneInclusionDecides(t *testing.T) {
	t.Parallel()
	const steps, delta = 1000, 1e-15
	key := pairs.Key{Kind: pairs.Remove, S: 0.3, Q: 1e-8}
	d := &direction{}
	d.merge(key, steps)
	got, err := d.epsilon(delta, certifyWidth)
	if err != nil {
		t.Fatal(err)
	}
	p := key.Build()
	if steps*pairs.SingleDelta(p, got.Lower) < delta*(1-1e-5) || steps*pairs.SingleDelta(p, got.Upper) > delta*(1+1e-5) || got.Upper-got.Lower > 1e-4*got.Upper {
		t.Errorf("%+v: delta of one step is %v to %v", got, pairs.SingleDelta(p, got.Lower), pairs.SingleDelta(p, got.Upper))
	}
}

// Where few, rare losses decide, and at the ends of the range, the brackets are
// as narrow as elsewhere, and the oracle finds δ between their ends. Each run
// has the tilt, the cut and the period that the oracle can compute it with.
func TestAwkwardRunsAgainstTheOracle(t *testing.T) {
	stattest.SkipNumerics(t)
	for name, c := range map[string]struct {
		oracle
		delta float64
	}{
		"three scales":          {oracle{pairs.Remove, 0.66, 1.2e-9, 980000, 9000, 1e-24, 0.004, 0}, 1.1e-13},
		"substitution":          {oracle{pairs.Substitute, 0.64, 1.5e-8, 140000, 600, 1e-23, 0.08, 0}, 1.1e-13},
		"few inclusions":        {oracle{pairs.Remove, 0.81, 1.9e-5, 5200, 30, 1e-23, 4, 0}, 6.1e-13},
		"many steps":            {oracle{pairs.Remove, 5, 1e-4, 1e8, 10, 1e-24, 4, 0}, 1e-8},
		"much noise":            {oracle{pairs.Remove, 500, 0.01, 1e5, 500, 1e-24, 0.2, 0}, 1e-10},
		"adding":                {oracle{pairs.Add, 1, 0.3, 1000, 1, 1e-24, 200, 0}, 1e-12},
		"substitution, usually": {oracle{pairs.Substitute, 2, 0.05, 3000, 2.3, 1e-22, 60, 0}, 1e-9},
		"a group leaves":        {oracle{pairs.GroupRemove, 5, 0.01, 1000, 8, 1e-22, 30, 4}, 1e-6},
		"a group comes":         {oracle{pairs.GroupAdd, 1, 0.3, 100, 0.5, 1e-22, 400, 3}, 1e-9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &direction{name: name}
			d.merge(pairs.Key{Kind: c.kind, S: c.s, Q: c.q, N: c.group}, int64(c.steps))
			got, err := d.epsilon(c.delta, certifyWidth)
			if err != nil {
				t.Fatal(err)
			}
			if w := got.Upper - got.Lower; w > 1e-4*got.Upper {
				t.Errorf("wide: %+v", got)
			}
			const slack = 3e-5 // of the oracle, in log δ
			logDelta := c.logDeltas(got.Lower, got.Upper)
			if want := math.Log(c.delta); !(logDelta[0] > want-slack) || !(logDelta[1] < want+slack) {
				t.Errorf("%+v: log delta is %v and %v at its ends, not around %v", got, logDelta[0], logDelta[1], want)
			}
		})
	}
}
