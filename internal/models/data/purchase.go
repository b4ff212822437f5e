package data

import (
	"fmt"
	"slices"

	"d3p/internal/models/source"
)

// Prices are the prices of the numbers of a column that are bought instead of declared: the
// epsilon of each alone, at the δ of the fit. Until Settle the bounds of the column are
// hard limits.
type Prices struct {
	Bounds, Scale source.Value[float64]
}

// Numbers are the bought bounds and scale of a column, in the units of Column. By is 0 if
// the records did not show a scale.
type Numbers struct {
	Lower  float64 `json:"lower"`
	Upper  float64 `json:"upper"`
	Center float64 `json:"center"`
	By     float64 `json:"by"`
}

// Bought holds the numbers that a fit bought in place of the open ones of the model file,
// by column, and the default priors that follow from Table 1, by name.
type Bought struct {
	Numbers map[string]Numbers
	Priors  map[string]string
}

// None reports whether the fit bought nothing.
func (b Bought) None() bool { return len(b.Numbers) == 0 && len(b.Priors) == 0 }

// ToBounds reports whether the scale of a column follows from declared bounds.
func (c *Column) ToBounds() bool {
	return c.Numeric() && c.Derive == nil && !c.Buys() && !c.Center.IsSet() && !c.By.IsSet()
}

// Buys reports whether something of the column is bought, also after Settle.
func (c *Column) Buys() bool { return c.Prices.Bounds.IsSet() || c.Prices.Scale.IsSet() }

// Settle puts the bought numbers in place of those that the file leaves open. Bounds lie
// within the declared limits. The scale of a column with bought bounds is part of the same
// purchase, unless it is declared; if none was found it follows from the bounds.
func (c *Column) Settle(n Numbers) {
	bought := fmt.Sprintf("bought between %s and %s", c.Cell(c.Lower.V), c.Cell(c.Upper.V))
	if c.Prices.Bounds.IsSet() {
		c.Lower.V, c.Upper.V = max(n.Lower, c.Lower.V), min(n.Upper, c.Upper.V)
	}
	if c.OpenScale() {
		if n.By == 0 { // not found
			n.Center, n.By = c.Scale()
		}
		at := c.Prices.Scale.At
		if !c.Prices.Scale.IsSet() {
			at = c.Prices.Bounds.At
		}
		c.Center, c.By = source.Value[float64]{V: n.Center, At: at}, source.Value[float64]{V: n.By, At: at}
	}
	if c.Source.IsSet() {
		bought = c.Source.V + "; " + bought
	}
	c.Source, c.Settled = source.Value[string]{V: bought, At: c.Name.At}, true
}

// OpenScale reports whether the scale follows from a purchase.
func (c *Column) OpenScale() bool { return c.Buys() && !c.Center.IsSet() && !c.By.IsSet() }

// open reports whether bounds or scales of declared columns are still to be bought.
func (d *Data) open() bool {
	return slices.ContainsFunc(d.Columns, func(c *Column) bool { return c.Buys() && !c.Settled })
}

// ShowsBounds reports whether to print the bounds and the scale of a derived column.
// Numbers that follow from bounds yet to be bought are not printed.
func (d *Data) ShowsBounds(c *Column) bool { return !c.Derive.Follows || !d.open() }
