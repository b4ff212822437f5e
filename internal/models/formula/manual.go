package formula

import (
	"slices"
	"strings"

	"d3p/internal/models/data"
)

// Description is a family in words, for the manual.
type Description struct {
	Names      []string // and aliases
	Response   string
	Links      []string // the first is the default
	Parameters []string // sigma: half_normal(1)
	Note       string
}

// Describe lists the families in words.
func Describe() (list []Description) {
	for _, f := range families {
		d := Description{Names: append([]string{f.Name}, f.aliases...), Response: f.response(), Links: f.LinkNames(), Note: f.note}
		for _, name := range BrmsNames() {
			if brms[name] == f.Name {
				d.Names = append(d.Names, name)
			}
		}
		for _, a := range f.aux {
			text := a.name + ": " + a.prior
			if a.brms != "" {
				text += " (brms: " + a.brms + ")"
			}
			d.Parameters = append(d.Parameters, text)
		}
		list = append(list, d)
	}
	return list
}

// response describes the family's response.
func (f *family) response() string {
	switch {
	case f.trials:
		return "an integer from 0 on, the successes in y | trials(n)"
	case f.counts:
		return "an integer from 0 on"
	case f.scaled:
		return "a number, on its declared scale"
	case f.Name == "beta":
		return "a number strictly between 0 and 1"
	case slices.Contains(f.types, data.Real):
		return "a number above 0"
	}
	return strings.Join(f.types, " or ")
}

// Syntax is a row of the manual of formulas: forms that mean the same kind of thing. Each
// form is a formula, or a sum of terms.
type Syntax struct {
	Forms   []string
	Meaning string
}

// Manual lists the forms of a formula.
func Manual() []Syntax {
	return []Syntax{
		{[]string{"1", "0", "x - 1"}, "with an intercept (the default), without one"},
		{[]string{"x"}, "a number or 0/1: one coefficient b[x]; a category: b[x=level] for each level but the reference; without an intercept the first category has one for each level"},
		{[]string{"a:b", "a * b", "a / b"}, "products; a * b is a + b + a:b, a / b is a + a:b; as in R, a category has all its levels in a product whose other factors are no term"},
		{[]string{"(a + b)^2", "a * b - a:b"}, "all products of up to two terms; the sum without a term; repeated terms count once"},
		{[]string{"log(x)", "I(x^2)", "cut(x, 40, 60)"}, "an expression of columns, as under derive: in the unit of the file; scale(x) is x"},
		{[]string{"."}, "every other declared column"},
		{[]string{"(1 | g)"}, "an intercept for every level of the category g: r_g[level,Intercept], with standard deviation sd_g[Intercept]"},
		{[]string{"(1 | a:b)", "(1 | a/b)"}, "an intercept for every pair of levels, the group a_by_b; (1 | a/b) is (1 | a) + (1 | a:b)"},
		{[]string{"(1 + x | g)", "(1 + x || g)"}, "an intercept and a slope for every level, correlated (cor_g) or not"},
		{[]string{"poly(x, 2)"}, "a curve of up to degree 9 on the declared scale, x included; coefficients s_x[1], s_x[2]; in a product, poly(x, 2):z, it is x and I(x^2)"},
		{[]string{"spline(x, 30, 50, 70)"}, "a natural cubic spline with n >= 3 knots, in the unit of the file (transformed if the column is), linear beyond them; n - 1 coefficients s_x"},
		{[]string{"offset(log(years))"}, "an expression, in the unit of the file, added to the linear predictor"},
		{[]string{"surv(time, event) ~ x"}, "a time that is known if the binary column event is 1, else right-censored; for families of numbers and counts"},
		{[]string{"surv(entry, time, event) ~ x"}, "the same for records that are in the table only because they got past their entry (left truncation); predictions are about what follows the entry"},
		{[]string{"y | trunc(lb = 1, ub = 9) ~ x"}, "a response whose values in the table are all between the bounds, in the unit of the file; for families with a distribution function"},
		{[]string{"y | trials(n) ~ x", "y | trials(10) ~ x"}, "the number of successes in n trials, a column or a number; for binomial and beta_binomial"},
		{[]string{"y == 'level' ~ x", "y > 0 ~ x"}, "whether a column compares so with a constant; for bernoulli"},
	}
}
