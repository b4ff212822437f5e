package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/guide"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
)

// placeGroups is the number of groups of places that represent the places of all steps, placePairs
// the number of pairs in each.
const placeGroups, placePairs = 10, 4

// place is where a fit released a gradient, and its clip norm.
type place struct {
	theta    []float64 // P
	clipNorm float64
}

// places are groups of places, one for each batch of simulated records in turn. Noise may move iterates
// by many standard deviations of the posterior, and mean gradients depend on how far, which one group
// does not show: with it a slope of a Poisson regression was 5.7 ± .5 for 8.9 (N = 3000, ε = .3). The
// pairs stand for the steps with their weights u of GradientSums: a pair is at m ± sη of one step,
// the noise of either sign, and at a clip norm of one standard deviation above or below its mean. All
// are moved so that their mean is the weighted mean of all θ.
func (r Releases) places(rng *noise.Random) [][]place {
	const start = 0.2 // of all steps: u is 0 before
	const pairs = placeGroups * placePairs
	location, sums := guide.Location(r.Guide, r.Lambda), r.Gradients
	latent, kept := len(location), len(r.Trace.Steps)
	sd, mean := make([]float64, latent), make([]float64, latent)
	r.Guide.SD(sd, r.Lambda)
	clipNorm, spread := sums.clipNorm()
	groups := make([][]place, placeGroups)
	for i := range pairs {
		x := (float64(i) + rng.Uniform()) / pairs
		share := math.Sqrt(start*start + (1-start*start)*x)
		centre := location
		if kept > 0 {
			i := min(int(share*float64(kept)), kept-1)
			centre = r.Trace.Mean[i*latent : (i+1)*latent]
		}
		simd.Axpy(mean, 1./pairs, centre)
		eta := make([]float64, latent)
		for j := range latent {
			eta[j] = sd[j] * rng.Normal()
		}
		norm := clipNorm + spread*float64(2*(i/placeGroups%2)-1)
		for _, sign := range []float64{1, -1} {
			theta := make([]float64, latent)
			for j := range theta {
				theta[j] = sums.Place[j]/sums.Totals[0] + centre[j] + sign*eta[j]
			}
			groups[i%placeGroups] = append(groups[i%placeGroups], place{theta, norm})
		}
	}
	for _, g := range groups {
		for _, p := range g {
			simd.Sub(p.theta, p.theta, mean)
		}
	}
	return groups
}

// clipNorm is the weighted mean and standard deviation of the clip norm.
func (s GradientSums) clipNorm() (mean, sd float64) {
	mean = s.Totals[2] / s.Totals[0]
	return mean, math.Sqrt(math.Max(0, math.Min(s.Totals[3]/s.Totals[0]-mean*mean, mean*mean/4)))
}

// noiseVariance is v̄, the variance of the noise in each entry of the mean gradient.
func (s GradientSums) noiseVariance() float64 { return s.Totals[1] / (s.Totals[0] * s.Totals[0]) }

// curvatureNoise is the variance of Σ w·d·(−g) of coordinate j, by privacy noise and, where
// the likelihood has that information, by batches: τ² + J(1 − q)/q a step instead of τ².
func (s GradientSums) curvatureNoise(j int, information, batches float64) float64 {
	if batches == 0 {
		return s.Noise[j]
	}
	return s.Noise[j] * (1 + information*batches/s.noiseVariance())
}

// fitted is the place, among those with the likelihood of a settled one, that has the scales and the
// offsets with which the fit released gradients: they are clipped by their length there. unit is
// the gradient at the settled place over that at this one. Both have shape (P).
type fitted struct{ place, unit []float64 }

// fittedAs is the place of a fit that ended at end (P) and was settled at mean (P), with the
// directions null (columns) of the coordinates free.
func fittedAs(mean, end []float64, scales []scaleEstimate, free []int, null *mat.Dense) fitted {
	f := fitted{slices.Clone(mean), slices.Repeat([]float64{1}, len(mean))}
	var list []scale
	for _, s := range scales {
		list = append(list, s.scale)
	}
	isEffect := effectsOf(list, len(mean))
	if null != nil {
		var rows, back []float64
		for i, j := range free {
			if !isEffect[j] {
				rows, back = append(rows, null.RawRowView(i)...), append(back, end[j]-mean[j])
			}
		}
		_, k := null.Dims()
		var along, shift mat.VecDense
		if len(back) >= k && along.SolveVec(mat.NewDense(len(back), k, rows), mat.NewVecDense(len(back), back)) == nil {
			shift.MulVec(null, &along)
			addStep(f.place, free, &shift)
		}
	}
	for _, s := range scales {
		factor := math.Exp(mean[s.at] - end[s.at])
		f.place[s.at] = end[s.at]
		for _, j := range s.effects {
			f.place[j] *= factor
			f.unit[j] = factor
		}
	}
	return f
}
