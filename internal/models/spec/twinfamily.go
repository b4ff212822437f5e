package spec

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/models/dist"
)

// twinFamily is how a column of a twin is distributed within a component.
type twinFamily struct {
	name  string
	types []string // of the column
	// observe is the distribution as an expression; {argument} stands for the
	// parameter.
	observe string
	args    []twinArgument
	// needs says in words what the declared bounds must be, "" for nothing.
	needs string
	fits  func(lower, upper float64) bool
}

// twinArgument is a parameter that every component has its own of.
type twinArgument struct {
	name string
	// prior is the default, for a column whose declared middle, in the unit of
	// the file, is m: {rate} stands for 2/m and {log} for log m.
	prior   string
	dim     twinDim
	support dist.Kind // of its values
}

// twinDim is the dim that a parameter has beside the component.
type twinDim int

const (
	noDim    twinDim = iota
	levelDim         // the levels of the column
	cutDim           // the cutpoints between them
)

// perLevel are the types with levels.
var perLevel = []string{Binary, Category, Ordinal}

func nonNegative(lower, _ float64) bool { return lower >= 0 }
func positive(lower, _ float64) bool    { return lower > 0 }
func inUnit(lower, upper float64) bool  { return lower > 0 && upper < 1 }

// twinFamilies is the table of column families; a new one is one entry here.
// Families on the whole line see a number on its declared scale, the others as
// it is in the file.
func twinFamilies() []twinFamily {
	loc, scale := twinArgument{name: "loc", prior: "normal(0, 1)"}, twinArgument{name: "scale", prior: "log_normal(-1, 1)", support: dist.Positive}
	rate, mean := twinArgument{name: "rate", prior: "gamma(2, {rate})", support: dist.Positive}, twinArgument{name: "mean", prior: "gamma(2, {rate})", support: dist.Positive}
	phi, shape := twinArgument{name: "phi", prior: "gamma(2, 0.1)", support: dist.Positive}, twinArgument{name: "shape", prior: "gamma(2, 0.1)", support: dist.Positive}
	zi := twinArgument{name: "zi", prior: "beta(1, 1)", support: dist.UnitInterval}
	const counts, above, between = "a lower bound of at least 0", "a lower bound above 0", "bounds strictly between 0 and 1"
	return []twinFamily{
		{name: "normal", types: numeric, observe: "normal({loc}, {scale})", args: []twinArgument{loc, scale}},
		{name: "student_t", types: numeric, observe: "student_t({df}, {loc}, {scale})",
			args: []twinArgument{{name: "df", prior: "gamma(2, 0.1)", support: dist.Positive}, loc, scale}},
		{name: "laplace", types: numeric, observe: "laplace({loc}, {scale})", args: []twinArgument{loc, scale}},
		{name: "poisson", types: []string{Integer}, needs: counts, fits: nonNegative, observe: "poisson({rate})", args: []twinArgument{rate}},
		{name: "negative_binomial", types: []string{Integer}, needs: counts, fits: nonNegative,
			observe: "negative_binomial({mean}, {phi})", args: []twinArgument{mean, phi}},
		{name: "zero_inflated_poisson", types: []string{Integer}, needs: counts, fits: nonNegative,
			observe: "zero_inflated_poisson(rate={rate}, zi={zi})", args: []twinArgument{rate, zi}},
		{name: "zero_inflated_negative_binomial", types: []string{Integer}, needs: counts, fits: nonNegative,
			observe: "zero_inflated_negative_binomial(mean={mean}, phi={phi}, zi={zi})", args: []twinArgument{mean, phi, zi}},
		{name: "gamma", types: numeric, needs: above, fits: positive, observe: "gamma({shape}, {shape} / {mean})", args: []twinArgument{mean, shape}},
		{name: "exponential", types: numeric, needs: above, fits: positive, observe: "exponential(1 / {mean})", args: []twinArgument{mean}},
		{name: "weibull", types: numeric, needs: above, fits: positive, observe: "weibull({shape}, {scale})",
			args: []twinArgument{{name: "scale", prior: "gamma(2, {rate})", support: dist.Positive}, {name: "shape", prior: "log_normal(0, 0.5)", support: dist.Positive}}},
		{name: "log_normal", types: numeric, needs: above, fits: positive, observe: "log_normal({loc}, {scale})",
			args: []twinArgument{{name: "loc", prior: "normal({log}, 1)"}, scale}},
		{name: "beta", types: []string{Real}, needs: between, fits: inUnit, observe: "beta(mean={mean}, kappa={kappa})",
			args: []twinArgument{{name: "mean", prior: "beta(1, 1)", support: dist.UnitInterval}, {name: "kappa", prior: "gamma(2, 0.1)", support: dist.Positive}}},
		{name: "bernoulli", types: []string{Binary}, observe: "bernoulli({probs})", args: []twinArgument{{name: "probs", prior: "beta(1, 1)", support: dist.UnitInterval}}},
		{name: "categorical", types: perLevel, observe: "categorical({probs})",
			args: []twinArgument{{name: "probs", prior: "dirichlet(1)", dim: levelDim, support: dist.Simplex}}},
		{name: "ordered_logistic", types: []string{Ordinal, Binary}, observe: "ordered_logistic(0, {cutpoints})",
			args: []twinArgument{{name: "cutpoints", prior: "ordered_normal(0, 2)", dim: cutDim, support: dist.Ordered}}},
	}
}

// naArgument is the probability that a value is missing; twinify's NAModel.
var naArgument = twinArgument{name: "na", prior: "beta(1, 9)", support: dist.UnitInterval}

// weightsArgument is the probabilities of the components. Few components serve
// the table with this prior, the others stay empty: Rousseau and Mengersen 2011,
// JRSS B 73(5).
var weightsArgument = twinArgument{name: "weights", prior: "dirichlet(0.5)", support: dist.Simplex}

// twinFamilyOf returns the family of that name, or nil.
func twinFamilyOf(name string) *twinFamily {
	list := twinFamilies()
	if i := slices.IndexFunc(list, func(f twinFamily) bool { return f.name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

// TwinFamilyNames lists the families that a column of a twin may have.
func TwinFamilyNames() []string {
	var names []string
	for _, f := range twinFamilies() {
		names = append(names, f.name)
	}
	return names
}

// defaultTwinFamily is the family of a column for which the twin states none.
func defaultTwinFamily(c *Column) string {
	switch c.Type.V {
	case Binary:
		return "bernoulli"
	case Category:
		return "categorical"
	case Ordinal:
		return "ordered_logistic"
	case Integer:
		if c.Lower.V >= 0 {
			return "negative_binomial"
		}
	}
	return "normal"
}

// defaultPrior is the prior of an argument for a column when none is stated: a
// positive mean is around the middle of the declared scale, from zero on.
func (a twinArgument) defaultPrior(c *Column) string {
	if !strings.Contains(a.prior, "{") {
		return a.prior
	}
	center, _ := c.Scale()
	middle := c.Untransformed(center)
	if !(middle > 0) {
		middle = (c.Lower.V + c.Upper.V) / 2
	}
	if !(middle > 0) { // bounds that are a mistake, which is said where they stand
		middle = 1
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }
	return strings.NewReplacer("{rate}", number(2/middle), "{log}", number(math.Log(middle))).Replace(a.prior)
}
