package report

import (
	"fmt"

	"d3p/internal/models/spec"
)

// preprocessing lists what happens to each column, and to each array of columns,
// before the mechanism sees it. Every constant is declared, so none of it costs
// privacy.
func preprocessing(d *spec.Data) []Preprocessing {
	list := []Preprocessing{}
	for _, c := range d.Columns {
		add := adder(&list, c.Name.V, c.Source.V)
		if c.Numeric() {
			numeric(add, d, c)
		} else {
			add("encode", map[string]any{"type": c.Type.V, "levels": c.LevelNames(), "unknown": c.Unknown.Or(spec.RejectRow)})
		}
		if m := d.MissingOf(c); m.Rule == spec.MissingImpute {
			add("impute", map[string]any{"value": m.Impute.V, "indicator": m.Indicator.V})
		} else {
			add("missing", map[string]any{"rule": spec.MissingReject})
		}
	}
	for _, t := range d.Tensors {
		columns := t.Columns()
		first, last := columns[0], columns[len(columns)-1]
		add := adder(&list, fmt.Sprintf("%s (%s to %s)", t.Name.V, first.Name.V, last.Name.V), t.Source.V)
		numeric(add, d, first)
		if t.Binarize.IsSet() {
			add("binarize", map[string]any{"mode": t.Binarize.V})
		}
		add("missing", map[string]any{"rule": spec.MissingReject})
	}
	return list
}

// adder returns a function that adds what happens to one column to list.
func adder(list *[]Preprocessing, column, source string) func(operation string, parameters map[string]any) {
	if source == "" {
		source = "not stated"
	}
	return func(operation string, parameters map[string]any) {
		*list = append(*list, Preprocessing{Column: column, Operation: operation, Parameters: parameters, Source: source})
	}
}

// numeric adds what happens to a number.
func numeric(add func(string, map[string]any), d *spec.Data, c *spec.Column) {
	add(d.OutOfRange.Or("clamp"), map[string]any{"lower": c.Lower.V, "upper": c.Upper.V})
	if c.Transform.V != "" {
		add("transform", map[string]any{"function": c.Transform.V})
	}
	center, by := c.Scale()
	add("scale", map[string]any{"center": center, "by": by})
}
