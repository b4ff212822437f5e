package figure

import "testing"

// The expected responses and the ends of their intervals lie where the numbers say,
// along a number and at levels.
func TestEffectsShowTheNumbers(t *testing.T) {
	points := []Expected{
		{Name: "a", X: 0, Mean: 1, Lower: 0.5, Upper: 1.5}, {Name: "b", X: 2, Mean: 3, Lower: 2, Upper: 4}, {Name: "c", X: 5, Mean: 2, Lower: 1.5, Upper: 2.5},
	}
	curve := Curve("age", "died", points, 0.9)
	var x, y []float64
	for _, p := range of(curve, "run")[0].points {
		x, y = append(x, p.X), append(y, p.Y)
	}
	proportional(t, "curve", 1, x, []float64{0, 2, 5})
	proportional(t, "curve", -1, y, []float64{1, 3, 2})
	y = nil
	for _, p := range of(curve, "after")[0].points {
		y = append(y, p.Y)
	}
	proportional(t, "band", -1, y, []float64{1.5, 4, 2.5, 1.5, 2, 0.5})

	x = nil
	levels := Levels("sex", "died", points, 0.9)
	for _, s := range of(levels, "thin") {
		x = append(x, s.points[0].X, s.points[1].X)
	}
	proportional(t, "levels", 1, x, []float64{0.5, 1.5, 2, 4, 1.5, 2.5})
}
