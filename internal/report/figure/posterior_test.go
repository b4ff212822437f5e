package figure

import (
	"math"
	"slices"
	"testing"
)

// of are the shapes of a class.
func of(f Figure, class string) (list []shape) {
	for _, s := range f.shapes {
		if s.class == class {
			list = append(list, s)
		}
	}
	return list
}

// proportional checks that places in the figure are those of the data but for
// place and scale, which has a sign.
func proportional(t *testing.T, what string, sign float64, places, data []float64) {
	t.Helper()
	if len(places) != len(data) {
		t.Fatalf("%s: %d places, want %d", what, len(places), len(data))
	}
	lo, hi := slices.Index(data, slices.Min(data)), slices.Index(data, slices.Max(data))
	scale := (places[hi] - places[lo]) / (data[hi] - data[lo])
	for i := range places {
		if want := places[lo] + scale*(data[i]-data[lo]); !(sign*scale > 0) || math.Abs(places[i]-want) > 1e-9 {
			t.Errorf("%s: %v is at %v, want %v", what, data[i], places[i], want)
		}
	}
}

// The intervals, means and the line at 0 lie where the numbers say, the first row
// on top.
func TestForestShowsTheNumbers(t *testing.T) {
	rows := []Interval{
		{Name: "Intercept", Mean: -1, Q5: -2, Q25: -1.4, Q75: -0.6, Q95: 0},
		{Name: "b[age]", Mean: 1, Q5: 0.5, Q25: 0.8, Q75: 1.2, Q95: 1.5},
		{Name: "b[sex]", Mean: 0.3, Q5: 0.1, Q25: 0.15, Q75: 0.35, Q95: 0.6},
	}
	f := Forest(rows, 600)
	wide, narrow, dots, zero, names := of(f, "thin"), of(f, "thick"), of(f, "mean"), of(f, "guess"), of(f, "label")
	if len(wide) != 3 || len(narrow) != 3 || len(dots) != 3 || len(zero) != 1 || len(names) != 3 {
		t.Fatalf("%d and %d intervals, %d means, %d lines, %d names", len(wide), len(narrow), len(dots), len(zero), len(names))
	}
	places, data, heights := []float64{zero[0].points[0].X}, []float64{0}, []float64{}
	for i, r := range rows {
		places = append(places, wide[i].points[0].X, wide[i].points[1].X, narrow[i].points[0].X, narrow[i].points[1].X, dots[i].points[0].X)
		data = append(data, r.Q5, r.Q95, r.Q25, r.Q75, r.Mean)
		y := dots[i].points[0].Y
		for _, p := range slices.Concat(wide[i].points, narrow[i].points) {
			if p.Y != y {
				t.Errorf("row %d is at %v and at %v", i, y, p.Y)
			}
		}
		if math.Abs(names[i].points[0].Y-y) > 5 || names[i].words != r.Name {
			t.Errorf("row %d at %v is named %s at %v", i, y, names[i].words, names[i].points[0].Y)
		}
		heights = append(heights, y)
	}
	proportional(t, "intervals", 1, places, data)
	proportional(t, "rows", 1, heights, []float64{0, 1, 2})
}

// A trace has the iterates over the steps.
func TestTraceShowsTheNumbers(t *testing.T) {
	curve := of(Trace("w", []Point{{1, 7}, {2, 1}, {5, -4}}), "run")[0]
	proportional(t, "steps", 1, []float64{curve.points[0].X, curve.points[1].X, curve.points[2].X}, []float64{1, 2, 5})
	proportional(t, "values", -1, []float64{curve.points[0].Y, curve.points[1].Y, curve.points[2].Y}, []float64{7, 1, -4})
}

// Prior and posterior have one scale, which the posterior fills, and the areas are
// those below the curves.
func TestOverlayShowsTheNumbers(t *testing.T) {
	prior := []Point{{0, 0.25}, {1, 0.5}, {2, 0.125}}
	posterior := []Point{{0, 0}, {0.5, 2}, {2, 0.5}}
	f := Overlay("b", prior, posterior, 0, 2)
	grey, blue, below := of(f, "guess")[0], of(f, "run")[0], of(f, "after")[0]
	var x, y []float64
	for _, p := range slices.Concat(grey.points, blue.points) {
		x, y = append(x, p.X), append(y, p.Y)
	}
	proportional(t, "values", 1, x, []float64{0, 1, 2, 0, 0.5, 2})
	proportional(t, "densities", -1, y, []float64{0.25, 0.5, 0.125, 0, 2, 0.5})
	if !slices.Equal(below.points[:3], blue.points) || below.points[3].Y != below.points[4].Y || below.points[4].X != blue.points[0].X {
		t.Error("the area is not that below the posterior")
	}
	if filled := (blue.points[0].Y - blue.points[1].Y) / f.height; filled < 0.5 {
		t.Errorf("the posterior fills %.2f of the height", filled)
	}
}
