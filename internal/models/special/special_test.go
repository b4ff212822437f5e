package special

import (
	"math"
	"testing"
)

// Values of mpmath 1.3 at 40 digits.
func TestSpecialFunctions(t *testing.T) {
	for _, v := range []struct{ x, digamma, trigamma float64 }{
		{1e-8, -100000000.57721564845, 10000000000000001.645},
		{0.001, -1000.5755719318103005, 1000001.642533195869},
		{0.5, -1.9635100260214234794, 4.9348022005446793094},
		{1, -0.57721566490153286061, 1.6449340668482264365},
		{1.4616321449683623, -3.9928730412463043992e-17, 0.96767224544762120697},
		{2.5, 0.70315664064524318723, 0.49035775610023486497},
		{10, 2.2517525890667211076, 0.10516633568168574612},
		{1234.5, 7.1180162318279978433, 0.0008103727271269666527},
		{1e10, 23.02585092989045684, 1.00000000005e-10},
		{-0.5, 0.036489973978576520559, 8.9348022005446793094},
		{-3.7, -0.84507685887041671807, 14.842421864124267711},
	} {
		near(t, "digamma", v.x, Digamma(v.x), v.digamma, 2e-14)
		near(t, "trigamma", v.x, Trigamma(v.x), v.trigamma, 2e-14)
	}
	for x, want := range map[float64]float64{
		-100: -5005.5242086942050886, -40: -804.60844201375378817, -37.5: -707.66898931750719107,
		-30.5: -469.46273732291211439, -29.5: -439.42947460915022775, -10: -53.231285150512470578,
		-1: -1.8410216450092635058, 0: -0.69314718055994530942, 1: -0.17275377902344988953,
		5: -2.8665161296376359338e-7, 9: -1.1285884059538406478e-19,
	} {
		got := LogNormalCDF(x)
		if !(math.Abs(got-want) <= 1e-13*math.Abs(want)) {
			t.Errorf("logNormalCDF(%v) = %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{0, -1, -7, math.NaN()} {
		if !math.IsNaN(Digamma(x)) || !math.IsNaN(Trigamma(x)) {
			t.Errorf("digamma, trigamma(%v) = %v, %v, want NaN", x, Digamma(x), Trigamma(x))
		}
	}
}

// near allows an error relative to max(1, |want|).
func near(t *testing.T, what string, x, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
		t.Errorf("%s(%v) = %v, want %v", what, x, got, want)
	}
}
