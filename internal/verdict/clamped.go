package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/law"
)

// The density at a bound is that of a pile if it is pileDensity times that beside it, and the share more than that by pileSDs
// standard deviations. Both are low: a pile only explains a misfit that was found.
// A cell that ends within cutOff of its width of a bound ends there: Table 1 moves cells until mean and sd are right.
const pileDensity, pileSDs, cutOff = 1.25, 1.5, 0.05

// A pile of a predictor is a finding by itself, so it takes more: at least leastPile of the records.
const clearDensity, clearSDs, leastPile = 1.75, 3, 0.08

// piles are the real predictors that have clear piles at a bound, by column: their coefficients are those of the moved
// numbers. Of 2000 normal predictors a third of which lie beyond bounds of one sd (ε = 2) the coefficient is 1.31 for 1.
func piles(m *models.Model, response *data.Column, l *law.Law) map[string]string {
	found := map[string]string{}
	for _, c := range m.Spec.Data.Columns {
		if p := pileAt(&m.Spec.Data, c, l); c != response && c.Type.V == data.Real && p.share > leastPile && p.share > clearSDs*p.sd && p.times > clearDensity {
			found[c.Name.V] = p.String() + widen
		}
	}
	return found
}

const widen = ": widen it if numbers beyond it were moved there (d3p check MODEL --data FILE --out PRIVATE counts them)"

// A pileUp is a share of a column's numbers that stands at a bound, beyond those that a smooth density has there.
type pileUp struct {
	column, end, bound string
	share, sd, times   float64 // times: the density at the bound by that beside it
}

func (p pileUp) String() string {
	return fmt.Sprintf("about %.0f ± %.0f %% of %s stand at its %s bound %s", 100*p.share, math.Ceil(100*p.sd), p.column, p.end, p.bound)
}

// pile describes numbers of a response that stand at a declared bound by Table 1: empty if it shows none. Those beyond a
// bound are moved to it, which the model does not predict. Of 5000 normal responses whose upper bound 8 to 13 % exceed
// (ε = 1 and 8) the fit was told to be of a wrong family in four of four. Numbers from 0 on have a natural end there.
func pile(d *data.Data, c *data.Column, l *law.Law) string {
	if p := pileAt(d, c, l); p.share > pileSDs*p.sd && p.times > pileDensity {
		return p.String()
	}
	return ""
}

// pileAt is the larger one of the piles at the bounds of a column, zero if Table 1 shows none.
func pileAt(d *data.Data, c *data.Column, l *law.Law) (most pileUp) {
	own := l.Column(c.Name.V)
	if !c.Numeric() || d.OutOfRange.V == data.MissingReject || own == nil || own.Edges == nil || len(own.Shares) < 2 {
		return most
	}
	cells := own.AsCounted()
	last := len(cells.Shares) - 1
	if last < 1 {
		return most
	}
	beyond := 0.0 // a cell of whole numbers reaches beyond its last one
	if c.Whole() {
		beyond = 0.5
	}
	for _, end := range []struct {
		name         string
		bound, edge  float64
		cell, beside int
	}{{"upper", c.Upper.V, cells.Edges[last+1], last, last - 1}, {"lower", c.Lower.V, cells.Edges[0], 0, 1}} {
		if end.cell == 0 && end.bound == 0 || math.Abs(end.edge-end.bound) > beyond+cutOff*(cells.Edges[end.cell+1]-cells.Edges[end.cell]) {
			continue
		}
		width := func(k int) float64 { return c.Transformed(cells.Edges[k+1]) - c.Transformed(cells.Edges[k]) }
		ratio := width(end.cell) / width(end.beside)
		smooth := cells.Shares[end.beside] * ratio
		sd := math.Hypot(math.Hypot(cells.ShareSD[end.cell], ratio*cells.ShareSD[end.beside]), l.RecordsSD/math.Max(l.Records, 1))
		if share := cells.Shares[end.cell] - smooth; share > most.share {
			most = pileUp{c.Name.V, end.name, c.Cell(end.bound), share, sd, cells.Shares[end.cell] / math.Max(smooth, math.SmallestNonzeroFloat64)}
		}
	}
	return most
}

// advise describes a pile, and what to do about a response that the model predicts otherwise than the records have it.
func advise(m *models.Model, response *data.Column, l *law.Law) (found, advice string) {
	const other = "choose another family or formula"
	of := slices.IndexFunc(m.Observed, func(o models.Observation) bool { return slices.Contains(o.Columns, response) })
	if of < 0 || isCensored(m.Observed[of]) || !response.Numeric() || m.Spec.Data.OutOfRange.V == data.MissingReject {
		return "", other
	}
	if found = pile(&m.Spec.Data, response, l); found != "" {
		return found, found + widen + ", else " + other
	}
	return "", fmt.Sprintf("%s, or widen the bounds of %s if many numbers were moved to them", other, response.Name.V)
}

// advice is what to do about other responses than the model predicts.
func (k Known) advice() string { return cmp.Or(k.Advice, "choose another family or formula") }
