package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"d3p/internal/models"
	"d3p/internal/models/formula"
	"d3p/internal/models/graph"
	"d3p/internal/models/simulate"
	"d3p/internal/stats"
)

// residualSD is the coordinate of the log of the standard deviation of a normal response; -1 where
// the model has none, one that differs between records, or one whose prior has an upper bound, for
// which another coordinate stands.
func residualSD(m *models.Model) int {
	if m.Spec.Model == nil || formula.FamilyOf(m.Spec.Model.Family.V).Name != "normal" {
		return -1
	}
	for i := range m.Params {
		if p := &m.Params[i]; p.Name == "sigma" && p.Size == 1 && p.Transform.Name == "exp" {
			return p.Offset
		}
	}
	return -1
}

// leastExcess is the part of a log standard deviation's own spread by which unknown coefficients
// move it, below which they leave it as it is.
const leastExcess = 0.2

// separateResidual gives the residual standard deviation σ of a normal response the posterior that
// it has beside coefficients with errors Δ, which the noise gives the covariance beyond among the
// free coordinates. The fit's own, e^s, contains what the coefficients miss:
//
//	e²ˢ = σ² + q,  q = e²ˢ ΔᵀIΔ,
//
// I the information of a simulated record whose gradient is not clipped: residuals contain what
// coefficients miss, however little of it clipped gradients show. q is a gamma variable with the mean and
// the variance of that quadratic form (Satterthwaite 1946), and s is known with the variance that post has for it. So
//
//	p(t) ∝ prior(t) ∫ p(q = e²ᵘ − e²ᵗ) 2e²ᵘ L(u) du,  t = log σ, u = s,
//
// where the likelihood L is the posterior of s over its prior.
func (j *jointNormal) separateResidual(post *Posterior, w widening, of informations, beyond *mat.SymDense) {
	at := residualSD(j.model)
	if at < 0 {
		return
	}
	own := math.Exp(2*post.LogSD[at]) + post.VarDP[at]
	information := newScores(j.model, post.Mean, j.law, j.random()).perRecord(w.free)
	information.ScaleSym(1/j.law.RowsPerUnit(), information)
	mean, variance := w.missed(information, beyond, of)
	sd := math.Sqrt(own)
	if !(mean/2 > leastExcess*sd) || !isPositiveFinite(variance) || !isPositiveFinite(own) {
		return
	}
	q := distuv.Gamma{Alpha: mean * mean / variance, Beta: mean / variance}
	theta := slices.Clone(post.Mean)
	prior := func(t float64) float64 { // its log, t from the fit's
		theta[at] = post.Mean[at] + t
		return j.prior.LogDensity(theta)
	}
	const points, lowest, reach, places = 300, -6.0, 4.0, 80
	var grid, logs [points]float64
	for i := range grid {
		t := lowest + (reach*sd-lowest)*(float64(i)+0.5)/points
		sum := 0.0
		for k := range places {
			u := t + (reach*sd-t)*(float64(k)+0.5)/places
			sum += math.Exp(q.LogProb(math.Exp(2*u)-math.Exp(2*t))+2*u-u*u/(2*own)-prior(u)) * (reach*sd - t)
		}
		grid[i], logs[i] = t, prior(t)+math.Log(sum)
	}
	shift, total := stats.GridMoments(grid[:], logs[:])
	if math.IsNaN(shift) || !isPositiveFinite(total) {
		return
	}
	post.Mean[at] += shift
	exact := math.Min(math.Exp(2*post.LogSD[at]), total)
	post.LogSD[at], post.VarDP[at] = math.Log(exact)/2, total-exact
}

// missed are the mean and the variance of ΔᵀIΔ, I the information of a record. Δ has the covariance beyond where the
// scales of effects are as estimated, and elsewhere the one that follows from the informations of: effects that noise hides are missed
// whole, and their scale may be nearly anything.
func (w widening) missed(information, beyond *mat.SymDense, of informations) (mean, variance float64) {
	second := 0.0
	for i, n := range w.nodes(func(s scaleEstimate) float64 { return s.total }) {
		at := beyond
		if i > 0 {
			exact, total := inverse(n.scaled(of.likelihood), w.prior), inverse(noisyInformation(n.scaled(of.trusted), w.ratio, w.noise), w.prior)
			if exact != nil && total != nil {
				at = exact
				at.ScaleSym(-1, at)
				at.AddSym(at, total)
			}
		}
		var form, square mat.Dense
		form.Mul(n.scaled(information), at)
		square.Mul(&form, &form)
		trace := mat.Trace(&form)
		mean, second = mean+n.weight*trace, second+n.weight*(2*mat.Trace(&square)+trace*trace)
	}
	return mean, second - mean*mean
}

// unlikeShape is a shape that errors may have with the probability unlikeErrors: a tail twice as
// long as the normal's on one side.
var unlikeShape = stats.Shapes[len(stats.Shapes)-2]

const unlikeErrors = 0.25

// ofUnlikeErrors is what clipping would add to the sum of the gradients of a model with a normal
// response (P), if its errors had unlikeShape, times the root of the probability of that; nil for
// other models. The mean of a gradient that is not clipped is that of normal errors.
func (s simulation) ofUnlikeErrors(mean []float64, places []place, records int) []float64 {
	m := s.model
	if residualSD(m) < 0 {
		return nil
	}
	machine := graph.NewMachine(m.Likelihood, simulationBatch)
	pair := places[:min(2, len(places))]
	whole := slices.Clone(pair)
	for i := range whole {
		whole[i].clipNorm = math.Inf(1)
	}
	const batches = fewestRecords / simulationBatch
	sums, g := mat.NewDense(m.P, batches, nil), mat.NewDense(simulationBatch, m.P, nil)
	shapes := []func(w float64) float64{
		func(w float64) float64 { e, _ := unlikeShape.At(w); return e },
		func(w float64) float64 { return w },
	}
	for i, shape := range shapes {
		rng := s.random()
		for batch := range batches {
			machine.Globals(mean, nil)
			machine.Records(simulate.WithErrors(m, mean, simulationBatch, s.law, rng, shape), m.Encoding.Width(), simulationBatch, nil)
			for k, places := range [][]place{pair, whole} {
				s.addClipped(g, machine, places)
				for at := range m.P {
					sums.Set(at, batch, sums.At(at, batch)+float64(1-2*i)*float64(1-2*k)*mat.Sum(g.ColView(at)))
				}
			}
		}
	}
	by, out := math.Sqrt(unlikeErrors)*float64(records)/simulationBatch, make([]float64, m.P)
	for at := range out {
		average, sd := stat.MeanStdDev(sums.RawRowView(at), nil)
		if !(math.Abs(average) < math.Inf(1)) {
			return nil
		}
		if math.Abs(average) > byChance*sd/math.Sqrt(batches) {
			out[at] = by * average
		}
	}
	return out
}

// byChance is the number of standard errors below which a mean over simulated records counts as 0.
const byChance = 4

// doubtErrors adds what errors of another shape would change to beyond, the noise's covariance
// among the coordinates free, and to the noise of the residual standard deviation. A sum of
// gradients moves the mean as in correctClipBias.
func (j *jointNormal) doubtErrors(post *Posterior, free []int, information, covariance, beyond *mat.SymDense, h []float64) {
	sum := j.ofUnlikeErrors(post.Mean, j.releases.settled(post.Mean, j.clipNorm, j.random()), j.records)
	if sum == nil {
		return
	}
	move := j.curvature.displacement(pick(sum, free), information, covariance)
	if move == nil {
		return
	}
	beyond.SymRankOne(beyond, 1, move)
	at := residualSD(j.model)
	if by := sum[at] / h[at]; isPositiveFinite(h[at]) {
		post.VarDP[at] += by * by
	}
}
