package posterior

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/interp"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
	"d3p/internal/stats"
)

// To see a bias, biasRecords times as many records as the plan has are simulated,
// within bounds: then chance moves it by less than the records themselves do.
const biasRecords, fewestRecords, mostRecords = 10, 4000, 20000

// A correction must change the clipped gradients by at least minEffect of the
// change that their information predicts. If the gradients of the plan's records are those
// of fewer than fewEffective, as where an outcome is rare, it may move no coordinate by
// more than maxMove of its standard deviations. Else the linear model behind it fails.
const minEffect, fewEffective, maxMove = 1.0 / 3, 50, 3.0

// corrects reports whether the mean is corrected where these coordinates are real-valued.
// Where all are, few records are too little evidence: the correction would move the mean away
// from where it predicts best.
func (j *jointNormal) corrects(free []int) bool {
	return len(free) < j.model.P || !j.model.FewRecords(j.records)
}

// clipBias has the inputs of correctClipBias beside the mean.
type clipBias struct {
	free        []int           // the real-valued coordinates
	information *mat.SymDense   // H among them
	covariance  *mat.SymDense   // (Λ + K)⁻¹ among them
	h           []float64       // information of every coordinate, shape (P)
	scales      []scaleEstimate // not corrected: they follow from their effects
	fitted      fitted          // where the gradients were clipped
}

// correctClipBias takes the bias of clipping from the mean of post. Clipped
// gradients do not add up to zero at the truth: residuals that are large on one
// side, as those of a rare outcome, of counts, or of a variance, are cut on that
// side only. A fit ends where they do add up to zero, at θ̂. The model tells how far
// from the truth that is: with
//
//	b(θ) = N E_θ[clip(∂ log p(record | θ̂))],
//
// over records that the model simulates at θ and the places about θ̂ where the fit
// released gradients, the truth has b(θ) = 0, to first order
// θ = θ̂ − H⁻¹b(θ̂). The mean of post is a noisy measurement of the mode, so it moves
// by (Λ + K)⁻¹H(H + v̄)⁻¹b only, and no further than where b vanishes at a second
// look. correctAlone moves coordinates that are neither free nor scales.
// This is the correction that makes a bounded influence function consistent:
// Cantoni and Ronchetti 2001, doi:10.1198/016214501753209004. It reads no record:
// the bias is that of the model, with predictors as declared.
func (j *jointNormal) correctClipBias(post *Posterior, b clipBias) {
	at := slices.Clone(post.Mean)
	places := j.releases.settled(b.fitted.place, j.clipNorm, j.random())
	spread := b.spreadOfEffects(len(at))
	before := j.clippedSum(at, spread, places, b.fitted.unit)
	ofFree := j.curvature.displacement(pick(before, b.free), b.information, b.covariance)
	if ofFree == nil || !simd.Finite(before) {
		return
	}
	move := make([]float64, len(at))
	for i, k := range b.free {
		move[k] = -ofFree.AtVec(i)
	}
	there := make([]float64, len(at))
	for k := range at {
		there[k] = at[k] + move[k]
	}
	after := j.clippedSum(there, spread, places, b.fitted.unit)
	if !simd.Finite(after) {
		return
	}
	ofFreeMove := mat.NewVecDense(len(b.free), pick(move, b.free))
	fraction := moveFraction(pick(move, b.free), pick(before, b.free), pick(after, b.free), mat.Inner(ofFreeMove, b.information, ofFreeMove))
	if j.scores.effective()*float64(j.records)/float64(j.scores.records) < fewEffective {
		for i, k := range b.free {
			if fraction*math.Abs(move[k]) > maxMove*math.Sqrt(b.covariance.At(i, i)) {
				fraction = 0
			}
		}
	}
	for _, k := range b.free {
		post.Mean[k] += fraction * move[k]
	}
	if residualSD(j.model) >= 0 { // separateResidual takes out what effects miss
		clear(spread)
	}
	j.correctAlone(post, b, spread, places)
}

// displacement is (Λ + K)⁻¹H(H + v̄)⁻¹ sum: how far a sum of gradients moves the mean, with the
// information H and the covariance (Λ + K)⁻¹ of its coordinates. It is nil if H has no spectrum.
func (c *curvature) displacement(sum []float64, information, covariance *mat.SymDense) *mat.VecDense {
	noise := c.noiseVariance()
	reach := spectral(information, func(e float64) float64 { return e / (e + noise) })
	if reach == nil {
		return nil
	}
	push, move := mat.NewVecDense(len(sum), nil), mat.NewVecDense(len(sum), nil)
	push.MulVec(reach, mat.NewVecDense(len(sum), sum))
	move.MulVec(covariance, push)
	return move
}

// correctAlone gives the coordinates with gradients that are neither free nor scales, one by one and with the
// others where they are, the posterior
//
//	p(t) ∝ prior(t) N(f; b(t), Dh + v̄),  t from the fit's end,
//
// D the design effect, f the gradient that balances the prior's there. The clipped gradient of the log of a standard
// deviation or a dispersion is far from linear in it: of a count's dispersion few records tell
// 1 from 2, and none 10 from 20.
func (j *jointNormal) correctAlone(post *Posterior, b clipBias, spread []float64, places []place) {
	open := alone(j.model, b.free, b.scales)
	if len(open) == 0 {
		return
	}
	ofPrior := make([]float64, len(post.Mean))
	j.prior.Gradient(ofPrior, post.Mean)
	for _, k := range j.doubtful(open, post, b.h, j.clippedSum(post.Mean, spread, places, b.fitted.unit)) {
		theta, middle, sd := slices.Clone(post.Mean), 0.0, farLook
		at := func(t float64) []float64 {
			theta[k] = post.Mean[k] + t
			return theta
		}
		var exact, total float64
		for range 2 { // from afar, then near
			var t, sums [looks]float64
			for i := range t {
				t[i] = middle + sd*(float64(i)-(looks-1)/2)
				sums[i] = j.clippedSum(at(t[i]), spread, places, b.fitted.unit)[k] + ofPrior[k]
			}
			makeRising(sums[:])
			var off interp.FritschButland
			if !passes(&off, t[:], sums[:]) {
				return
			}
			moments := func(variance float64) (mean, ofMean float64) {
				const points = 400
				var grid, logs [points]float64
				for i := range grid {
					grid[i] = t[0] + (t[looks-1]-t[0])*(float64(i)+0.5)/points
					logs[i] = j.prior.LogDensity(at(grid[i])) - math.Pow(off.Predict(grid[i]), 2)/(2*variance)
				}
				return stats.GridMoments(grid[:], logs[:])
			}
			_, exact = moments(j.designEffects.in(k) * b.h[k])
			middle, total = moments(j.designEffects.in(k)*b.h[k] + j.curvature.noiseVariance())
			sd = math.Sqrt(total)
		}
		if exact = math.Min(exact, total); isPositiveFinite(exact) && isPositiveFinite(total) {
			post.Mean[k] += middle
			post.LogSD[k], post.VarDP[k] = math.Log(exact)/2, total-exact
		}
	}
}

// passes fits a curve to points. It reports whether they are finite, from left to right: under much
// noise a posterior can be so narrow or far away that neighbouring numbers are equal.
func passes(curve interp.FittablePredictor, x, y []float64) bool {
	for i := 1; i < len(x); i++ {
		if !(x[i] > x[i-1]) {
			return false
		}
	}
	return simd.Finite(x) && simd.Finite(y) && curve.Fit(x, y) == nil
}

// atMiddles has the middles of equal cells from the first to the last of x, which ascend, and the curve there.
func atMiddles(curve interp.Predictor, x []float64, cells int) (middles, values []float64) {
	first, width := x[0], (x[len(x)-1]-x[0])/float64(cells)
	for i := range cells {
		middles = append(middles, first+(float64(i)+0.5)*width)
		values = append(values, curve.Predict(middles[i]))
	}
	return middles, values
}

// b is simulated at `looks` places, farLook apart, then a standard deviation.
const looks, farLook = 9, 0.75

// makeRising makes sums rise on both sides of their middle. Far away they may return to zero, for
// instance where a component of a mixture is so wide that no record is in it. The fit did not end there.
func makeRising(sums []float64) {
	middle := len(sums) / 2
	for i := middle + 1; i < len(sums); i++ {
		sums[i] = math.Max(sums[i], sums[i-1])
	}
	for i := middle - 1; i >= 0; i-- {
		sums[i] = math.Min(sums[i], sums[i+1])
	}
}

// Of the coordinates that are neither free nor scales, mostDoubtful at most are doubtful. One with
// a standard deviation below wellKnown and a b below smallBias standard deviations is not: in a
// mixture most are so, and each takes seconds.
const mostDoubtful, wellKnown, smallBias = 4, 0.15, 0.25

// doubtful are those of the coordinates alone, with the information h (P) and b = sum (P): the most
// biased first. It spoils alone.
func (j *jointNormal) doubtful(alone []int, post *Posterior, h, sum []float64) []int {
	sd := make([]float64, len(post.Mean))
	post.SD(sd)
	bias := func(k int) float64 { return math.Abs(sum[k]) / math.Sqrt(h[k]+j.curvature.noiseVariance()) }
	list := slices.DeleteFunc(alone, func(k int) bool { return sd[k] < wellKnown && bias(k) < smallBias })
	slices.SortFunc(list, func(k, l int) int { return cmp.Compare(bias(l), bias(k)) })
	return list[:min(len(list), mostDoubtful)]
}

// spreadOfEffects has the standard deviations (P) of the effects of scales beside known other
// coordinates, and 0 for all others. Records of the truth have effects that differ so: simulated
// with the posterior means of little known effects, the records of groups would be too much alike.
// An intercept that is unknown together with its effects leaves the records as they are.
func (b clipBias) spreadOfEffects(latent int) []float64 {
	spread := make([]float64, latent)
	if len(b.scales) == 0 {
		return spread
	}
	precision := inverse(b.covariance, mat.NewSymDense(len(b.free), nil))
	if precision == nil {
		return spread
	}
	for _, s := range b.scales {
		var effects, places []int // places among the free
		for _, k := range s.effects {
			if i := slices.Index(b.free, k); i >= 0 {
				effects, places = append(effects, k), append(places, i)
			}
		}
		if len(effects) == 0 {
			continue
		}
		known := inverse(submatrix(precision, places), mat.NewSymDense(len(places), nil))
		if known == nil {
			continue
		}
		for i, k := range effects {
			spread[k] = math.Sqrt(known.At(i, i))
		}
	}
	return spread
}

// moveFraction is the fraction of a move, from 0 to 1, at which the slope along it
// vanishes, by linear interpolation between the gradients before and after. It is 0
// if the slope changes by less than minEffect of the expected change.
func moveFraction(move, before, after []float64, expected float64) float64 {
	start, end := 0.0, 0.0
	for j, s := range move {
		start, end = start+s*before[j], end+s*after[j]
	}
	if change := end - start; change >= minEffect*expected && change > 0 {
		return math.Max(0, math.Min(1, -start/change))
	}
	return 0
}

// alone lists the coordinates with gradients that are neither free nor scales.
func alone(m *models.Model, free []int, scales []scaleEstimate) []int {
	taken := slices.Concat(free, m.Likelihood.Untouched())
	for _, s := range scales {
		taken = append(taken, s.at)
	}
	var list []int
	for k := range m.P {
		if !slices.Contains(taken, k) {
			list = append(list, k)
		}
	}
	return list
}

// clippedSum is N E[clip(g)] (P) of gradients g at the places, a pair of them for each
// batch, in units of the places' gradients, over records simulated at truths with this mean
// and spread. Their scores at the truth, whose mean is 0, are control variates.
func (j *jointNormal) clippedSum(mean, spread []float64, places []place, unit []float64) []float64 {
	m, rng, p, count := j.model, j.random(), j.model.P, 0
	shifts, shift, truth := random(noise.Public(j.seed).Child(3), 0), make([]float64, p), make([]float64, p)
	sum, scores, cross, square := make([]float64, p), make([]float64, p), make([]float64, p), make([]float64, p)
	machine := graph.NewMachine(m.Likelihood, simulationBatch)
	clipped, atTruth := mat.NewDense(simulationBatch, p, nil), mat.NewDense(simulationBatch, p, nil)
	for batch := range min(max(biasRecords*j.records, fewestRecords), mostRecords) / simulationBatch {
		for k := range shift { // pairs of batches have opposite effects
			if shift[k] = -shift[k]; batch%2 == 0 {
				shift[k] = spread[k] * shifts.Normal()
			}
		}
		simd.Add(truth, mean, shift)
		runAt(machine, m, truth, j.law, rng, atTruth)
		k := 2 * batch % len(places)
		j.addClipped(clipped, machine, places[k:k+2])
		for r := range simulationBatch {
			score := atTruth.RawRowView(r)
			if !simd.Finite(score) {
				continue
			}
			count++
			for k, x := range clipped.RawRowView(r) {
				sum[k] += x
				scores[k] += score[k]
				cross[k] += x * score[k]
				square[k] += score[k] * score[k]
			}
		}
	}
	for k := range sum {
		if square[k] > 0 {
			sum[k] -= cross[k] / square[k] * scores[k]
		}
		sum[k] *= unit[k] * float64(j.records) / float64(count)
	}
	return sum
}

// settledPairs is the number of pairs of places that stand for the averaged steps.
const settledPairs = 25

// settled are pairs of places like those of the averaged steps: iterates of the trace at
// ± the guide's noise, moved so that their mean is at (P). A gradient that is not linear,
// as that of a residual's standard deviation, has another mean over them than at their mean.
func (r Releases) settled(at []float64, clipNorm float64, rng *noise.Random) []place {
	latent, kept := len(at), len(r.Trace.Steps)
	sd, mean := make([]float64, latent), make([]float64, latent)
	r.Guide.SD(sd, r.Lambda)
	list := make([]place, 0, 2*settledPairs)
	for k := range settledPairs {
		centre := at
		if kept > 0 {
			i := min(kept-1, int(float64(kept)*(0.5+0.5*(float64(k)+rng.Uniform())/settledPairs)))
			centre = r.Trace.Mean[i*latent : (i+1)*latent]
		}
		one, other := make([]float64, latent), make([]float64, latent)
		for j := range latent {
			shift := sd[j] * rng.Normal()
			one[j], other[j] = centre[j]+shift, centre[j]-shift
			mean[j] += centre[j] / settledPairs
		}
		list = append(list, place{one, clipNorm}, place{other, clipNorm})
	}
	for _, p := range list {
		for j := range p.theta {
			p.theta[j] += at[j] - mean[j]
		}
	}
	return list
}
