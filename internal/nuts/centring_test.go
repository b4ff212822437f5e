package nuts

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/stattest"
)

// effects is a normal model of groups: θ₀ is the log of the standard deviation of effects,
// with the prior half-normal(1), and y_g ~ N(r_g, v_g) with r_g ~ N(0, e^(2θ₀)). θ_g is r_g
// if centred, else r_g/e^θ₀.
type effects struct {
	y, v    []float64
	centred bool
}

func (e effects) density(gradient, theta []float64) (float64, error) {
	s := theta[0]
	sd2 := math.Exp(2 * s)
	value := s - sd2/2
	gradient[0] = 1 - sd2
	for g, y := range e.y {
		x := theta[1+g]
		if e.centred {
			value += -x*x/sd2/2 - s - (y-x)*(y-x)/e.v[g]/2
			gradient[0] += x*x/sd2 - 1
			gradient[1+g] = -x/sd2 + (y-x)/e.v[g]
			continue
		}
		sd := math.Exp(s)
		rest := y - sd*x
		value += -x*x/2 - rest*rest/e.v[g]/2
		gradient[0] += rest * sd * x / e.v[g]
		gradient[1+g] = -x + rest*sd/e.v[g]
	}
	return value, nil
}

// marginal is the mean and the standard deviation of θ₀, by quadrature.
func (e effects) marginal() (mean, sd float64) {
	var sums [3]float64
	for s := -12.0; s < 4; s += 1e-3 {
		l := s - math.Exp(2*s)/2
		for g, y := range e.y {
			v := e.v[g] + math.Exp(2*s)
			l -= y*y/v/2 + math.Log(v)/2
		}
		for k := range sums {
			sums[k] += math.Exp(l) * math.Pow(s, float64(k))
		}
	}
	mean = sums[1] / sums[0]
	return mean, math.Sqrt(sums[2]/sums[0] - mean*mean)
}

// someEffects have groups with much and with little information, of which a centred model
// has more.
func someEffects(groups int, centred bool) effects {
	rng := seeded(8)
	e := effects{centred: centred}
	for g := range groups {
		v := []float64{0.003, 0.1, 3}[g%3]
		if centred {
			v = []float64{0.1, 2, 5}[g%3]
		}
		e.v = append(e.v, v)
		e.y = append(e.y, 0.6*rng.Normal()+math.Sqrt(v)*rng.Normal())
	}
	return e
}

// TestCentringIsAChangeOfVariables: the density of w is that of θ times |dθ/dw|, with its
// gradient, by finite differences.
func TestCentringIsAChangeOfVariables(t *testing.T) {
	const groups, h = 6, 1e-5
	rng := seeded(3)
	for _, centred := range []bool{false, true} {
		e := someEffects(groups, centred)
		theta, width := make([]float64, groups+1), make([]float64, groups+1)
		for j := range theta {
			theta[j], width[j] = 0.5*rng.Normal(), 1e-3
		}
		c := &curvature{density: e.density, rng: rng}
		hessian, err := c.at(theta, width)
		if err != nil {
			t.Fatal(err)
		}
		change, err := newCentring(c, theta, width, hessian, []int{0})
		if err != nil || change == nil {
			t.Fatal("no centring", err)
		}
		w, gradient, scratch := make([]float64, groups+1), make([]float64, groups+1), make([]float64, groups+1)
		for j := range w {
			w[j] = theta[j] + rng.Normal()
		}
		value, _ := change.in(gradient, w)
		jacobian := mat.NewDense(groups+1, groups+1, nil)
		for j := range w {
			var side [2]float64
			for i := range side {
				moved := append([]float64(nil), w...)
				moved[j] += h * float64(2*i-1)
				side[i], _ = change.in(scratch, moved)
				for k, x := range change.theta {
					jacobian.Set(k, j, jacobian.At(k, j)+x*float64(2*i-1)/(2*h))
				}
			}
			if got := (side[1] - side[0]) / (2 * h); math.Abs(got-gradient[j]) > 1e-4*(1+math.Abs(got)) {
				t.Errorf("centred %v: derivative %d is %g, the difference %g", centred, j, gradient[j], got)
			}
		}
		change.toTheta(w)
		plain, _ := e.density(scratch, change.theta)
		logDet, _ := mat.LogDet(jacobian)
		if math.Abs(value-plain-logDet) > 1e-6 {
			t.Errorf("centred %v: log density %g, want %g", centred, value, plain+logDet)
		}
	}
}

// TestCentringShortensTrajectories: whichever way a model writes the effects, draws are
// cheap and nearly independent, and have the marginal posterior of the scale.
func TestCentringShortensTrajectories(t *testing.T) {
	const groups = 30
	for _, centred := range []bool{false, true} {
		e := someEffects(groups, centred)
		near := func(start []float64) {
			for j := range start {
				start[j] = 0
			}
		}
		var calls [2]int
		for i, scales := range [][]int{nil, {0}} {
			chain, err := SampleNear(context.Background(), e.density, groups+1, near, Options{Dense: true, Scales: scales, Draws: 4000}, seeded(5))
			if err != nil {
				t.Fatal(err)
			}
			calls[i] = chain.Evaluations
			if scales == nil {
				continue
			}
			draws := scalar([]*Chain{chain}, groups+1, 0)
			mean, sd := e.marginal()
			size := Diagnose(draws).BulkESS
			if size < 2000 {
				t.Errorf("centred %v: %.0f effective draws of 4000", centred, size)
			}
			m, _ := moments(draws[0])
			stattest.Require(t, "mean of the log scale", stattest.Normal((m-mean)/sd*math.Sqrt(size)))
		}
		if calls[1]*2 > calls[0] {
			t.Errorf("centred %v: %d evaluations, %d without a centring", centred, calls[1], calls[0])
		}
	}
}

// TestCurvatureOfBlocks: an arrow needs two differences, and a pattern that no longer holds
// is found.
func TestCurvatureOfBlocks(t *testing.T) {
	const size = 20
	calls, coupled := 0, false
	density := func(gradient, x []float64) (float64, error) {
		calls++
		gradient[0] = -x[0]
		for j := 1; j < size; j++ {
			gradient[0] -= 0.1 * x[j]
			gradient[j] = -float64(j)*x[j] - 0.1*x[0]
		}
		if coupled {
			gradient[3] -= 2 * x[7]
			gradient[7] -= 2 * x[3]
		}
		return 0, nil
	}
	c := &curvature{density: density, rng: seeded(1)}
	x, width := make([]float64, size), make([]float64, size)
	for j := range x {
		x[j], width[j] = float64(j)/7, 0.1
	}
	for _, step := range []struct {
		name    string
		coupled bool
		calls   int
	}{
		{"first", false, 2 * size}, {"second", false, 2*2 + 4}, {"coupled", true, 2*2 + 4 + 2*size}, {"coupled again", true, 2*3 + 4},
	} {
		coupled, calls = step.coupled, 0
		h, err := c.at(x, width)
		if err != nil {
			t.Fatal(err)
		}
		if calls != step.calls {
			t.Errorf("%s: %d gradients, want %d", step.name, calls, step.calls)
		}
		for j := range size {
			for k := range size {
				want := 0.0
				switch {
				case j == k:
					want = float64(max(1, j))
				case j*k == 0:
					want = 0.1
				case coupled && (j == 3 && k == 7 || j == 7 && k == 3):
					want = 2
				}
				if math.Abs(h.At(j, k)-want) > 1e-9 {
					t.Errorf("%s: entry %d, %d is %g, want %g", step.name, j, k, h.At(j, k), want)
				}
			}
		}
	}
}

// TestCentringAtTheStart: the joint mode of many effects that are not centred is where their scale is large. A
// centring there makes trajectories of 200 steps, one at a start near the posterior of 7.
func TestCentringAtTheStart(t *testing.T) {
	const groups, v = 100, 0.01
	e, rng := effects{}, seeded(8)
	for range groups {
		e.v = append(e.v, v)
		e.y = append(e.y, 0.1*rng.Normal()+math.Sqrt(v)*rng.Normal())
	}
	near := func(start []float64) {
		clear(start)
		start[0] = -2
	}
	chain, err := SampleNear(context.Background(), e.density, groups+1, near, Options{Dense: true, Scales: []int{0}, Warmup: 150, Draws: 100}, seeded(5))
	if err != nil {
		t.Fatal(err)
	}
	if chain.Evaluations > 10_000 || chain.Divergences > 0 {
		t.Errorf("%d evaluations, %d divergences", chain.Evaluations, chain.Divergences)
	}
}
