package simd

import "math"

// AdamStep are the constants of one step of Adam.
type AdamStep struct {
	Beta1, Beta2       float64 // decay of the running means of g and g²
	Correct1, Correct2 float64 // 1 - Betaᵗ
	Epsilon, Rate      float64
}

// Adam adds a step to x and updates the running means first and second:
// x += gain·first/Correct1 with gain = Rate/(√(second/Correct2) + Epsilon).
// Kingma & Ba 2015, arXiv:1412.6980, algorithm 1.
func (s AdamStep) Adam(x, grad, first, second []float64) {
	n := len(x)
	active.adam(x, grad[:n], first[:n], second[:n],
		s.Beta1, 1-s.Beta1, s.Beta2, 1-s.Beta2, 1/s.Correct1, 1/s.Correct2, s.Epsilon, s.Rate)
}

// AdamGain is Adam, and sets gain.
func (s AdamStep) AdamGain(x, grad, first, second, gain []float64) {
	n := len(x)
	active.adamGain(x, grad[:n], first[:n], second[:n], gain[:n],
		s.Beta1, 1-s.Beta1, s.Beta2, 1-s.Beta2, 1/s.Correct1, 1/s.Correct2, s.Epsilon, s.Rate)
}

// adam has the reciprocals of Correct1 and Correct2: a division takes as long as
// ten products.
func adam(x, grad, first, second []float64, beta1, rest1, beta2, rest2, unbias1, unbias2, epsilon, rate float64) {
	for j := range x {
		adamOne(&x[j], grad[j], &first[j], &second[j], beta1, rest1, beta2, rest2, unbias1, unbias2, epsilon, rate)
	}
}

func adamGain(x, grad, first, second, gain []float64, beta1, rest1, beta2, rest2, unbias1, unbias2, epsilon, rate float64) {
	for j := range x {
		gain[j] = adamOne(&x[j], grad[j], &first[j], &second[j], beta1, rest1, beta2, rest2, unbias1, unbias2, epsilon, rate)
	}
}

// root is √x to within an ulp for x that is 0 or a normal number, and for smaller ones
// less than 2^-510. Three steps of Newton's method for 1/√x and one for √x take half the
// time of the instruction, which also delays divisions.
func root(x float64) float64 {
	y := math.Float64frombits(rootGuess - math.Float64bits(x)>>1)
	half := 0.5 * x
	for range 3 {
		y = math.FMA(y, math.FMA(-float64(half*y), y, 0.5), y)
	}
	s := float64(x * y)
	return math.FMA(float64(0.5*y), math.FMA(-s, s, x), s)
}

func adamOne(x *float64, g float64, first, second *float64, beta1, rest1, beta2, rest2, unbias1, unbias2, epsilon, rate float64) (gain float64) {
	m := float64(beta1**first) + float64(rest1*g)
	v := float64(beta2**second) + float64(float64(rest2*g)*g)
	*first, *second = m, v
	gain = rate / (root(float64(v*unbias2)) + epsilon)
	*x += float64(float64(gain*m) * unbias1)
	return gain
}
