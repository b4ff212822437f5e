package posterior

import (
	"math"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/formula"
	"d3p/internal/simd"
)

// designEffects has the design effect of each parameter, shape (P): the variance of a sum of gradients over
// that of independent rows. It is above 1 where the rows of a unit are alike. nil stands for 1 everywhere:
// units have one row.
type designEffects []float64

// designEffectsOf returns the design effects that a fit by p bought.
func designEffectsOf(p *plan.Plan) (of designEffects) {
	if !p.DesignEffects.Known() {
		return nil
	}
	for _, e := range p.DesignEffects.Effects {
		of = append(of, e.Value)
	}
	return of
}

// in is the design effect of coordinate j.
func (of designEffects) in(j int) float64 {
	if of == nil {
		return 1
	}
	return of[j]
}

// among are those of the coordinates index.
func (of designEffects) among(index []int) designEffects {
	if of == nil {
		return nil
	}
	return pick(of, index)
}

// along is the mean design effect along a direction (P).
func (of designEffects) along(direction []float64) float64 {
	sum := 0.0
	for j, x := range direction {
		sum += x * x * of.in(j)
	}
	return sum / simd.Dot(direction, direction)
}

// lawRatios are the logs of the records' information over that of simulated records, and the standard deviations of what
// is not known of them, both of shape (P); nil where they are not bought. The columns' law is wrong by as much.
type lawRatios struct{ logs, sd []float64 }

// lawRatiosOf are those that a fit by p bought with the design effects. Squares of a normal response contain how far the
// residual standard deviation was from the truth where they were bought; so do those of the level, which no column decides.
func lawRatiosOf(p *plan.Plan) (of lawRatios) {
	if !p.DesignEffects.Known() {
		return of
	}
	open, deviation := spreadMeasured, 0.0
	if tiesVariance(p.Model()) {
		open = ratioSpread
	}
	if at := levelOf(p.Model()); at >= 0 && residualSD(p.Model()) >= 0 {
		deviation = math.Log(p.DesignEffects.Effects[at].Information)
	}
	for _, e := range p.DesignEffects.Effects {
		variance := e.InformationSD * e.InformationSD
		part := spreadWrong * spreadWrong / (spreadWrong*spreadWrong + variance) // hardly measured: the law's
		of.logs, of.sd = append(of.logs, part*(math.Log(e.Information)-deviation)), append(of.sd, math.Sqrt(part*variance+open*open))
	}
	return of
}

// log is that of coordinate j, 0 where it is not bought.
func (of lawRatios) log(j int) float64 {
	if of.logs == nil {
		return 0
	}
	return of.logs[j]
}

// spread is the standard deviation of what is not known of that of coordinate j, given where it is not bought.
func (of lawRatios) spread(j int, given float64) float64 {
	if of.logs == nil {
		return given
	}
	return of.sd[j]
}

// spreadMeasured is what measured information leaves open, a standard deviation of its log.
const spreadMeasured = 0.05

// tiesVariance reports whether the family of m ties the variance of the response, which can be another, to its mean:
// counts that vary more have larger squares, but no more information.
func tiesVariance(m *models.Model) bool {
	if m.Spec.Model == nil {
		return false
	}
	name := formula.FamilyOf(m.Spec.Model.Family.V).Name
	return name == "poisson" || name == "binomial"
}

// informations are the informations (P) of simulated records brought to those of the records.
func (of lawRatios) informations(simulated []float64) []float64 {
	for j := range simulated {
		simulated[j] *= math.Exp(of.log(j))
	}
	return simulated
}
