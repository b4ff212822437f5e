package verdict

import (
	"d3p/internal/models/naming"
	"d3p/internal/outputs"
)

// rare is the normal quantile of a misfit of coefficients that chance explains in 1 of 100 fits.
const rare = 2.33

// If long tails are more probable than likelyTails, sigma rests on their shape.
const likelyTails = 0.5

// besideSteps is the verdict on a variable by what the gradients of a fit by second moments miss by
// the model. Clipping hides a few records far out, but steps of two clip norms then contradict each
// other. In a table of 10,000 records (epsilon 3), 1 % were far out in two predictors and 2 % in the
// response: sigma was half of its value, and an intercept 28 standard deviations off.
func (d *judged) besideSteps(variable string) outputs.Verdict {
	if d.StepMisfit == nil {
		return outputs.Verdict{Value: outputs.Resolved}
	}
	curve := "released gradients are not those of a line with the same errors everywhere: records may be far out or moved to the bounds, or the relation is a curve"
	if d.known.Pile != "" {
		curve = "released gradients are not those of a line with the same errors everywhere: " + d.known.Advice
	}
	name, _ := naming.OnScale(variable)
	switch limit := mostSquares(float64(d.Steps), unlikely); {
	case d.StepMisfit.Coefficients > limit:
		return outputs.Verdict{Value: outputs.Not, Why: curve}
	case d.StepMisfit.Sigma > limit && name == naming.Sigma:
		return outputs.Verdict{Value: outputs.Not, Why: "errors have longer tails than the fit allows for: choose the family student_t"}
	case name == naming.Sigma && d.StepMisfit.LongTails > likelyTails:
		return outputs.Verdict{Value: outputs.Partly, Why: "errors have longer tails than the normal's: sigma is that of one of seven shapes"}
	case d.StepMisfit.Coefficients > mostSquares(float64(d.Steps), rare):
		return outputs.Verdict{Value: outputs.Partly, Why: curve}
	case d.StepMisfit.Sigma > limit:
		return outputs.Verdict{Value: outputs.Partly, Why: "sigma is not resolved, on which the interval rests: errors have longer tails than the fit allows for"}
	}
	return outputs.Verdict{Value: outputs.Resolved}
}
