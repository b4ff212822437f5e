package law

import (
	"math"
	"testing"
)

// Means within 40 levels that are noise alone say little of a column, also in drawn laws; means
// that differ stay.
func TestNoiseBetweenLevels(t *testing.T) {
	const laws = 200
	for _, c := range []struct {
		levels            int
		noise             float64
		true, least, most float64
	}{{40, 1, 0, 0, 0.25}, {40, 1, 0.8, 0.5, 1.1}, {2, 0.05, 0.25, 0.2, 0.3}} {
		share := make([]float64, c.levels)
		for i := range share {
			share[i] = 1 / float64(c.levels)
		}
		rng, explained := source1(), 0.0
		for range laws {
			w := Within{Mean: make([]float64, c.levels), SD: make([]float64, c.levels)}
			for i := range c.levels {
				w.Mean[i], w.SD[i] = math.Sqrt(c.true+c.noise*c.noise)*rng.Normal(), c.noise
			}
			drawn := w.drawn(share, rng)
			for _, mean := range drawn.shrunk(share) {
				explained += mean * mean / (float64(c.levels) * laws)
			}
		}
		// The mean of 200 laws has a standard deviation below .03. With noise added to the bought
		// means, levels seem to explain .5 of the variance where they explain nothing.
		if explained < c.least || explained > c.most {
			t.Errorf("levels that explain %g of the variance explain %.2f in drawn laws", c.true, explained)
		}
	}
}
