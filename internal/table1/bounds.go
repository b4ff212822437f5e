package table1

import (
	"fmt"
	"math"
	"strconv"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/law"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// Bounds is the purchase of the bounds, the scale, or both of a column that the model file
// leaves open: one release of the counts of equal cells between its limits, to find the
// place of the numbers, and one of a histogram around that place.
type Bounds struct {
	Column string `json:"column"`
	// OfBounds and OfScale are the prices in the model file: the epsilon that each would
	// cost alone, at the δ of the fit; 0: declared.
	OfBounds  float64 `json:"bounds_epsilon,omitempty"`
	OfScale   float64 `json:"scale_epsilon,omitempty"`
	Place     Release `json:"place"`
	Histogram Release `json:"histogram"`
	// Numbers are the bought numbers; nil before the purchase.
	Numbers *data.Numbers `json:"numbers,omitempty"`
	// Outside is the share of the numbers beyond bought bounds; nil where none can be.
	Outside *Outside `json:"outside,omitempty"`
}

// Outside is the share of a column's numbers in the cells of the bought histogram that reach
// beyond the bought bounds, with the standard deviation of its noise. The fit moves what is
// beyond a bound to the bound.
type Outside struct {
	Share   float64 `json:"share"`
	NoiseSD float64 `json:"noise_sd"`
}

// BoundsOf are the purchases that m's file asks for, of the columns that m reads. Bounds
// and scale of a column are bought together with the μ² of both.
func BoundsOf(m *models.Model, delta float64, rel event.Relation) (list []Bounds) {
	for _, f := range m.Encoding.Columns() {
		c := find(m, f.Column)
		if c == nil || !c.BuysNumbers() {
			continue
		}
		b := Bounds{Column: c.Name.V, OfBounds: c.Prices.Bounds.V, OfScale: c.Prices.Scale.V}
		list = append(list, b.Planned(delta, rel))
	}
	return list
}

// Planned is b as its prices plan it, before the purchase.
func (b Bounds) Planned(delta float64, rel event.Relation) Bounds {
	mu := Mu(delta, rel, b.OfBounds, b.OfScale)
	b.Place, b.Histogram = noiseOf(1, math.Sqrt(ofPlace)*mu, rel), noiseOf(1, math.Sqrt(1-ofPlace)*mu, rel)
	b.Place.Kind, b.Histogram.Kind = Kind("place of "+b.Column), Kind(b.Purpose())
	b.Numbers, b.Outside = nil, nil
	return b
}

// Mu is μ of Gaussian differential privacy of releases that would cost these prices alone, each an epsilon
// or 0; half of it under substitution, where a unit's influence is twice as large.
func Mu(delta float64, rel event.Relation, prices ...float64) float64 {
	square := 0.0
	for _, price := range prices {
		if price > 0 {
			mu := accountant.GaussianMu(accountant.Target{Epsilon: price, Delta: delta})
			square += mu * mu
		}
	}
	if rel == event.Substitute {
		square /= 4
	}
	return math.Sqrt(square)
}

// shown is the signal of both releases together from which on bought numbers are nearer to a
// column of few records than its limits are. Many records would have a signal that is sure.
const shown = 12.0

// least is the signal that shows a column of a declared number of rows: a quarter of the one that
// all of them have in one cell, within shown and sure.
func (b *Bounds) least(rows int) float64 {
	return min(sure, max(shown, math.Pow(float64(rows)/b.Place.Noise, 2)/4))
}

// ofPlace is the part of the price that finds the place.
const ofPlace = 1. / 3

// Purpose describes the purchase, and names the second release in the ledger.
func (b *Bounds) Purpose() string {
	what := "bounds and scale"
	switch {
	case b.OfScale == 0:
		what = "bounds"
	case b.OfBounds == 0:
		what = "scale"
	}
	return what + " of " + b.Column
}

// Events are the events of the two releases.
func (b *Bounds) Events() []event.Event {
	return []event.Event{event.Gaussian{NoiseMultiplier: b.Place.NoiseMultiplier}, event.Gaussian{NoiseMultiplier: b.Histogram.NoiseMultiplier}}
}

// Buy buys b from a curator whose columns are encoded with the limits. m is the model with
// these limits.
func (b *Bounds) Buy(c *privacy.Curator, m *models.Model) (data.Numbers, error) {
	d := m.Spec.Data.Column(b.Column)
	var field encoding.Field
	for _, f := range m.Encoding.Columns() {
		if f.Column == d.HeaderName() {
			field = f
		}
	}
	of := columnOf(d)
	count := func(r Release, cuts []float64) ([]float64, error) {
		counts, err := c.Counts(string(r.Kind), []privacy.Partition{{Axes: []privacy.Axis{{Column: field.Column, Cuts: cuts}}, Noise: r.Noise}})
		if err != nil {
			return nil, err
		}
		return counts[0], nil
	}
	cuts := equalCuts(of, rangeCells)
	counts, err := count(b.Place, cuts)
	if err != nil {
		return data.Numbers{}, err
	}
	look := &histogram{cuts: cuts, counts: counts, noise: b.Place.Noise}
	at, signal := findPlace(of, cuts, look.cells(), look.noise, likely)
	if cuts = (looked{place: at, look: look}).cuts(field, of, false); cuts == nil {
		cuts = []float64{}
	}
	if counts, err = count(b.Histogram, cuts); err != nil {
		return data.Numbers{}, err
	}
	h := histogram{cuts, counts, b.Histogram.Noise, rowsOf(m, [][]float64{counts}, b.Histogram.Noise, 0, math.Inf(1)), look}
	_, more := findPlace(of, cuts, h.cells(), h.noise, 0)
	n := Limits(d)
	if signal+more > b.least(m.Spec.Data.Rows.N()) {
		n = numbersOf(of, h, law.Declared(&m.Spec.Data).Column(b.Column))
	}
	if !d.OpenScale() {
		n.Center, n.By = 0, 0
	}
	if b.OfBounds > 0 {
		b.Outside = outsideOf(of, h, n)
	}
	return n, nil
}

// outsideOf is the share of h in the cells that reach beyond the bounds n; nil for the limits.
func outsideOf(of column, h histogram, n data.Numbers) *Outside {
	edges, sum, cells := h.edges(of), 0.0, 0.0
	for i, count := range h.cells() {
		first, last := edges[i], edges[i+1]
		if of.whole { // the numbers of a cell are from its first edge to below its last
			first = math.Ceil(first)
			if i < len(h.cells())-1 {
				last = math.Ceil(last) - 1
			}
		}
		if first < n.Lower || last > n.Upper {
			sum, cells = sum+count, cells+1
		}
	}
	if cells == 0 {
		return nil
	}
	all := h.withValue()
	return &Outside{digits(min(max(sum/all, 0), 1)), digits(math.Sqrt(cells) * h.noise / all)}
}

// Limits are the numbers of a purchase that shows nothing: the declared limits.
func Limits(d *data.Column) data.Numbers { return data.Numbers{Lower: d.Lower.V, Upper: d.Upper.V} }

// reach is the least distance of bought bounds from the center, in scales: noise hides the
// last rows of a tail, and narrow bounds cost more than wide ones.
const reach = 5

// farShare is the share of the numbers that bought bounds may leave outside, on each side.
const farShare = 1e-3

// Aim describes the share of the numbers that bought bounds may leave outside; "" for a
// purchase of a scale alone.
func (b *Bounds) Aim() string {
	if b.OfBounds == 0 {
		return ""
	}
	return fmt.Sprintf("at most %g %% on each side, by design", 100*farShare)
}

// numbersOf computes the numbers of a column from a histogram. The
// scale is the mean and the standard deviation of a histogram; it leaves out
// cells that noise alone explains (see setHistogram). Bounds leave farShare of it outside,
// or are reach scales from the center, twice what is not known of them added, whichever is farther. own is the column of a declared
// law.
func numbersOf(of column, h histogram, own *law.Column) data.Numbers {
	n := Limits(of.declared)
	unknown := setHistogram(own, of, h)
	mean, sd := own.Moments()
	if !(sd > 0) {
		return n
	}
	far := reach * sd
	if unknown != nil {
		far *= math.Exp(2 * unknown.scale)
	}
	first := min(own.Quantile(farShare), of.declared.Untransformed(max(mean-far, of.lower)))
	last := max(own.Quantile(1-farShare), of.declared.Untransformed(min(mean+far, of.upper)))
	if of.whole { // the numbers of a cell are from its first edge to below its last
		first, last = math.Ceil(first), math.Ceil(last)-1
		if first >= last {
			first, last = first-1, last+1
		}
	} else {
		unit := magnitude(last-first, 2)
		if of.declared.Transform.IsSet() { // bounds may be orders of magnitude apart
			unit = magnitude(first, 2)
		}
		first = rounded(math.Floor(first/unit), unit)
		if of.declared.Transform.IsSet() {
			unit = magnitude(last, 2)
		}
		last = rounded(math.Ceil(last/unit), unit)
	}
	n.Lower, n.Upper = max(n.Lower, first), min(n.Upper, last)
	unit := magnitude(sd, 2)
	n.Center, n.By = rounded(math.Round(mean/unit), unit), rounded(math.Round(sd/unit), unit)
	return n
}

// magnitude is the place value of the digit of x after the first `digits` ones.
func magnitude(x float64, digits int) float64 {
	if x == 0 {
		return 1
	}
	return math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-float64(digits))
}

// rounded is k units, a power of ten, as the nearest number with its digits.
func rounded(k, unit float64) float64 {
	x, _ := strconv.ParseFloat(strconv.FormatFloat(k*unit, 'f', max(0, int(-math.Round(math.Log10(unit)))), 64), 64)
	return x + 0 // no -0
}

// Price is the price of the release alone, in words.
func (b *Bounds) Price() string {
	switch {
	case b.OfScale == 0:
		return number(b.OfBounds)
	case b.OfBounds == 0:
		return number(b.OfScale)
	}
	return number(b.OfBounds) + " and " + number(b.OfScale)
}
