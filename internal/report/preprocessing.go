package report

import "d3p/internal/models/spec"

// preprocessing lists what happens to each column before the mechanism sees it.
// Every constant is declared, so none of it costs privacy.
func preprocessing(d *spec.Data) []Preprocessing {
	list := []Preprocessing{}
	for _, c := range d.Columns {
		add := func(operation string, parameters map[string]any) {
			source := c.Source.V
			if source == "" {
				source = "not stated"
			}
			list = append(list, Preprocessing{Column: c.Name.V, Operation: operation, Parameters: parameters, Source: source})
		}
		if c.Numeric() {
			add(d.OutOfRange.Or("clamp"), map[string]any{"lower": c.Lower.V, "upper": c.Upper.V})
			if c.Transform.V != "" {
				add("transform", map[string]any{"function": c.Transform.V})
			}
			center, by := c.Scale()
			add("scale", map[string]any{"center": center, "by": by})
		} else {
			add("encode", map[string]any{"type": c.Type.V, "levels": c.LevelNames(), "unknown": c.Unknown.Or(spec.RejectRow)})
		}
		if m := d.MissingOf(c); m.Rule == spec.MissingImpute {
			add("impute", map[string]any{"value": m.Impute.V, "indicator": m.Indicator.V})
		} else {
			add("missing", map[string]any{"rule": spec.MissingReject})
		}
	}
	return list
}
