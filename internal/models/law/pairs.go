package law

import (
	"math"

	"d3p/internal/models/dist"
)

// emptyCells is how probable it is, before the purchase, that no record has two levels together: husbands
// are married, and most combinations of two columns that tell nearly the same are empty. Other shares are
// exponential, with the mean of independent columns. Of Adult (ε = 1, eight fits) .05 to .7 gave intervals
// like these, with the largest error 2.7 standard deviations; noise that was added once more, which gives
// records to every empty combination, one of 5.8, and 0 the same.
const emptyCells = 0.1

// drawn are shares (k of the second column) that may be the truth behind p, given those of its columns.
func (p *Pair) drawn(first, second []float64, rng dist.Rand) (shares []float64) {
	for i, a := range first {
		for j, b := range second {
			shares = append(shares, drawnCell(p.Shares[i*len(second)+j], p.SD, a*b, rng))
		}
	}
	return shares
}

// drawnCell draws a share that was counted as x with noise of standard deviation sd, and that has this mean
// unless it is 0.
func drawnCell(x, sd, mean float64, rng dist.Rand) float64 {
	u, v := rng.Uniform(), rng.Uniform()
	if mean < sd/4 { // the count tells nothing
		if u < emptyCells {
			return 0
		}
		return -mean * math.Log(1-v)
	}
	center := x - sd*sd/mean // of the normal that the count makes of the exponential, cut at 0
	full := cumulative(center / sd)
	ofFull := (1 - emptyCells) / mean * math.Exp(sd*sd/(2*mean*mean)-x/mean) * full
	ofEmpty := emptyCells / sd * math.Exp(-x*x/(2*sd*sd)) / math.Sqrt(2*math.Pi)
	if u*(ofFull+ofEmpty) <= ofEmpty {
		return 0
	}
	return max(0, center+sd*math.Sqrt2*math.Erfcinv(2*v*full))
}
