package twin

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/models/data"
	"d3p/internal/models/support"
)

// Family is the distribution of a twin's column within a component.
type Family struct {
	Name  string
	types []string // of the column
	// observe is the distribution as an expression; {argument} is a placeholder for the
	// parameter.
	observe string
	Args    []Argument
	// needs describes the required bounds, "" for any.
	needs string
	fits  func(lower, upper float64) bool
}

// Argument is a parameter that every component has its own of.
type Argument struct {
	Name string
	// prior is the default, for a column with the declared middle m in the unit of the
	// file: {rate} is a placeholder for 2/m and {log} for log m.
	Prior   string
	dim     extent
	support support.Kind // of its values
}

// extent is a parameter's dim besides the component.
type extent int

const (
	noDim    extent = iota
	levelDim        // the levels of the column
	cutDim          // the cutpoints between them
)

// perLevel are the types with levels.
var perLevel = []string{data.Binary, data.Category, data.Ordinal}

func nonNegative(lower, _ float64) bool { return lower >= 0 }

func positive(lower, _ float64) bool { return lower > 0 }

func inUnit(lower, upper float64) bool { return lower > 0 && upper < 1 }

// families is the table of column families. A new one is one entry here. Families on the
// whole line read a number on its declared scale, the others in the unit of the file.
func families() []Family {
	loc, scale := Argument{Name: "loc", Prior: "normal(0, 1)"}, Argument{Name: "scale", Prior: "log_normal(-1, 1)", support: support.Positive}
	rate, mean := Argument{Name: "rate", Prior: "gamma(2, {rate})", support: support.Positive}, Argument{Name: "mean", Prior: "gamma(2, {rate})", support: support.Positive}
	phi, shape := Argument{Name: "phi", Prior: "gamma(2, 0.1)", support: support.Positive}, Argument{Name: "shape", Prior: "gamma(2, 0.1)", support: support.Positive}
	zi := Argument{Name: "zi", Prior: "beta(1, 1)", support: support.UnitInterval}
	const counts, above, between = "a lower bound of at least 0", "a lower bound above 0", "bounds strictly between 0 and 1"
	return []Family{
		{Name: "normal", types: data.Numeric, observe: "normal({loc}, {scale})", Args: []Argument{loc, scale}},
		{Name: "student_t", types: data.Numeric, observe: "student_t({df}, {loc}, {scale})",
			Args: []Argument{{Name: "df", Prior: "gamma(2, 0.1)", support: support.Positive}, loc, scale}},
		{Name: "laplace", types: data.Numeric, observe: "laplace({loc}, {scale})", Args: []Argument{loc, scale}},
		{Name: "poisson", types: []string{data.Integer}, needs: counts, fits: nonNegative, observe: "poisson({rate})", Args: []Argument{rate}},
		{Name: "negative_binomial", types: []string{data.Integer}, needs: counts, fits: nonNegative,
			observe: "negative_binomial({mean}, {phi})", Args: []Argument{mean, phi}},
		{Name: "zero_inflated_poisson", types: []string{data.Integer}, needs: counts, fits: nonNegative,
			observe: "zero_inflated_poisson(rate={rate}, zi={zi})", Args: []Argument{rate, zi}},
		{Name: "zero_inflated_negative_binomial", types: []string{data.Integer}, needs: counts, fits: nonNegative,
			observe: "zero_inflated_negative_binomial(mean={mean}, phi={phi}, zi={zi})", Args: []Argument{mean, phi, zi}},
		{Name: "gamma", types: data.Numeric, needs: above, fits: positive, observe: "gamma({shape}, {shape} / {mean})", Args: []Argument{mean, shape}},
		{Name: "exponential", types: data.Numeric, needs: above, fits: positive, observe: "exponential(1 / {mean})", Args: []Argument{mean}},
		{Name: "weibull", types: data.Numeric, needs: above, fits: positive, observe: "weibull({shape}, {scale})",
			Args: []Argument{{Name: "scale", Prior: "gamma(2, {rate})", support: support.Positive}, {Name: "shape", Prior: "log_normal(0, 0.5)", support: support.Positive}}},
		{Name: "log_normal", types: data.Numeric, needs: above, fits: positive, observe: "log_normal({loc}, {scale})",
			Args: []Argument{{Name: "loc", Prior: "normal({log}, 1)"}, scale}},
		{Name: "beta", types: []string{data.Real}, needs: between, fits: inUnit, observe: "beta(mean={mean}, kappa={kappa})",
			Args: []Argument{{Name: "mean", Prior: "beta(1, 1)", support: support.UnitInterval}, {Name: "kappa", Prior: "gamma(2, 0.1)", support: support.Positive}}},
		{Name: "bernoulli", types: []string{data.Binary}, observe: "bernoulli({probs})", Args: []Argument{{Name: "probs", Prior: "beta(1, 1)", support: support.UnitInterval}}},
		{Name: "categorical", types: perLevel, observe: "categorical({probs})",
			Args: []Argument{{Name: "probs", Prior: "dirichlet(1)", dim: levelDim, support: support.Simplex}}},
		{Name: "ordered_logistic", types: []string{data.Ordinal, data.Binary}, observe: "ordered_logistic(0, {cutpoints})",
			Args: []Argument{{Name: "cutpoints", Prior: "ordered_normal(0, 2)", dim: cutDim, support: support.Ordered}}},
	}
}

// Missing is the probability that a value is missing; twinify's NAModel.
var Missing = Argument{Name: "na", Prior: "beta(1, 9)", support: support.UnitInterval}

// Weights is the probabilities of the components. Few components serve
// the table with this prior, the others stay empty: Rousseau and Mengersen 2011,
// JRSS B 73(5).
var Weights = Argument{Name: "weights", Prior: "dirichlet(0.5)", support: support.Simplex}

// FamilyOf returns the family of that name, or nil.
func FamilyOf(name string) *Family {
	list := families()
	if i := slices.IndexFunc(list, func(f Family) bool { return f.Name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

// FamilyNames lists the families that a column of a twin may have.
func FamilyNames() []string {
	var names []string
	for _, f := range families() {
		names = append(names, f.Name)
	}
	return names
}

// Columns describes the columns that a family can describe.
func (f Family) Columns() string {
	text := strings.Join(f.types, ", ")
	if f.needs != "" {
		text += " with " + f.needs
	}
	return text
}

// Families lists the families of columns.
func Families() []Family { return families() }

// defaultFamily is the family of a column without a stated family.
func defaultFamily(c *data.Column) string {
	switch c.Type.V {
	case data.Binary:
		return "bernoulli"
	case data.Category:
		return "categorical"
	case data.Ordinal:
		return "ordered_logistic"
	case data.Integer:
		if c.Lower.V >= 0 {
			return "negative_binomial"
		}
	}
	return "normal"
}

// defaultPrior is the prior of an argument for a column when none is stated: a
// positive mean is around the middle of the declared scale, from zero on.
func (a Argument) defaultPrior(c *data.Column) string {
	if !strings.Contains(a.Prior, "{") {
		return a.Prior
	}
	center, _ := c.Scale()
	middle := c.Untransformed(center)
	if !(middle > 0) {
		middle = (c.Lower.V + c.Upper.V) / 2
	}
	if !(middle > 0) { // invalid bounds, which are reported at their place
		middle = 1
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }
	return strings.NewReplacer("{rate}", number(2/middle), "{log}", number(math.Log(middle))).Replace(a.Prior)
}
