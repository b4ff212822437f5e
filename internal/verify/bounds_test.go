package verify_test

import (
	"testing"

	"d3p/internal/models/data"
	"d3p/internal/table1"
	"d3p/internal/verify"
)

// Bounds and scales of a report that are not those of the model file are found.
func TestForgedBounds(t *testing.T) {
	s := locked(t, "x: {type: real, lower: 20, upper: 90, scale: {center: 54, by: 9}}").Spec
	bought := func(n *data.Numbers) []table1.Bounds {
		return []table1.Bounds{{Column: "x", OfBounds: 0.1, Numbers: n}}
	}
	if wrong := verify.BoundsDiffer(bought(&data.Numbers{Lower: 20, Upper: 90, Center: 54, By: 9}), s); wrong != "" {
		t.Error(wrong)
	}
	for _, n := range []*data.Numbers{
		nil, {Lower: 21, Upper: 90, Center: 54, By: 9}, {Lower: 20, Upper: 91, Center: 54, By: 9},
		{Lower: 20, Upper: 90, Center: 55, By: 9}, {Lower: 20, Upper: 90, Center: 54, By: 8},
	} {
		if wrong := verify.BoundsDiffer(bought(n), s); wrong != "bounds of x" {
			t.Errorf("%+v: %q", n, wrong)
		}
	}
	if wrong := verify.BoundsDiffer([]table1.Bounds{{Column: "z", OfBounds: 0.1}}, s); wrong != "bounds of z" {
		t.Errorf("%q", wrong)
	}
}
