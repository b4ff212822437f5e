package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/sufficient"
)

// Simulated rows get the means and covariances that were bought.
func TestRowsMatchTheMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var rows []float64
	for range 5000 {
		rows = append(rows, 1, rng.NormFloat64(), rng.NormFloat64())
	}
	// n = 100: means .2 and -.1, second moments .5, 2 and 0.4
	m := &sufficient.Moments{P: 3, Noise: 1, Records: 100, Values: []float64{100, 20, -10, 0, 50, 40, 0, 200, 0, 0}}
	match(rows, m)
	for i := range 3 {
		for j := range i + 1 {
			sum := 0.0
			for r := range 5000 {
				sum += rows[3*r+i] * rows[3*r+j] / 5000
			}
			if want := m.At(i, j) / 100; math.Abs(sum-want) > 1e-9 {
				t.Errorf("moment %d, %d is %g, want %g", i, j, sum, want)
			}
		}
	}
}
