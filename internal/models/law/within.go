package law

import (
	"math"
	"slices"

	"d3p/internal/models/dist"
)

// Within are the means of a column's normal score among the records of each level of a
// coded column.
type Within struct {
	Column   int       `json:"column"`
	Category int       `json:"category"`
	Mean     []float64 `json:"mean"` // by level
	SD       []float64 `json:"sd"`   // of their noise
	// Rest is the standard deviation of the score among the records of one level, RestSD what is not
	// known of it: of Groups, where the column is not declared constant within the category.
	Rest   float64 `json:"rest,omitempty"`
	RestSD float64 `json:"rest_sd,omitempty"`
}

// between is what noise does not explain of the squares of the means: the variance between levels
// with these shares (DerSimonian and Laird 1986, doi:10.1016/0197-2456(86)90046-2), negative for less
// than noise. noise is the mean variance of the noise, levels the number of levels that count.
func (w *Within) between(share []float64) (variance, noise, levels float64) {
	weights, squares := 0.0, 0.0
	for level, mean := range w.Mean {
		if sd := w.SD[level]; sd > 0 {
			weight := share[level] / (sd * sd)
			variance, noise = variance+weight*(mean*mean-sd*sd), noise+weight*sd*sd
			weights, squares = weights+weight, squares+weight*weight
		}
	}
	if weights == 0 {
		return 0, 0, 1
	}
	return variance / weights, noise / weights, weights * weights / squares
}

// shrunk are the means drawn towards 0 as far as their noise explains them, between levels with
// these shares.
func (w *Within) shrunk(share []float64) []float64 {
	variance, _, _ := w.between(share)
	out := slices.Clone(w.Mean)
	for level, sd := range w.SD {
		if sd > 0 {
			between := max(0, variance)
			out[level] = min(max(out[level]*between/(between+sd*sd), -mostShift), mostShift)
		}
	}
	return out
}

// drawn are means that may be the truth behind w, which have no noise: normal with the mean and the
// variance that a variance between levels leaves. It is drawn, too: variance and noise together are
// inverse chi-squared. The bought means with their noise once more would have twice the noise.
func (w Within) drawn(share []float64, rng dist.Rand) Within {
	variance, noise, levels := w.between(share)
	cube := 2 / (9 * levels) // of chi-squared by its degrees of freedom (Wilson and Hilferty 1931)
	part := math.Pow(max(1-cube+math.Sqrt(cube)*rng.Normal(), 0.1), 3)
	between := max(0, (variance+noise)/part-noise)
	means := slices.Clone(w.Mean)
	for level, own := range w.SD {
		z := rng.Normal()
		if own > 0 {
			known := between / (between + own*own)
			means[level] = min(max(known*means[level]+math.Sqrt(known)*own*z, -mostShift), mostShift)
		}
	}
	w.Mean, w.SD = means, make([]float64, len(means))
	return w
}

// mostShift bounds the mean score of a level.
const mostShift = 3
