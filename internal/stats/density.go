package stats

import (
	"math"
	"slices"
)

// Density estimates the density of x at n points `at` from one end to the other, with a
// Gaussian kernel of Silverman's width, reflected at the bounds lower and upper: no mass
// lies beyond them. A thousand draws are enough for a line.
func Density(x []float64, lower, upper, from, to float64, n int) (at, density []float64) {
	x = x[:min(len(x), 1000)]
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	m := float64(len(x))
	spread := (sorted[int(0.75*(m-1))] - sorted[int(0.25*(m-1))]) / 1.349
	width := 1.06 * spread * math.Pow(m, -0.2)
	at, density = make([]float64, n), make([]float64, n)
	for i := range at {
		at[i] = from + (to-from)*float64(i)/float64(n-1)
		if !(width > 0) || at[i] < lower || at[i] > upper {
			continue
		}
		for _, xi := range x {
			for _, center := range [...]float64{xi, 2*lower - xi, 2*upper - xi} {
				if z := (at[i] - center) / width; math.Abs(z) < 6 {
					density[i] += math.Exp(-z * z / 2)
				}
			}
		}
		density[i] /= m * width * math.Sqrt(2*math.Pi)
	}
	return at, density
}
