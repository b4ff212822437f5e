// Package verdict judges for each parameter of a private fit whether the fit resolved it, from released numbers alone.
// They tell where the iterates ended, what part of the posterior is prior and noise, and by Table 1 and the counts after
// the last step what the records are like.
package verdict

import (
	"fmt"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/naming"
	"d3p/internal/outputs"
)

// judged are draws, and what their verdicts follow from. Methods whose names begin with beside are verdicts on one variable;
// those with judge cap the verdicts of variables by each other.
type judged struct {
	*outputs.Draws
	prior *outputs.Draws // nil: not drawn
	known Known
	arrival
	blind bool // the posterior leaves the noise out
}

// Judge sets the verdict of every variable of draws of m. prior and trace may be nil.
func Judge(m *models.Model, draws, prior *outputs.Draws, trace *outputs.Trace, known Known) {
	if draws.S < 2 || len(draws.Variables) == 0 {
		return
	}
	if prior != nil && len(prior.Variables) != len(draws.Variables) {
		prior = nil
	}
	d := &judged{draws, prior, known, arrivalOf(m, draws, trace), leavesNoiseOut(draws, known)}
	everywhere := d.besideSurprisals()
	for v := range d.Variables {
		name := d.Variables[v].Name
		verdict := worst(outputs.Verdict{Value: outputs.Resolved},
			known.Weights,
			known.besideRecords(name, d.Variables),
			d.besidePrior(v), // before the noise: a posterior that is the prior has none
			d.besideNoInterval(v),
			d.besideEnd(v),
			d.besideSigma(name),
			d.besideNoise(v),
			known.Misfit,
			d.besideFarOut(name),
			everywhere,
			known.Units,
			d.besideSteps(name),
			known.besideColumns(name),
			known.besideAssumed(name))
		d.Variables[v].Verdict = &verdict
	}
	d.judgeRows(m, known.OpenRows)
	d.judgeBesideLone(m)
	d.judgeBesidePulled()
	d.judgeBesideTails()
	d.judgeWithin()
	missed := d.missed()
	d.judgeBesideMissed(missed)
	d.judgeCurves()
	d.judgeIntercepts()
	d.judgeEffects()
	d.judgeSpreads(missed)
	d.judgeSpreadsAtZero()
	d.judgeComponents()
}

// graded is the value that a number allows: partly above some, not above far.
func graded(x, some, far float64) string {
	switch {
	case x > far:
		return outputs.Not
	case x > some:
		return outputs.Partly
	}
	return outputs.Resolved
}

// worse is the graver of a verdict and another.
func worse(v outputs.Verdict, value, format string, args ...any) outputs.Verdict {
	if order(value) > order(v.Value) {
		return outputs.Verdict{Value: value, Why: fmt.Sprintf(format, args...)}
	}
	return v
}

// worst is the gravest of verdicts, the first of equal ones.
func worst(v outputs.Verdict, others ...outputs.Verdict) outputs.Verdict {
	for _, other := range others {
		v = worse(v, other.Value, "%s", other.Why)
	}
	return v
}

func order(value string) int {
	return slices.Index([]string{outputs.Resolved, outputs.Partly, outputs.Not}, value)
}

// cap makes the verdict of variable v no better than a value.
func (d *judged) cap(v int, value, format string, args ...any) {
	*d.Variables[v].Verdict = worse(*d.Variables[v].Verdict, value, format, args...)
}

// parameterOf is the parameter of a variable, of a raw one that on its declared scale.
func parameterOf(variable string) string {
	base, _ := naming.Split(variable)
	own, _ := naming.OnScale(base)
	return own
}

// isSigma reports whether a variable is the standard deviation of the errors.
func isSigma(variable string) bool { return parameterOf(variable) == naming.Sigma }

// isIntercept reports whether a variable is an intercept or what stands in its place, a threshold or a log hazard, in the
// unit of the file too.
func isIntercept(variable string) bool {
	return slices.Contains([]string{naming.Intercept, naming.Thresholds, naming.Baseline}, parameterOf(variable))
}
