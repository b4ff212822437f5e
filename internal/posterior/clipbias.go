package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/graph"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
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
// Where all are, few records say too little: the correction would move the mean away from
// where it predicts best.
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
	c, at := j.curvature, append([]float64(nil), post.Mean...)
	places := j.releases.settled(at, j.clipNorm, j.random())
	spread := b.spreadOfEffects(len(at))
	before, _ := j.clippedSum(at, spread, places, nil)
	noiseOfMean := c.noiseOfMean()
	reach := spectral(b.information, func(e float64) float64 { return e / (e + noiseOfMean) })
	if reach == nil || !simd.Finite(before) {
		return
	}
	move := make([]float64, len(at))
	var push, ofFree mat.VecDense
	push.MulVec(reach, mat.NewVecDense(len(b.free), pick(before, b.free)))
	ofFree.MulVec(b.covariance, &push)
	for i, k := range b.free {
		move[k] = -ofFree.AtVec(i)
	}
	there := make([]float64, len(at))
	for k := range at {
		there[k] = at[k] + move[k]
	}
	after, _ := j.clippedSum(there, spread, places, nil)
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
	j.correctAlone(post, b, spread, places)
}

// correctAlone corrects the coordinates that are neither free nor scales, where the others are at
// last. The clipped gradient of the log of a standard deviation, or of a dispersion, is far from
// linear in it, so Gauss-Newton steps seek the truth t that is most probable by
//
//	0 ~ N(b(t), h + v̄),  t ~ N(mean of post, 1/Λ),
//
// where b has the slope N E_t[clip(∂ log p(record | θ̂)) s(t)ᵀ], s the score at the truth. Where
// that is less than h, the fit's end says less about the truth, and the intervals become wider.
func (j *jointNormal) correctAlone(post *Posterior, b clipBias, spread []float64, places []place) {
	c, alone := j.curvature, b.alone(len(post.Mean))
	if len(alone) == 0 {
		return
	}
	weight, prior := make([]float64, len(alone)), make([]float64, len(alone))
	for i, k := range alone {
		weight[i], prior[i] = 1/(b.h[k]+c.noiseOfMean()), math.Max(c.Prior[k]/c.Square[k], c.floor[k])
	}
	truth, off := slices.Clone(post.Mean), make([]float64, len(alone))
	var information *mat.SymDense
	for range mostRounds {
		sum, slope := j.clippedSum(truth, spread, places, alone)
		var step []float64
		if step, information = gaussNewton(pick(sum, alone), slope, off, weight, prior); step == nil {
			return
		}
		for i, k := range alone {
			off[i] += step[i]
			truth[k] = post.Mean[k] + off[i]
		}
		if mat.Norm(mat.NewVecDense(len(step), step), math.Inf(1)) < smallStep {
			break
		}
	}
	for i, k := range alone {
		post.Mean[k] = truth[k]
		wider := math.Max(1, (prior[i]+b.h[k]*b.h[k]*weight[i])/information.At(i, i))
		post.LogSD[k] += math.Log(wider) / 2
		post.VarDP[k] *= wider
	}
}

// A correction takes at most mostRounds steps of up to mostStep, and ends with one below smallStep.
const mostRounds, mostStep, smallStep = 8, 0.5, 0.02

// gaussNewton is a step of t ∈ Rⁿ toward the minimum of Σ weight·b(t)² + Σ prior·t², no number of
// it beyond mostStep, where b(t) is sum and ∂b/∂t is slope (n×n), and the Hessian of half that sum.
// Both are nil if the Hessian has no Cholesky factor.
func gaussNewton(sum []float64, slope *mat.Dense, t, weight, prior []float64) ([]float64, *mat.SymDense) {
	n := len(sum)
	var weighted, product mat.Dense
	weighted.Apply(func(i, _ int, x float64) float64 { return weight[i] * x }, slope)
	product.Mul(slope.T(), &weighted)
	var pull, step mat.VecDense
	pull.MulVec(weighted.T(), mat.NewVecDense(n, sum))
	information := mat.NewSymDense(n, nil)
	for i := range n {
		pull.SetVec(i, -pull.AtVec(i)-prior[i]*t[i])
		for k := range i + 1 {
			information.SetSym(i, k, product.At(i, k))
		}
		information.SetSym(i, i, information.At(i, i)+prior[i])
	}
	var factor mat.Cholesky
	if !simd.Finite(sum) || !factor.Factorize(information) || factor.SolveVecTo(&step, &pull) != nil {
		return nil, nil
	}
	out := step.RawVector().Data
	for i, x := range out {
		out[i] = math.Max(-mostStep, math.Min(mostStep, x))
	}
	return out, information
}

// spreadOfEffects has the standard deviations (P) of the effects of scales, and 0 for all
// others. Records of the truth have effects that differ so: simulated with the posterior
// means of little known effects, the records of groups would be too much alike.
func (b clipBias) spreadOfEffects(latent int) []float64 {
	spread := make([]float64, latent)
	for _, s := range b.scales {
		for _, k := range s.effects {
			if i := slices.Index(b.free, k); i >= 0 {
				spread[k] = math.Sqrt(b.covariance.At(i, i))
			}
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

// alone lists the coordinates below latent that are in neither b.free nor b.scales.
func (b clipBias) alone(latent int) []int {
	taken := make([]bool, latent)
	for _, j := range b.free {
		taken[j] = true
	}
	for _, s := range b.scales {
		taken[s.at] = true
	}
	var list []int
	for j, is := range taken {
		if !is {
			list = append(list, j)
		}
	}
	return list
}

// clippedSum is N E[clip(g)] (P) of gradients g at the places, a pair of them for each
// batch, over records simulated at truths with this mean and spread. Their scores at the
// truth, whose mean is 0, are control variates. Its slope is among the coordinates of.
func (j *jointNormal) clippedSum(mean, spread []float64, places []place, of []int) ([]float64, *mat.Dense) {
	m, rng, p, count := j.model, j.random(), j.model.P, 0
	shifts, shift, truth := random(noise.Public(j.seed).Child(3), 0), make([]float64, p), make([]float64, p)
	sum, scores, cross, square := make([]float64, p), make([]float64, p), make([]float64, p), make([]float64, p)
	var slope *mat.Dense
	if len(of) > 0 {
		slope = mat.NewDense(len(of), len(of), nil)
	}
	machine := graph.NewMachine(m.Likelihood, simulationBatch)
	clipped, atTruth := mat.NewDense(simulationBatch, p, nil), mat.NewDense(simulationBatch, p, nil)
	for batch := range min(max(biasRecords*j.records, fewestRecords), mostRecords) / simulationBatch {
		for k := range shift { // pairs of batches have opposite effects
			if shift[k] = -shift[k]; batch%2 == 0 {
				shift[k] = spread[k] * shifts.Normal()
			}
		}
		simd.Add(truth, mean, shift)
		machine.Globals(truth, nil)
		machine.Records(simulate.Records(m, truth, simulationBatch, j.law, rng), m.Encoding.K, simulationBatch, nil)
		for r := range simulationBatch {
			machine.Gradient(r, atTruth.RawRowView(r))
		}
		k := 2 * batch % len(places)
		j.addClipped(clipped, machine, places[k:k+2])
		for r := range simulationBatch {
			score := atTruth.RawRowView(r)
			if !simd.Finite(score) {
				continue
			}
			count++
			for a, k := range of {
				for b, l := range of {
					slope.Set(a, b, slope.At(a, b)+clipped.At(r, k)*score[l])
				}
			}
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
		sum[k] *= float64(j.records) / float64(count)
	}
	if slope != nil {
		slope.Scale(float64(j.records)/float64(count), slope)
	}
	return sum, slope
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
