package outputs

import (
	"math"
	"strings"

	"d3p/internal/models/naming"
)

// WithoutRepetitions leaves repetitions out of a readable table: standardised effects of
// groups z_NAME if the effects r_NAME are there, Cholesky factors L_NAME of the correlations
// cor_NAME, coefficients in the units of the data file, and constants 0 or 1. summary.csv has every row.
func WithoutRepetitions(rows []Summary) []Summary {
	has := map[string]bool{}
	for _, r := range rows {
		name, _ := naming.Split(r.Variable)
		has[name] = true
	}
	var kept []Summary
	for _, r := range rows {
		if name, _ := naming.Split(r.Variable); !repeats(name, has) && !r.Fixed() {
			kept = append(kept, r)
		}
	}
	return kept
}

// InFileUnits replaces variables on the declared scale, b[age], by those in the unit of
// the data file, b_raw[age], and reports whether there was any.
func InFileUnits(rows []Summary) (kept []Summary, any bool) {
	raw := map[string]Summary{} // by the variable that it replaces
	for _, r := range rows {
		name, _ := naming.Split(r.Variable)
		if parameter, ok := naming.OnScale(name); ok {
			raw[parameter+strings.TrimPrefix(r.Variable, name)] = r
		}
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if in, ok := raw[r.Variable]; ok {
			r, any = in, true
		}
		if !seen[r.Variable] { // otherwise it stood in its own place before
			kept = append(kept, r)
		}
		seen[r.Variable] = true
	}
	return kept, any
}

// repeats reports whether a variable repeats another one of has.
func repeats(name string, has map[string]bool) bool {
	if group, ok := naming.GroupOf(name); ok && naming.IsStandardised(name) {
		return has[naming.Effects(group)] || has[naming.Raw(naming.Effects(group))]
	}
	if group, ok := naming.CholeskyOf(name); ok && has[naming.Correlations(group)] {
		return true
	}
	parameter, ok := naming.OnScale(name)
	return ok && has[parameter]
}

// Fixed reports whether all draws are 0, or 1 up to rounding, as half of a Cholesky
// factor's elements are. A point of a delta guide is another number.
func (s *Summary) Fixed() bool {
	return s.SD <= 1e-9*math.Abs(s.Mean) && (s.Mean == 0 || math.Abs(s.Mean-1) <= 1e-9)
}
