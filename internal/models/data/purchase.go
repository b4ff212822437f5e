package data

import (
	"fmt"
	"slices"

	"d3p/internal/models/source"
)

// Prices are the prices of the constants of a column that are bought instead of declared: the
// epsilon of each alone, at the δ of the fit. Until Settle the bounds of the column are
// hard limits, and its levels are placeholders.
type Prices struct {
	Bounds, Scale, Levels source.Value[float64]
	// MostLevels is the largest number of levels to buy, without the unknown one.
	MostLevels source.Value[int]
}

// Levels that are bought, at most by default and at most at all.
const (
	DefaultMostLevels = 50
	LimitMostLevels   = 1000
)

// Numbers are the bought bounds and scale of a column, in the units of Column. By is 0 if
// the records did not show a scale.
type Numbers struct {
	Lower  float64 `json:"lower"`
	Upper  float64 `json:"upper"`
	Center float64 `json:"center"`
	By     float64 `json:"by"`
}

// Bought holds the numbers and levels that a fit bought in place of the open ones of the
// model file, by column, and the default priors that follow from Table 1, by name.
type Bought struct {
	Numbers map[string]Numbers
	Levels  map[string][]string
	Priors  map[string]string
}

// None reports whether the fit bought nothing.
func (b Bought) None() bool { return len(b.Numbers)+len(b.Levels)+len(b.Priors) == 0 }

// ToBounds reports whether the scale of a column follows from declared bounds.
func (c *Column) ToBounds() bool {
	return c.Numeric() && c.Derive == nil && !c.Buys() && !c.Center.IsSet() && !c.By.IsSet()
}

// Buys reports whether something of the column is bought, also after Settle.
func (c *Column) Buys() bool { return c.BuysNumbers() || c.BuysLevels() }

// BuysNumbers reports whether bounds or a scale are bought, also after Settle.
func (c *Column) BuysNumbers() bool { return c.Prices.Bounds.IsSet() || c.Prices.Scale.IsSet() }

// BuysLevels reports whether levels are bought, also after SettleLevels.
func (c *Column) BuysLevels() bool { return c.Prices.Levels.IsSet() }

// MostLevels is the largest number of levels to buy, without the unknown one.
func (c *Column) MostLevels() int { return c.Prices.MostLevels.Or(DefaultMostLevels) }

// Placeholder begins the names of levels that stand for those to buy.
const Placeholder = "bought_"

// placeholder is the name of the k-th level, from 1, that stands for one that may be bought.
func placeholder(k int) string { return fmt.Sprint(Placeholder, k) }

// OpenLevels gives a column as many placeholders as levels may be bought. The model with
// them has the most parameters that the model with the bought levels can have.
func (c *Column) OpenLevels() {
	names := make([]string, c.MostLevels())
	for k := range names {
		names[k] = placeholder(k + 1)
	}
	c.setLevels(names)
}

// SettleLevels gives a column the bought levels, the commonest first. Placeholders, which no
// record needs to have, fill them up to the two levels of a category.
func (c *Column) SettleLevels(names []string) {
	c.setLevels(names)
	for k := 1; len(c.Levels) < 2; k++ {
		if name := placeholder(k); !slices.Contains(names, name) {
			names = append(slices.Clone(names), name)
			c.setLevels(names)
		}
	}
	c.settled("bought, of a noisy number of units each")
}

// setLevels sets the levels to names, then the one of all other texts.
func (c *Column) setLevels(names []string) {
	c.Levels = nil
	for _, name := range names {
		c.Levels = append(c.Levels, source.Value[string]{V: name, At: c.Prices.Levels.At})
	}
	if c.Unknown.IsSet() && c.Unknown.V != RejectRow && c.Level(c.Unknown.V) < 0 {
		c.Levels = append(c.Levels, source.Value[string]{V: c.Unknown.V, At: c.Unknown.At})
	}
}

// settled notes where the bought constants come from.
func (c *Column) settled(bought string) {
	if c.Source.IsSet() {
		bought = c.Source.V + "; " + bought
	}
	c.Source, c.Settled = source.Value[string]{V: bought, At: c.Name.At}, true
}

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
	c.settled(bought)
}

// OpenScale reports whether the scale follows from a purchase.
func (c *Column) OpenScale() bool { return c.BuysNumbers() && !c.Center.IsSet() && !c.By.IsSet() }

// open reports whether bounds or scales of declared columns are still to be bought.
func (d *Data) open() bool {
	return slices.ContainsFunc(d.Columns, func(c *Column) bool { return c.Buys() && !c.Settled })
}

// ShowsBounds reports whether to print the bounds and the scale of a derived column.
// Numbers that follow from bounds yet to be bought are not printed.
func (d *Data) ShowsBounds(c *Column) bool { return !c.Derive.Follows || !d.open() }
