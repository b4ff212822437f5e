package figure

import "testing"

// Means and the ends of their bars lie where the numbers say, on a logarithmic axis too.
func TestComparedShowsTheNumbers(t *testing.T) {
	f := Compared("accuracy", "epsilon", "share", true, []Series{
		{"ours", []Measured{{0.1, 0.5, 0.125}, {1, 0.75, 0}, {10, 1, 0.25}}},
		{"published", []Measured{{1, 0.5, 0}}},
	})
	var x, y, ends []float64
	for _, p := range of(f, "run")[0].points {
		if len(of(f, "run")[0].points) == 3 {
			x, y = append(x, p.X), append(y, p.Y)
		}
	}
	proportional(t, "places", 1, x, []float64{-1, 0, 1})
	proportional(t, "means", -1, y, []float64{0.5, 0.75, 1})
	for _, s := range append(of(f, "bar of run"), of(f, "bar of claim")...) {
		ends = append(ends, s.points[0].Y, s.points[1].Y)
	}
	for _, class := range []string{"run", "claim"} {
		if mean, bar, line := styleOf("mean of "+class), styleOf("bar of "+class), styleOf(class); mean.fill != line.stroke || bar.stroke != line.stroke {
			t.Errorf("means and bars of %s have other colours: %+v, %+v", class, mean, bar)
		}
	}
	proportional(t, "bars", -1, ends, []float64{0.375, 0.625, 0.75, 0.75, 0.75, 1.25, 0.5, 0.5})
	if n := len(of(f, "claim")); n != 2 {
		t.Errorf("%d lines of the second series, want its curve and its line of the key", n)
	}
}
