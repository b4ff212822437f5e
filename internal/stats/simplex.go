package stats

import (
	"math"
	"slices"
)

// Simplex are the numbers nearest to x in L2 that are not negative and add up to total (Held,
// Wolfe and Crowder 1974).
func Simplex(x []float64, total float64) []float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	sum, shift := 0.0, math.Inf(-1)
	for i, y := range sorted {
		sum += y
		if s := (total - sum) / float64(i+1); y+s > 0 {
			shift = s
		}
	}
	for i, y := range x {
		sorted[i] = max(0, y+shift)
	}
	return sorted
}
