// Package naming has the names of the parameters and quantities that a formula becomes.
// The formula writes them; reports and verdicts recognise them.
package naming

import "strings"

const (
	Intercept  = "Intercept"
	Slopes     = "b"          // the coefficients of the columns
	Thresholds = "thresholds" // of an ordered response, instead of an intercept
	Baseline   = "baseline"   // log rates of pieces of time, instead of an intercept
	Sigma      = "sigma"      // the standard deviation of the response
	Freedom    = "nu"         // the degrees of freedom of Student's t
	Predictor  = "eta"        // the linear predictor of one record
)

const (
	raw          = "_raw"
	effects      = "r_"
	standardised = "z_"
	spread       = "sd_"
	correlations = "cor_"
	cholesky     = "L_"
	curve        = "s_"
)

// Raw is the name of a quantity in the unit of the data file.
func Raw(name string) string { return name + raw }

// OnScale is the parameter that a quantity in the unit of the data file repeats; ok is
// false for another name.
func OnScale(name string) (parameter string, ok bool) { return strings.CutSuffix(name, raw) }

// Effects is the name of the effects of a group.
func Effects(group string) string { return effects + group }

// Standardised is the name of the effects of a group in units of their spread.
func Standardised(group string) string { return standardised + group }

// Spread is the name of the standard deviations of a group's effects.
func Spread(group string) string { return spread + group }

// Correlations is the name of the correlations of a group's effects.
func Correlations(group string) string { return correlations + group }

// Cholesky is the name of the Cholesky factor of the correlations of a group's effects.
func Cholesky(group string) string { return cholesky + group }

// CholeskyOf is the group of a Cholesky factor with this name.
func CholeskyOf(name string) (group string, ok bool) { return strings.CutPrefix(name, cholesky) }

// GroupOf is the group of effects with this name, standardised or not.
func GroupOf(name string) (group string, ok bool) {
	if group, ok = strings.CutPrefix(name, effects); ok {
		return group, true
	}
	return strings.CutPrefix(name, standardised)
}

// IsStandardised reports whether a name is the name of standardised effects.
func IsStandardised(name string) bool { return strings.HasPrefix(name, standardised) }

// IsSpread reports whether a name is the name of the standard deviations of a group's
// effects.
func IsSpread(name string) bool {
	_, ok := SpreadOf(name)
	return ok
}

// SpreadOf is the group of standard deviations with this name.
func SpreadOf(name string) (group string, ok bool) { return strings.CutPrefix(name, spread) }

// Curve is the name of the coefficients of a curve in a number.
func Curve(number string) string { return curve + number }

// CurveOf is the number that coefficients with this name are a curve in; empty for others.
func CurveOf(name string) string {
	number, ok := strings.CutPrefix(name, curve)
	if !ok {
		return ""
	}
	return number
}

// Split takes a variable b[age] apart into the name and the element.
func Split(variable string) (name, element string) {
	name, element, _ = strings.Cut(strings.TrimSuffix(variable, "]"), "[")
	return name, element
}
