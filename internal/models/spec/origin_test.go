package spec

import (
	"slices"
	"strings"
	"testing"
)

// Dates count from their origin, which is the lower bound unless the file states
// another.
func TestOrigin(t *testing.T) {
	const column = "d3p: 1\ndata:\n  unit: {entity: patient, rows_per_unit: 1}\n  rows: {public: 9}\n  columns:\n" +
		"    y: {type: binary}\n    seen: {type: date, lower: 2020-01-31, upper: 2020-03-01, scale: {center: 2020-02-10, by: 10}%s}\n" +
		"model: {formula: y ~ seen, family: bernoulli}\n"
	for stated, want := range map[string]struct {
		origin, lower, upper, center float64
	}{
		"":                       {18292, 0, 30, 10},
		", origin: 2020-01-01":   {18262, 30, 60, 40},
		", origin: '2020-03-02'": {18323, -31, -1, -21},
	} {
		s, errs := Parse("m.yaml", []byte(strings.Replace(column, "%s", stated, 1)), nil)
		if len(errs) > 0 {
			t.Fatalf("%q: %v", stated, errs)
		}
		c := s.Data.Column("seen")
		if got := []float64{float64(c.Origin.V), c.Lower.V, c.Upper.V, c.Center.V}; !slices.Equal(got, []float64{want.origin, want.lower, want.upper, want.center}) {
			t.Errorf("%q: origin, bounds and center are %v, want %v", stated, got, want)
		}
	}
}
