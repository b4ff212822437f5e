package verdict

import (
	"math"
	"slices"
	"strings"

	"d3p/internal/models"
	"d3p/internal/models/encoding"
	"d3p/internal/models/law"
	"d3p/internal/outputs"
)

// A direction of the normal scores of levels with less variance than sameLevels is no
// direction: the bought correlations allow none. A column takes part in it from partOfSame on.
// A correlation whose noise is above vague is not known where it may be 1.
const sameLevels, partOfSame, vague = 0.02, 0.3, 0.1

// collinear finds predictors that may follow from others, by the bought law l: a verdict on
// the coefficients of each such column, by its name. Simulated records have independent parts
// of such columns, which the records may not have, and then intervals are too narrow.
func collinear(m *models.Model, l *law.Law) map[string]outputs.Verdict {
	found := map[string]outputs.Verdict{}
	note := func(column, value, format string, args ...any) {
		found[column] = worse(found[column], value, format, args...)
	}
	predictors := predictorsOf(m)
	name := func(i int) string { return l.Columns[i].Name }
	isKnown := func(w law.Within) bool { // simulated records have the column by group as it is
		return slices.ContainsFunc(l.Groups, func(g law.Within) bool { return g.Column == w.Column && g.Category == w.Category })
	}
	for _, w := range l.Within {
		if !predictors[w.Column] || !predictors[w.Category] || isKnown(w) {
			continue
		}
		if explained, sd := explainedBy(l, w); explained > 1-2*sd && explained > 2*sd {
			for _, i := range []int{w.Column, w.Category} {
				note(name(i), outputs.Not, "%s may follow from %s, which explains %.0f ± %.0f %% of it: %s", name(w.Column), name(w.Category), 100*min(explained, 1), 100*sd, remedy(m, name(w.Category)))
			}
		}
	}
	if l.Correlation == nil {
		return found
	}
	var levels []int
	for i, c := range m.Spec.Data.AllColumns() {
		indicator := !c.Numeric() || c.Whole() && c.Upper.V-c.Lower.V <= 1
		if predictors[i] && indicator && !slices.Contains(l.Coded, i) {
			levels = append(levels, i)
		}
		for j := range i {
			rho, sd := l.Correlation[i*len(l.Columns)+j], l.CorrelationSD[i*len(l.Columns)+j]
			if predictors[i] && predictors[j] && sd > vague && math.Abs(rho)+sd > 1 && !(l.LooksCloser(i) && l.LooksCloser(j)) {
				note(name(i), outputs.Partly, "its correlation with %s is known as %.2f ± %.2f only", name(j), rho, sd)
				note(name(j), outputs.Partly, "its correlation with %s is known as %.2f ± %.2f only", name(i), rho, sd)
			}
		}
	}
	noteOwnParts(l, predictors, note)
	if value, part := l.Narrowest(levels); value < sameLevels {
		var same []string
		for k, i := range levels {
			if math.Abs(part[k]) > partOfSame {
				same = append(same, name(i))
			}
		}
		for _, column := range same {
			note(column, outputs.Not, "%s may follow from each other: leave one out", strings.Join(same, ", "))
		}
	}
	return found
}

// A predictor may follow from the others if they leave it less than mostOwn of its variance, and less
// than one standard deviation of the noise of that. It is not told from them if they leave less than
// littleOwn, and less than half of one.
const mostOwn, littleOwn = 0.5, 0.2

// noteOwnParts notes predictors that may follow from all others together. Of 5000 records, epsilon 3, with
// tot = x + s, a coefficient without privacy ± 3.2 was 4.4 ± 1.0.
func noteOwnParts(l *law.Law, predictors []bool, note func(column, value, format string, args ...any)) {
	var of []int
	for i, is := range predictors {
		if is && !slices.Contains(l.Coded, i) {
			of = append(of, i)
		}
	}
	parts, sd := l.OwnParts(of)
	for k, part := range parts {
		if !(part < min(mostOwn, sd[k])) {
			continue
		}
		value := outputs.Partly
		if part < min(littleOwn, sd[k]/2) {
			value = outputs.Not
		}
		name := l.Columns[of[k]].Name
		note(name, value, "%s may follow from the other predictors, which leave it %.2f ± %.2f of its variance: leave one out", name, part, sd[k])
	}
}

// remedy is what to do about a column that follows from a category.
func remedy(m *models.Model, category string) string {
	if f := m.Spec.Model; f != nil {
		for _, g := range f.Terms.Groups {
			if g.Group.V == category {
				return "declare constant_within: " + category + " if all records of one have the same value, else leave one out"
			}
		}
	}
	return "leave one out"
}

// predictorsOf reports for each column of the data whether it is a predictor.
func predictorsOf(m *models.Model) []bool {
	var is []bool
	fields := m.Encoding.Predictors().Columns()
	for _, c := range m.Spec.Data.AllColumns() {
		is = append(is, slices.ContainsFunc(fields, func(f encoding.Field) bool { return f.Column == c.HeaderName() }))
	}
	return is
}

// explainedBy is the share of the variance of a normal score that levels explain, and the
// standard deviation of its noise.
func explainedBy(l *law.Law, w law.Within) (share, sd float64) {
	for k, part := range l.Columns[w.Category].Shares {
		square, noise := w.Mean[k]*w.Mean[k], w.SD[k]*w.SD[k]
		share += part * (square - noise)
		sd += part * part * (4*square*noise + 2*noise*noise)
	}
	return share, math.Sqrt(sd)
}
