package report

import (
	"d3p/internal/models"
	"d3p/internal/outputs"
)

// Known is what is known of the records of a private fit of m beside the fit.
func Known(m *models.Model, records int) outputs.Known {
	return outputs.Known{Declared: float64(records), Assumed: hasPredictors(m)}
}

// hasPredictors reports whether a formula has predictors, whose spread matters to
// what the fit can tell.
func hasPredictors(m *models.Model) bool {
	if m.Spec.Model == nil {
		return false
	}
	columns := map[string]bool{}
	for _, f := range m.Encoding.Fields {
		columns[f.Column] = true
	}
	return len(columns) > 1
}

// Judge sets the verdict of every variable, if the run is a private fit of m.
func (r *Run) Judge(m *models.Model) {
	if r.Plan.Private {
		r.Judged(m)
		r.Draws.Judge(m, r.Prior, r.Trace, r.known)
	}
}

// Judged is Judge where the draws have their verdicts.
func (r *Run) Judged(m *models.Model) { r.known = Known(m, r.Plan.Records) }

// Whole is the verdict about the whole fit; nil if nothing was judged.
func (r *Run) Whole() *outputs.Verdict { return r.utility().Whole }
