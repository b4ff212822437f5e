package report

import (
	"fmt"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/outputs"
	"d3p/internal/table1"
	"d3p/internal/verdict"
)

// Known is the released information about the records of a private fit of m besides the
// fit: the declared number of records, whether the fit was ended early, and Table 1, if
// bought.
func Known(m *models.Model, n Neighbours, ran Mechanism, bought []table1.Row) verdict.Known {
	known := verdict.ByTable1(m, bought)
	known.Declared, known.Units = float64(n.NPublic), verdict.OfRows(m, ran.DesignEffects)
	if ran.DesignEffects.Known() {
		known.OpenRows = ran.DesignEffects.Open
	}
	known.Steps = ran.Iterations
	if early := ran.Planned; early != nil && 2*ran.Iterations < early.Iterations {
		known.Unfinished = fmt.Sprintf("the fit was ended after %d of %d steps", ran.Iterations, early.Iterations)
	}
	switch plan.Single(ran.Clip.Mode) {
	case "draw":
		known.Unfinished = "one draw of the posterior has no interval"
	case "estimate":
		known.Unfinished = "an estimate without a posterior has no interval"
	}
	return known
}

// ExpectedUnmeasured is the unmeasured part of the predictors' spread after a private fit by a
// plan; empty if Table 1 measures all.
func ExpectedUnmeasured(m *models.Model, p *plan.Plan) string {
	if !p.Private {
		return ""
	}
	return verdict.Unmeasured(m, p.Purchase != nil, p.Purchase != nil && p.Purchase.Correlates())
}

// Judge sets the verdict of every variable, if the run is a private fit of m.
func (r *Run) Judge(m *models.Model) {
	if !r.Plan.Private {
		return
	}
	var bought []table1.Row
	if r.Plan.Bought != nil {
		bought = table1.Rows(r.Plan.Bought, &m.Spec.Data)
	}
	r.known = Judge(m, &r.Draws, r.Prior, r.Trace, r.neighbours(), r.mechanism(), bought)
	r.rows = nil
}

// Judge sets the verdict of every variable of draws of a private fit of m; bought is Table 1.
func Judge(m *models.Model, draws, prior *outputs.Draws, trace *outputs.Trace, n Neighbours, ran Mechanism, bought []table1.Row) verdict.Known {
	known := Known(m, n, ran, bought)
	if ran.Clip.Mode == plan.ClippingByMoments { // its steps are one estimate each, not an approach
		trace = nil
	}
	known.Check(m, draws, ran.Surprisals, bought)
	verdict.Judge(m, draws, prior, trace, known)
	return known
}

// Judged is Judge for draws that have verdicts.
func (r *Run) Judged(m *models.Model, bought []table1.Row) {
	r.known = Known(m, r.neighbours(), r.mechanism(), bought)
}

// Whole is the verdict about the whole fit; nil without verdicts.
func (r *Run) Whole() *outputs.Verdict { return r.utility().Whole }
