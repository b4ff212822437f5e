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
func (s AdamStep) Adam(x, grad, first, second, gain []float64) {
	n := len(x)
	active.adam(x, grad[:n], first[:n], second[:n], gain[:n],
		s.Beta1, 1-s.Beta1, s.Beta2, 1-s.Beta2, 1/s.Correct1, 1/s.Correct2, s.Epsilon, s.Rate)
}

// adam has the reciprocals of Correct1 and Correct2: a division takes as long as
// ten products.
func adam(x, grad, first, second, gain []float64, beta1, rest1, beta2, rest2, unbias1, unbias2, epsilon, rate float64) {
	for j, g := range grad {
		m := float64(beta1*first[j]) + float64(rest1*g)
		v := float64(beta2*second[j]) + float64(float64(rest2*g)*g)
		first[j], second[j] = m, v
		a := rate / (math.Sqrt(float64(v*unbias2)) + epsilon)
		gain[j] = a
		x[j] += float64(float64(a*m) * unbias1)
	}
}
