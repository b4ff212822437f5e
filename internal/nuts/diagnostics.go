package nuts

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Diagnosis is the agreement of the chains about one scalar, and their effective number
// of draws. Vehtari, Gelman, Simpson, Carpenter and Bürkner 2021, arXiv:1903.08008.
type Diagnosis struct {
	// RHat is the larger of the split R-hat of rank-normalised draws and that of their
	// distance from the median. It is 1 if the chains agree, NaN for a constant.
	RHat float64 `json:"rhat"`
	// BulkESS and TailESS are effective sample sizes for the centre, and the smaller
	// one of those for the 5 % and 95 % quantiles.
	BulkESS float64 `json:"ess_bulk"`
	TailESS float64 `json:"ess_tail"`
}

// Diagnose takes the draws of one scalar, a slice of equal length for each chain,
// at least four draws each.
func Diagnose(chains [][]float64) Diagnosis {
	split := splitChains(chains)
	folded := foldedChains(split)
	ranked := rankNormalised(split)
	return Diagnosis{
		RHat:    math.Max(rHat(ranked), rHat(rankNormalised(folded))),
		BulkESS: effectiveSize(ranked),
		TailESS: math.Min(effectiveSize(below(split, 0.05)), effectiveSize(below(split, 0.95))),
	}
}

// SquareESS is the effective sample size for the variance about mean. Draws of this sampler
// often change sides, so that the mean is known better, and the variance less well, than by
// as many independent draws.
func SquareESS(chains [][]float64, mean float64) float64 {
	return effectiveSize(each(splitChains(chains), func(x float64) float64 { return (x - mean) * (x - mean) }))
}

// splitChains cuts each chain into two halves; an odd draw in the middle is left
// out.
func splitChains(chains [][]float64) [][]float64 {
	var halves [][]float64
	for _, c := range chains {
		n := len(c) / 2
		halves = append(halves, c[:n], c[len(c)-n:])
	}
	return halves
}

// foldedChains are distances from the median of all draws.
func foldedChains(chains [][]float64) [][]float64 {
	centre := orderStatistic(slices.Concat(chains...), 0.5)
	return each(chains, func(x float64) float64 { return math.Abs(x - centre) })
}

// below marks the draws that are at most the p-quantile of all.
func below(chains [][]float64, p float64) [][]float64 {
	q := orderStatistic(slices.Concat(chains...), p)
	return each(chains, func(x float64) float64 {
		if x <= q {
			return 1
		}
		return 0
	})
}

func each(chains [][]float64, f func(float64) float64) [][]float64 {
	out := make([][]float64, len(chains))
	for i, c := range chains {
		out[i] = make([]float64, len(c))
		for j, x := range c {
			out[i][j] = f(x)
		}
	}
	return out
}

// orderStatistic is the smallest draw with at least the share p at or below it;
// it sorts x.
func orderStatistic(x []float64, p float64) float64 {
	slices.Sort(x)
	return x[max(0, int(math.Ceil(p*float64(len(x))))-1)]
}

// rankNormalised replaces every draw by the normal quantile of (r - 3/8)/(n + 1/4),
// where r is its mean rank among all draws.
func rankNormalised(chains [][]float64) [][]float64 {
	type draw struct {
		x        float64
		chain, i int
	}
	var all []draw
	for c, chain := range chains {
		for i, x := range chain {
			all = append(all, draw{x, c, i})
		}
	}
	slices.SortFunc(all, func(a, b draw) int {
		return cmp.Compare(a.x, b.x)
	})
	out := make([][]float64, len(chains))
	for c := range out {
		out[c] = make([]float64, len(chains[c]))
	}
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].x == all[from].x {
			to++
		}
		rank := float64(from+to+1) / 2
		z := distuv.UnitNormal.Quantile((rank - 0.375) / (float64(len(all)) + 0.25))
		for _, d := range all[from:to] {
			out[d.chain][d.i] = z
		}
		from = to
	}
	return out
}

// moments are the mean and the variance of one chain.
func moments(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(len(x)-1)
}

// variances are W, the mean variance within chains, and the pooled estimate
// (n-1)/n W + B/n.
func variances(chains [][]float64) (within, pooled float64) {
	n := float64(len(chains[0]))
	means := make([]float64, len(chains))
	for i, c := range chains {
		mean, v := moments(c)
		means[i] = mean
		within += v / float64(len(chains))
	}
	_, between := moments(means)
	return within, (n-1)/n*within + between
}

// rHat is sqrt(pooled/within).
func rHat(chains [][]float64) float64 {
	within, pooled := variances(chains)
	return math.Sqrt(pooled / within)
}

// effectiveSize is n·m over the integrated autocorrelation time, summed as Geyer's
// initial monotone sequence (1992); NaN for a constant.
func effectiveSize(chains [][]float64) float64 {
	n, m := len(chains[0]), len(chains)
	within, pooled := variances(chains)
	if !(pooled > 0) {
		return math.NaN()
	}
	means := make([]float64, m)
	for i, c := range chains {
		means[i], _ = moments(c)
	}
	correlation := func(lag int) float64 {
		s := 0.0
		for i, c := range chains {
			for j := range n - lag {
				s += (c[j] - means[i]) * (c[j+lag] - means[i])
			}
		}
		return 1 - (within-s/float64(m*(n-1)))/pooled
	}
	total := float64(n * m)
	sum, last := 0.0, math.Inf(1)
	for lag := 0; lag+1 < n; lag += 2 {
		pair := correlation(lag) + correlation(lag+1)
		if !(pair > 0) {
			break
		}
		last = math.Min(last, pair)
		sum += last
	}
	tau := math.Max(2*sum-1, 1/math.Log10(total))
	return total / tau
}
