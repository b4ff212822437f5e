package models_test

import (
	"os"
	"testing"
)

// TestSpreadOnBounds checks the points of three components in the declared box
// [-50, 50]²: centred thirds along x1, 1/2, 1/4 and 3/4 along x2.
func TestSpreadOnBounds(t *testing.T) {
	src, err := os.ReadFile("../../configs/gaussian_mixture.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m := compile(t, string(src))
	if len(m.Starts) != 1 || m.Starts[0].Offset != m.Params[1].Offset {
		t.Fatalf("starts %+v", m.Starts)
	}
	compare(t, "start", m.Starts[0].Values, []float64{-100.0 / 3, 0, 0, -25, 100.0 / 3, 25})
}

// TestSpreadOfOneColumn checks that components without a dim of columns are
// spread over the only observed one, on its scale.
func TestSpreadOfOneColumn(t *testing.T) {
	m := compile(t, dataBlock(0, "y: {type: real, lower: 1, upper: 100, transform: log, scale: {center: 0, by: 1}}")+
		"core:\n  dims: {k: 2}\n  params:\n    w: dirichlet(1) [k]\n    mus: normal(0, 1) [k]\n  rows:\n    observe:\n      y: mixture(w, normal(mus, 1), over=k)\n"+
		"guide:\n  init: {mus: spread_on_bounds}\n")
	compare(t, "start", m.Starts[0].Values, []float64{4.605170185988092 / 4, 3 * 4.605170185988092 / 4})
}
