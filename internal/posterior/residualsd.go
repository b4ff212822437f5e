package posterior

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"d3p/internal/models"
	"d3p/internal/models/formula"
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
// coordinates free. The fit's own, e^s, contains what the coefficients miss:
//
//	e²ˢ = σ² + q,  q = e²ˢ Δᵀ(H/N)Δ,
//
// H the likelihood's information. q is a gamma variable with the mean and the variance of that
// quadratic form (Satterthwaite 1946), and s is known with the variance that post has for it. So
//
//	p(t) ∝ prior(t) ∫ p(q = e²ᵘ − e²ᵗ) 2e²ᵘ L(u) du,  t = log σ, u = s,
//
// where the likelihood L is the posterior of s over its prior.
func (j *jointNormal) separateResidual(post *Posterior, free []int, information, beyond *mat.SymDense) {
	at := residualSD(j.model)
	if at < 0 {
		return
	}
	own := math.Exp(2*post.LogSD[at]) + post.VarDP[at]
	var form, square mat.Dense
	form.Mul(information, beyond)
	square.Mul(&form, &form)
	mean, variance := mat.Trace(&form)/float64(j.records), 2*mat.Trace(&square)/math.Pow(float64(j.records), 2)
	sd := math.Sqrt(own)
	if !(mean/2 > leastExcess*sd) || !isPositive(variance) || !isPositive(own) {
		return
	}
	q := distuv.Gamma{Alpha: mean * mean / variance, Beta: mean / variance}
	theta := append([]float64(nil), post.Mean...)
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
	if math.IsNaN(shift) || !isPositive(total) {
		return
	}
	post.Mean[at] += shift
	exact := math.Min(math.Exp(2*post.LogSD[at]), total)
	post.LogSD[at], post.VarDP[at] = math.Log(exact)/2, total-exact
}
