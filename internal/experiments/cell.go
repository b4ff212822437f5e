package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"d3p/internal/privacy/noise"
)

// cell is a way in which tables differ from the best case of the defaults. Effects are
// drawn in units of the columns' true standard deviations, and the model file states the
// same prior in the declared units. So the exact posterior has nominal coverage and the
// same width under every declaration.
type cell struct {
	name     string
	by       float64 // declared scale in true standard deviations; 0: bounds only
	rho      float64 // correlation of every two numeric columns
	strength float64 // factor of the effects' standard deviation; 0 is 1
	rare     bool    // the reference level of a category has .2 % of the records
	outcome  bool    // an outcome of 2 %
	groups   int     // of (1 | site)
	between  float64 // share of u2's variance between groups; the model file declares nothing of it
	within   bool    // it declares that u2 is constant within groups
	bought   bool    // bounds are bought within those of by; effects are per true standard deviation
}

// cells is the table of cells. The next three are compared with the first.
var cells = []cell{
	{name: "right", by: 1},
	{name: "wide2.5", by: 2.5},
	{name: "wide50", by: 50},
	{name: "bounds"},
	{name: "bought50", by: 50, bought: true},
	{name: "bought", bought: true},
	{name: "reference.002", by: 1, rare: true},
	{name: "cor.8", by: 1, rho: 0.8},
	{name: "cor.95", by: 1, rho: 0.95},
	{name: "strong", by: 1, strength: 3},
	{name: "outcome.02", by: 1, outcome: true},
	{name: "groups12", by: 1, groups: 12},
	{name: "groups150", by: 1, groups: 150},
	{name: "constant", by: 1, groups: 30, between: 1},
	{name: "between.9", by: 1, groups: 30, between: 0.9},
	{name: "between.3", by: 1, groups: 30, between: 0.3},
	{name: "within", by: 1, groups: 30, between: 1, within: true},
}

// family is a kind of response of the cells.
type family struct {
	name, family, response string
	effect                 float64 // standard deviation of effects
	more                   string  // priors of further parameters
	// draw draws a response with linear predictor eta.
	draw func(eta float64, truth map[string]float64, rng *noise.Random) float64
}

const ordinalLevels = 4

var families = []family{
	{"logistic", "bernoulli", `{type: binary, levels: ["0", "1"]}`, 1, "", drawBernoulli},
	{"poisson", "poisson", "{type: integer, lower: 0, upper: %d}", 0.3, "", drawPoisson},
	{"linear", "normal", "{type: real, lower: -%d, upper: %[1]d, scale: {center: 0, by: 1}}", 1, "    sigma: half_normal(1)\n", drawNormal},
	{"negbin", "negative_binomial", "{type: integer, lower: 0, upper: %d}", 0.3, "    phi: gamma(4, 2)\n", drawNegativeBinomial},
	{"ordinal", "cumulative", "{type: ordinal, levels: [0, 1, 2, 3]}", 1, "", drawOrdinal},
}

func drawBernoulli(eta float64, _ map[string]float64, rng *noise.Random) float64 {
	if rng.Uniform() < 1/(1+math.Exp(-eta)) {
		return 1
	}
	return 0
}

func drawPoisson(eta float64, _ map[string]float64, rng *noise.Random) float64 {
	return distuv.Poisson{Lambda: math.Exp(eta), Src: rng}.Rand()
}

func drawNormal(eta float64, truth map[string]float64, rng *noise.Random) float64 {
	return eta + truth["sigma"]*rng.Normal()
}

func drawNegativeBinomial(eta float64, truth map[string]float64, rng *noise.Random) float64 {
	rate := math.Exp(eta) * distuv.Gamma{Alpha: truth["phi"], Beta: truth["phi"], Src: rng}.Rand()
	if rate == 0 {
		return 0
	}
	return distuv.Poisson{Lambda: rate, Src: rng}.Rand()
}

func drawOrdinal(eta float64, truth map[string]float64, rng *noise.Random) float64 {
	u := rng.Uniform()
	latent := eta + math.Log(u/(1-u))
	level := 0.0
	for k := 1; k < ordinalLevels; k++ {
		if latent > truth[threshold1(k)] {
			level++
		}
	}
	return level
}

func threshold1(k int) string { return fmt.Sprintf("thresholds[%d]", k) }

// bandLevels is the number of levels of the category whose first level is rare.
const bandLevels, rareShare = 5, 0.002

// has reports whether a family has tables of the cell.
func (c cell) has(f family) bool { return !(c.outcome && f.name == "linear") }

// covariate is a numeric column in units of its true standard deviation, with
// true mean 0.
type covariate struct {
	name             string
	lower, upper, by float64
	center           float64
	skewed           bool // gamma with shape 2 instead of normal
}

// covariates are the numeric columns of a cell.
func (c cell) covariates() []covariate {
	n := 4
	if c.groups > 0 || c.rare {
		n = 2
	}
	var list []covariate
	for _, name := range numbered("u", n) {
		w := max(4*c.by, 5)
		x := covariate{name: name, lower: -w, upper: w, by: c.by}
		if c.by == 0 {
			// Like an age within [18, 100] about 54, and like a count within
			// [0, 80] about 2.
			x.lower, x.upper = -3.8, 4.9
			if name == "u4" {
				x.lower, x.upper, x.skewed = -math.Sqrt2, 60, true
			}
			x.by, x.center = (x.upper-x.lower)/math.Sqrt(12), (x.lower+x.upper)/2
		}
		if c.bought {
			x.by, x.center = 1, 0
		}
		list = append(list, x)
	}
	return list
}

// boundsPrice is the epsilon of the bounds of a column in a fit at epsilon; 0: without
// privacy. Four columns take at most 6 % of the fit's μ² below 1.
func boundsPrice(epsilon float64) float64 {
	if epsilon == 0 {
		return 0.1
	}
	return min(0.1, epsilon/10)
}

// effect is the standard deviation of the effects of a family in the cell.
func (c cell) effect(f family) float64 {
	if c.strength > 0 {
		return f.effect * c.strength
	}
	return f.effect
}

// reach widens the prior of the intercept by the products of effects and centres.
func (c cell) reach(f family, sd float64) float64 {
	square := sd * sd
	for _, u := range c.covariates() {
		square += math.Pow(u.center*c.effect(f), 2)
	}
	return math.Sqrt(square)
}

// standard deviations of the priors
const (
	interceptSD = 1
	cutpointSD  = 2
	groupSD     = 0.7
	bandSD      = 1
)

// limitOf is the declared limit of the responses of a table, at least 200. It clamps none,
// since intervals from clamped responses do not hold even without privacy.
func limitOf(t table) int {
	limit := 200
	for _, row := range t.rows {
		for y := math.Abs(row[len(row)-1]); y > float64(limit); {
			limit *= 10
		}
	}
	return limit
}

// model is the model file of the cell; limit is that of limitOf.
func (c cell) model(f family, records, limit int, epsilon float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "d3p: 1\nname: %s\ndata:\n  unit: {entity: record, rows_per_unit: 1}\n  rows: {public: %d}\n  columns:\n", f.name, records)
	terms := []string{"1"}
	for _, u := range c.covariates() {
		scale := ""
		declared := fmt.Sprintf("lower: %.17g, upper: %.17g", u.lower, u.upper)
		if c.bought {
			declared = fmt.Sprintf("bounds: {dp: %g, within: [%.17g, %.17g]}", boundsPrice(epsilon), u.lower, u.upper)
		} else if c.by != 0 {
			scale = fmt.Sprintf(", scale: {center: 0, by: %g}", u.by)
		}
		within := ""
		switch {
		case c.groups == 0 || c.between > 0 && !c.within:
		case c.within && u.name == "u2":
			within = ", constant_within: site"
		default:
			within = ", constant_within: none"
		}
		fmt.Fprintf(&b, "    %s: {type: real, %s%s%s}\n", u.name, declared, scale, within)
		terms = append(terms, u.name)
	}
	if c.rare {
		fmt.Fprintf(&b, "    band: {type: category, levels: [%s]}\n", levelNames(bandLevels))
		terms = append(terms, "band")
	}
	if c.groups > 0 {
		fmt.Fprintf(&b, "    site: {type: category, levels: [%s]}\n", levelNames(c.groups))
		terms = append(terms, "(1 | site)")
	}
	response := f.response
	if strings.Contains(response, "%") {
		response = fmt.Sprintf(response, limit)
	}
	fmt.Fprintf(&b, "    y: %s\nmodel:\n  formula: y ~ %s\n  family: %s\n", response, strings.Join(terms, " + "), f.family)
	if f.name == "ordinal" {
		fmt.Fprintf(&b, "  thresholds: ordered_normal(0, %g)\n", c.reach(f, cutpointSD))
	}
	b.WriteString("  priors:\n")
	for _, u := range c.covariates() {
		fmt.Fprintf(&b, "    b[%s]: normal(0, %.17g)\n", u.name, c.effect(f)*u.by)
	}
	if f.name != "ordinal" {
		sd := c.reach(f, interceptSD)
		if c.outcome {
			sd = 2.5
		}
		fmt.Fprintf(&b, "    Intercept: normal(0, %.17g)\n", sd)
	}
	if c.rare {
		fmt.Fprintf(&b, "    b: normal(0, %d)\n", bandSD)
	}
	if c.groups > 0 {
		fmt.Fprintf(&b, "    sd: half_normal(%g)\n", groupSD)
	}
	return b.String() + f.more
}

func levelNames(n int) string {
	names := numbered("", n)
	return strings.Join(names, ", ")
}

// parameters make a table: effects of columns, levels and sites about the declared centres.
// truth is compared with fits.
type parameters struct {
	truth          map[string]float64
	columns        []covariate
	effects        []float64
	bands          []float64
	sites, between []float64 // effect between sites, of a column that is constant within sites
	intercept      float64
	shift          float64 // of the linear predictor at the declared centres
}

// draw draws parameters, on the scale of the model file, and a table.
func (c cell) draw(f family, records int, rng *noise.Random) (table, map[string]float64) {
	p := c.parameters(f, rng)
	t := table{rows: make([][]float64, records)}
	for _, u := range p.columns {
		t.header = append(t.header, u.name)
	}
	if c.rare {
		t.header = append(t.header, "band")
	}
	if c.groups > 0 {
		t.header = append(t.header, "site")
	}
	t.header = append(t.header, "y")
	for i := range t.rows {
		t.rows[i] = c.row(f, p, rng)
	}
	// From here on truth is about the declared centres.
	if f.name == "ordinal" {
		for k := 1; k < ordinalLevels; k++ {
			p.truth[threshold1(k)] -= p.shift
		}
	} else {
		p.truth["Intercept"] += p.shift
	}
	return t, p.truth
}

// parameters draws the parameters of a table.
func (c cell) parameters(f family, rng *noise.Random) *parameters {
	truth, columns := map[string]float64{}, c.covariates()
	p := &parameters{
		truth: truth, columns: columns, effects: make([]float64, len(columns)), bands: make([]float64, bandLevels),
		sites: make([]float64, c.groups), between: make([]float64, c.groups),
	}
	for j, u := range columns {
		p.effects[j] = c.effect(f) * rng.Normal()
		truth["b["+u.name+"]"] = p.effects[j] * u.by
		p.shift += p.effects[j] * u.center
	}
	// 2 % at the columns' means: log odds, or the log of a rate
	p.intercept = interceptSD * rng.Normal()
	if c.outcome {
		p.intercept = math.Log(0.02) + 0.3*rng.Normal()
	}
	if c.rare {
		for k := 1; k < bandLevels; k++ {
			p.bands[k] = bandSD * rng.Normal()
			truth[fmt.Sprintf("b[band=%d]", k+1)] = p.bands[k]
		}
	}
	if c.groups > 0 {
		sd := groupSD * math.Abs(rng.Normal())
		truth["sd_site[Intercept]"] = sd
		for k := range p.sites {
			p.sites[k] = sd * rng.Normal()
			p.between[k] = rng.Normal()
			truth[fmt.Sprintf("r_site[%d,Intercept]", k+1)] = p.sites[k]
		}
	}
	switch f.name {
	case "linear":
		truth["sigma"] = math.Abs(rng.Normal())
	case "negbin":
		truth["phi"] = distuv.Gamma{Alpha: 4, Beta: 2, Src: rng}.Rand()
	case "ordinal":
		cuts := make([]float64, ordinalLevels-1)
		for k := range cuts {
			cuts[k] = cutpointSD * rng.Normal()
		}
		slices.Sort(cuts)
		if c.outcome {
			cuts = []float64{-1, 1, -math.Log(0.02)}
		}
		p.intercept = 0
		for k, cut := range cuts {
			truth[threshold1(k+1)] = cut
		}
	}
	if f.name != "ordinal" {
		truth["Intercept"] = p.intercept
	}
	return p
}

// row draws a row: the columns, the level and the site if the cell has them, y.
func (c cell) row(f family, p *parameters, rng *noise.Random) []float64 {
	row, eta := make([]float64, 0, len(p.columns)+3), p.intercept
	site := 0
	if c.groups > 0 {
		site = int(rng.Uniform() * float64(c.groups))
		eta += p.sites[site]
	}
	shared := rng.Normal()
	for j, u := range p.columns {
		x := math.Sqrt(c.rho)*shared + math.Sqrt(1-c.rho)*rng.Normal()
		if u.skewed {
			x = (distuv.Gamma{Alpha: 2, Beta: 1, Src: rng}.Rand() - 2) / math.Sqrt2
		}
		if c.between > 0 && u.name == "u2" {
			x = math.Sqrt(c.between)*p.between[site] + math.Sqrt(1-c.between)*x
		}
		x = math.Max(u.lower, math.Min(u.upper, x))
		row = append(row, x)
		eta += p.effects[j] * x
	}
	if c.rare {
		band := 0
		if at := rng.Uniform(); at > rareShare {
			band = 1 + int((at-rareShare)/(1-rareShare)*(bandLevels-1))
		}
		row = append(row, float64(band+1))
		eta += p.bands[band]
	}
	if c.groups > 0 {
		row = append(row, float64(site+1))
	}
	return append(row, f.draw(eta, p.truth, rng))
}
