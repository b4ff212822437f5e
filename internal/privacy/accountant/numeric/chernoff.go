package numeric

import "math"

// SafeExponent is the largest exponent for which the form with expm1 is used. Beyond it the
// tail dominates, and a shifted sum of exponentials is as precise.
const SafeExponent = 30

// LogHockeyStick is log max_u e^{-θu}(1-e^{-u}) = θ log θ - (1+θ) log(1+θ).
func LogHockeyStick(theta float64) float64 {
	return -math.Log1p(theta) - theta*math.Log1p(1/theta)
}

// Window has the distances below and above the mean within which the tilted sum has all but
// eta of its mass, by Chernoff's bound, and the tilts λ that prove it.
type Window struct{ Below, Above, LambdaBelow, LambdaAbove float64 }

// The tried range of λ, in units of 1/sd. If a few rare losses make the window, it is far
// below 1.
const (
	leastLambda   = 1e-6
	LargestLambda = 110
)

// LeastWidth walks to the λ with the least width, in units of 1/sd, starting from the best
// one for a normal distribution.
func LeastWidth(sd, logEta float64, width func(lambda float64) float64) (least, lambda float64) {
	const step = 1.45
	start := math.Sqrt(-2*logEta) / sd
	least, lambda = width(start), start
	if math.IsNaN(least) {
		least = math.Inf(1)
	}
	for _, factor := range []float64{1 / step, step} {
		for l := start * factor; l > leastLambda/sd && l < LargestLambda/sd; l *= factor {
			w := width(l)
			if !(w < least) && !math.IsInf(least, 1) {
				break
			}
			if w < least {
				least, lambda = w, l
			}
		}
	}
	return least, lambda
}

// Tiniest replaces the modulus of a coefficient that is computed as 0.
const Tiniest = 1e-250

// LogAbs1p is log|1+z|, modulus being |1+z|: relatively precise for small z, and for
// 1+z near 0 as precise as that is, which its square would not be.
func LogAbs1p(re, im, modulus float64) float64 {
	if re < -0.5 {
		return math.Log(math.Max(modulus, Tiniest))
	}
	return 0.5 * math.Log1p(2*re+re*re+im*im)
}
