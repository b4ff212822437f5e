package law

import (
	"math"

	"d3p/internal/models/dist"
	"d3p/internal/models/special"
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
	full := special.NormalCDF(center / sd)
	ofFull := (1 - emptyCells) / mean * math.Exp(sd*sd/(2*mean*mean)-x/mean) * full
	ofEmpty := emptyCells / sd * math.Exp(-x*x/(2*sd*sd)) / math.Sqrt(2*math.Pi)
	if u*(ofFull+ofEmpty) <= ofEmpty {
		return 0
	}
	return max(0, center+sd*math.Sqrt2*math.Erfcinv(2*v*full))
}

// reliability is the part of how the table differs from independent columns with these shares that is not
// its noise, from 0 to 1.
func (p *Pair) reliability(first, second []float64) float64 {
	between, noise := 0.0, 0.0
	for i, a := range first {
		for j, b := range second {
			d := p.Shares[i*len(second)+j] - a*b
			between, noise = between+d*d, noise+p.SD*p.SD
		}
	}
	if between > noise {
		return 1 - noise/between
	}
	return 0
}

// raked is the table with the shares of its columns, and the mutual information of its
// columns. It first takes out the part of the difference from independent columns that
// noise explains.
func (p *Pair) raked(first, second []float64) (table []float64, information float64) {
	k, part := len(second), p.reliability(first, second)
	table = make([]float64, len(p.Shares))
	for i, a := range first {
		for j, b := range second {
			table[i*k+j] = max(a*b+part*(p.Shares[i*k+j]-a*b), leastOfProduct*a*b)
		}
	}
	for range rakings {
		for i, a := range first {
			rake(table[i*k:i*k+k], 1, a)
		}
		for j, b := range second {
			rake(table[j:], k, b)
		}
	}
	for i, a := range first {
		for j, b := range second {
			if x := table[i*k+j]; x > 0 {
				information += x * math.Log(x/(a*b))
			}
		}
	}
	if part == 0 {
		information = 0
	}
	return table, information
}

// leastOfProduct is the least share of a combination of levels, over the product of theirs.
const leastOfProduct = 1e-3

// rakings is the number of rounds of iterative proportional fitting.
const rakings = 50

// rake scales every step-th number of x so that they add up to sum.
func rake(x []float64, step int, sum float64) {
	total := 0.0
	for i := 0; i < len(x); i += step {
		total += x[i]
	}
	if total > 0 {
		for i := 0; i < len(x); i += step {
			x[i] *= sum / total
		}
	}
}
