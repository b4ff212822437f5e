package stats

import (
	"math"
	"testing"
)

// Shapes have mean 0 and variance 1. The mean of a function's derivative is that of the function
// times the score: of x and x³ it is 1 and 3.
func TestShapes(t *testing.T) {
	total := 0.0
	for i, s := range Shapes {
		total += s.Prior
		var mean, square, ofX, ofCube float64
		const most, step = 9.0, 0.005
		for w := -most; w <= most; w += step {
			p := step * math.Exp(-w*w/2) / math.Sqrt(2*math.Pi)
			x, score := s.At(w)
			mean, square = mean+p*x, square+p*x*x
			ofX, ofCube = ofX+p*x*score, ofCube+p*x*x*x*score
			if i == 0 && (math.Abs(x-w) > 1e-12 || math.Abs(score-w) > 1e-9) {
				t.Fatalf("the first shape is not normal: %g of %g, score %g", x, w, score)
			}
		}
		for _, c := range []struct {
			name      string
			got, want float64
		}{{"the mean", mean, 0}, {"the variance", square, 1}, {"that of x by the score", ofX, 1}, {"that of x³ by the score", ofCube, 3}} {
			if math.Abs(c.got-c.want) > 1e-3 {
				t.Errorf("shape %d: %s is %g, want %g", i, c.name, c.got, c.want)
			}
		}
	}
	if math.Abs(total-1) > 1e-12 {
		t.Errorf("the probabilities add up to %g", total)
	}
}
