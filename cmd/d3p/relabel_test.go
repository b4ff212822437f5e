package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"d3p/internal/stattest"
)

// TestCustomGuideOfExample fits configs/gaussian_mixture.yaml, whose guide
// writes its own laws, and reads the release back: new draws come from these
// laws, and in each the components rise along x1, as the file asks.
func TestCustomGuideOfExample(t *testing.T) {
	stattest.SkipNumerics(t)
	t.Parallel()
	dir := t.TempDir()
	model, data, run, out := "../../configs/gaussian_mixture.yaml", filepath.Join(dir, "g.csv"), filepath.Join(dir, "run"), filepath.Join(dir, "draws.csv")
	d3p(t, "simulate", model, "-n", "300", "--out", data)
	d3p(t, "fit-nonprivate", data, "--model", model, "--records", "300", "--steps", "20", "--learning-rate", "0.5", "--draws", "10", "--out", run, "--quiet")
	d3p(t, "draws", run, "--draws", "200", "--out", out)
	header, columns := readColumns(t, out)
	read := func(name string) []float64 {
		var values []float64
		for _, cell := range columns[slices.Index(header, name)] {
			x, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, x)
		}
		return values
	}
	a, b, c, width := read("mus[1,x1]"), read("mus[2,x1]"), read("mus[3,x1]"), read("sigs[1,x1]")
	if len(width) != 200 {
		t.Fatalf("%d draws", len(width))
	}
	spread := 0
	for i, w := range width {
		if a[i] > b[i] || b[i] > c[i] {
			t.Fatalf("components in the order %g, %g, %g", a[i], b[i], c[i])
		}
		if w > 20 {
			spread++
		}
	}
	// The widths keep the prior inverse_gamma(1, 1): P(X > 20) = 1 - exp(-1/20) =
	// 4.9 %; none of 200 has probability 4e-5, and the seed is fixed.
	if spread == 0 || spread > 40 {
		t.Errorf("%d of 200 widths above 20, want about 10", spread)
	}
}
