package optimizer

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every optimizer of the table: it climbs a concave quadratic, reports as gain
// the derivative of its step with the adaptive scales held fixed, and restores
// from its moments.
func TestOptimizers(t *testing.T) {
	for _, family := range Families() {
		t.Run(family.Name, func(t *testing.T) {
			opt := Options{}
			checkClimbs(t, family, opt)
			checkRestores(t, family, Options{Momentum: 0.5, WeightDecay: 0.01})
		})
	}
}

func checkClimbs(t *testing.T, family Family, opt Options) {
	t.Helper()
	o := family.New(2, opt)
	target, x, g, gain := []float64{1, -2}, []float64{0, 0}, make([]float64, 2), make([]float64, 1)
	for step := 1; step <= 20000; step++ {
		for j := range g {
			g[j] = 10 * (target[j] - x[j])
		}
		rate := family.Rate * (1 - float64(step)/20001)
		o.Update(Update{X: x, G: g, Gain: gain, T: step, Rate: rate}, 0, 2)
		if !(gain[0] > 0) {
			t.Fatalf("step %d: gain %v is not positive", step, gain[0])
		}
	}
	for j := range x {
		if math.Abs(x[j]-target[j]) > 1e-3 {
			t.Errorf("x[%d] = %v after 20000 steps, want %v", j, x[j], target[j])
		}
	}
}

func checkRestores(t *testing.T, family Family, opt Options) {
	t.Helper()
	a, b := family.New(2, opt), family.New(2, opt)
	x := []float64{0.3, -0.2}
	for step := 1; step <= 5; step++ {
		a.Update(Update{X: x, G: []float64{0.5, -float64(step)}, T: step, Rate: 0.1}, 0, 2)
	}
	for i, m := range a.Moments() {
		copy(b.Moments()[i], m)
	}
	y := append([]float64(nil), x...)
	a.Update(Update{X: x, G: []float64{1, 2}, T: 6, Rate: 0.1}, 0, 2)
	b.Update(Update{X: y, G: []float64{1, 2}, T: 6, Rate: 0.1}, 0, 2)
	for j := range x {
		if x[j] != y[j] {
			t.Errorf("restored optimizer goes to %v, original to %v", y, x)
		}
	}
}

// The first step of each optimizer, by hand: gradient (2), from x = 1.
func TestFirstStep(t *testing.T) {
	for name, want := range map[string]struct{ x, gain float64 }{
		"adam":           {1 + 0.1*2/(2+1e-8), 0.1 / (2 + 1e-8)},
		"adam_corrected": {1 + 0.1*2/(2+1e-8), 0.1 / (2 + 1e-8)}, // without noise it is Adam
		"adamw":          {1 - 0.1*0.01 + 0.1*2/(2+1e-8), 0.1 / (2 + 1e-8)},
		"adagrad":        {1 + 0.1*2/(2+1e-8), 0.1 / (2 + 1e-8)},
		"sgd":            {1 + 0.1*2, 0.1 / (1 - 0.5)},
	} {
		family, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		x, gain := []float64{1}, []float64{0}
		family.New(1, Options{Momentum: 0.5, WeightDecay: 0.01}).Update(Update{X: x, G: []float64{2}, Gain: gain, T: 1, Rate: 0.1}, 0, 1)
		if math.Abs(x[0]-want.x) > 1e-12 || math.Abs(gain[0]-want.gain) > 1e-12 {
			t.Errorf("%s: x %v gain %v, want %v %v", name, x[0], gain[0], want.x, want.gain)
		}
	}
	if _, err := Lookup("adamm"); err == nil {
		t.Error("unknown optimizer accepted")
	}
}

// Adam's steps along a gradient of 3 in noise of 4 have 3/5 of the rate; the corrected ones
// have all of it. Where the gradient is noise alone the gain is five times Adam's.
func TestAdamCorrected(t *testing.T) {
	const steps, noise, rate = 20000, 4, 0.1
	o, adam := newAdamCorrected(2), newAdam(2)
	x, gain, plain := make([]float64, 2), make([]float64, 2), make([]float64, 2)
	rng := rand.New(rand.NewPCG(1, 2))
	mean := [2][2]float64{} // of the gains of both, in the second half
	for step := 1; step <= steps; step++ {
		g := []float64{3 + noise*rng.NormFloat64(), noise * rng.NormFloat64()}
		o.Update(Update{X: x, G: g, Gain: gain, T: step, Rate: rate, NoiseSD: noise}, 0, 2)
		adam.Update(Update{X: x, G: g, Gain: plain, T: step, Rate: rate, NoiseSD: noise}, 0, 2)
		for j := range 2 {
			if step > steps/2 {
				mean[0][j] += gain[j] / (steps / 2)
				mean[1][j] += plain[j] / (steps / 2)
			}
		}
	}
	for i, want := range [2][2]float64{{rate / 3, rate * 5 / noise}, {rate / 5, rate / noise}} {
		for j := range want {
			if math.Abs(mean[i][j]/want[j]-1) > 0.1 {
				t.Errorf("optimizer %d: gain %d is %g, want %g", i, j, mean[i][j], want[j])
			}
		}
	}
}

func TestSchedules(t *testing.T) {
	for name, want := range map[string][3]float64{ // at t = 0, T/2, T−1 of T = 100
		"constant": {1, 1, 1},
		"cosine":   {1, 0.5, (1 + math.Cos(0.99*math.Pi)) / 2},
		"step":     {1, 0.1, 0.01},
	} {
		s, err := LookupSchedule(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range []int{0, 50, 99} {
			if got := s.Factor(at, 100); math.Abs(got-want[i]) > 1e-12 {
				t.Errorf("%s at %d: %v, want %v", name, at, got, want[i])
			}
		}
	}
}
