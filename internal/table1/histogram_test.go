package table1

import "testing"

// A cell far out stands where it holds more than noise explains, next to others or
// alone, and noise alone does not make a column wide: cells hold shares of which .06 are
// three standard deviations.
func TestBodyOfAHistogram(t *testing.T) {
	normal := []float64{0, 0, 0, 0.2, 0.6, 0.2, 0, 0, 0}
	const limit = 0.06
	for name, c := range map[string]struct {
		shares      []float64
		first, last int
	}{
		"noise at the end":      {[]float64{0.07, 0, 0, 0.2, 0.53, 0.2, 0, 0, 0}, 3, 6},
		"a tail":                {[]float64{0, 0, 0, 0.2, 0.4, 0.2, 0.1, 0.07, 0.03}, 3, 8},
		"records far out":       {[]float64{0.15, 0, 0, 0.2, 0.45, 0.2, 0, 0, 0}, 0, 6},
		"noise behind an empty": {[]float64{0, 0, 0, 0.2, 0.6, 0.1, 0, 0.07, 0.03}, 3, 6},
	} {
		if first, last := body(c.shares, normal, limit); first != c.first || last != c.last {
			t.Errorf("%s: cells %d to %d, want %d to %d", name, first, last, c.first, c.last)
		}
	}
}
