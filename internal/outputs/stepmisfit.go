package outputs

import (
	"d3p/internal/models/naming"
)

// likelyTails is the probability of long tails from which sigma rests on their shape.
const likelyTails = 0.5

// besideSteps is the verdict on a variable by what the gradients of a fit by second moments miss by
// the model. Clipping hides a few records far out, but steps of two clip norms then contradict each
// other. Of 10,000 records of which 1 % are far out in two predictors and 2 % in the response (epsilon
// 3), sigma was half of its value, and an intercept 28 standard deviations off.
func (d *Draws) besideSteps(variable string) Verdict {
	if d.misfit == nil {
		return Verdict{Value: Resolved}
	}
	name, _ := naming.OnScale(variable)
	switch limit := mostSquares(float64(d.steps)); {
	case d.misfit.Coefficients > limit:
		return Verdict{Not, "released gradients are not those of a line with the same errors everywhere: a few records may be far out, or the relation is a curve"}
	case d.misfit.Sigma > limit && name == naming.Sigma:
		return Verdict{Not, "errors have longer tails than the fit allows for: choose the family student_t"}
	case name == naming.Sigma && d.misfit.LongTails > likelyTails:
		return Verdict{Partly, "errors have longer tails than the normal's: sigma is that of one of seven shapes"}
	case d.misfit.Sigma > limit:
		return Verdict{Partly, "sigma is not resolved, on which the interval rests: errors have longer tails than the fit allows for"}
	}
	return Verdict{Value: Resolved}
}
