package verify_test

import (
	"testing"

	"d3p/internal/models/data"
	"d3p/internal/privacy/event"
	"d3p/internal/table1"
	"d3p/internal/verify"
)

// Bounds and scales of a report that are not those of the model file, or whose noise is not that of their price, are found.
func TestForgedBounds(t *testing.T) {
	s := locked(t, "x: {type: real, lower: 20, upper: 90, scale: {center: 54, by: 9}}").Spec
	honest := table1.Bounds{Column: "x", OfBounds: 0.1}.Planned(1e-5, event.AddRemove)
	honest.Numbers = &data.Numbers{Lower: 20, Upper: 90, Center: 54, By: 9}
	for name, change := range map[string]func(b *table1.Bounds){
		"":          func(*table1.Bounds) {},
		"numbers":   func(b *table1.Bounds) { b.Numbers = nil },
		"lower":     func(b *table1.Bounds) { b.Numbers.Lower++ },
		"upper":     func(b *table1.Bounds) { b.Numbers.Upper++ },
		"center":    func(b *table1.Bounds) { b.Numbers.Center++ },
		"by":        func(b *table1.Bounds) { b.Numbers.By-- },
		"column":    func(b *table1.Bounds) { b.Column = "z" },
		"noise":     func(b *table1.Bounds) { b.Histogram.Noise /= 2 },
		"place":     func(b *table1.Bounds) { b.Place.Noise *= 1.001 },
		"price":     func(b *table1.Bounds) { b.OfBounds /= 2 },
		"a scale":   func(b *table1.Bounds) { b.OfScale = 0.1 },
		"kind":      func(b *table1.Bounds) { b.Place.Kind = "a look" },
		"the event": func(b *table1.Bounds) { b.Histogram.NoiseMultiplier *= 1.001 },
	} {
		b, n := honest, *honest.Numbers
		b.Numbers = &n
		change(&b)
		if wrong := verify.BoundsDiffer([]table1.Bounds{b}, 1e-5, event.AddRemove, s); (wrong != "") != (name != "") {
			t.Errorf("%s: %q", name, wrong)
		}
	}
	if verify.BoundsDiffer([]table1.Bounds{honest}, 1e-5, event.Substitute, s) == "" {
		t.Error("another relation is not found")
	}
}
