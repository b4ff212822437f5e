package posterior

import (
	"math"
	"testing"

	"d3p/internal/privacy/noise"
)

// Without noise the posterior of a normal model is the exact one.
func TestMeasurementWithoutNoise(t *testing.T) {
	mean, variance := measurement{h: 8, slope: 12, sampling: 1, lambda: 2, prior: -1}.posterior()
	if math.Abs(mean-1.1) > 1e-12 || math.Abs(variance-0.1) > 1e-12 {
		t.Errorf("mean %g, variance %g, want 1.1, 0.1", mean, variance)
	}
}

// With noise the gradient has information κh instead of h, κ = h/(h + noise).
func TestMeasurementWithNoise(t *testing.T) {
	for _, noise := range []float64{0.5, 8, 80} {
		kappa := 8 / (8 + noise)
		wantVariance := 1 / (2 + kappa*8)
		mean, variance := measurement{h: 8, slope: 12, noise: noise, sampling: 1, lambda: 2, prior: -1}.posterior()
		if want := (kappa*12 - 1) * wantVariance; math.Abs(mean-want) > 1e-12 || math.Abs(variance-wantVariance) > 1e-12 {
			t.Errorf("noise %g: mean %g, variance %g, want %g, %g", noise, mean, variance, want, wantVariance)
		}
	}
}

// Intervals hold even for a badly known curvature. θ ~ N(0, 1), the
// records put the likelihood's mode at N(θ, 1/h), its gradient at 0 is released
// with noise, and h is known to ±30 to 60 %. Of 4000 intervals of 90 % between
// 3440 and 3760 must contain θ, 86 to 94 %: four points are 8 standard errors.
// Taking h as known holds 80 to 85 % of them.
func TestIntervalsUnderUnknownCurvature(t *testing.T) {
	const runs, h, gradientNoise = 4000, 40.0, 160.0
	rng := noise.Insecure(3).Stream(noise.Initialisation)
	for _, relative := range []float64{0.3, 0.6} {
		covered, taken := 0, 0
		for range runs {
			z := make([]float64, 4)
			rng.Normals(z)
			theta := z[0]
			mode := theta + z[1]/math.Sqrt(h)
			m := measurement{
				h: math.Max(0, h*(1+relative*z[2])), v: h * h * relative * relative,
				slope: h*mode + math.Sqrt(gradientNoise)*z[3], noise: gradientNoise, sampling: 1, lambda: 1,
			}
			if mean, variance := m.posterior(); math.Abs(theta-mean) <= 1.6449*math.Sqrt(variance) {
				covered++
			}
			m.v = 0
			if mean, variance := m.posterior(); math.Abs(theta-mean) <= 1.6449*math.Sqrt(variance) {
				taken++
			}
		}
		t.Logf("curvature to ±%g: %d of %d intervals hold, %d if it is taken as known", relative, covered, runs, taken)
		if covered < 3440 || covered > 3760 {
			t.Errorf("curvature to ±%g: %d of %d intervals hold, want 3600", relative, covered, runs)
		}
		if taken >= covered-80 {
			t.Errorf("curvature to ±%g: %d hold when it is taken as known; the average is not needed", relative, taken)
		}
	}
}
