package schedule

import (
	"math"
	"slices"
	"testing"

	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
)

// The pieces of every schedule add up to the steps, and have the factors that its text
// names.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		text          string
		steps, pieces int
		first, last   float64
	}{
		{"constant", 100, 0, 1, 1},
		{"linear:0.5", 1000, 32, 1 - 0.5/64, 0.5 + 0.5/64},
		{"linear:0.5", 3, 3, 1 - 0.5*21/64, 0.5 + 0.5/64},
		{"cosine:3", 320, 32, 1 + (1 - math.Cos(math.Pi/64)), 3 - (1 - math.Cos(math.Pi/64))},
		{"2@0,1@0.5", 101, 2, 2, 1},
		{"2@0,1@0.25,1@0.5,3@0.75", 100, 3, 2, 3},
		{"2@0,1@0.001", 10, 1, 1, 1},
	} {
		n, err := Parse(c.text, c.steps)
		if err != nil || len(n) != c.pieces || n.Check(c.steps) != nil {
			t.Errorf("%s: %v, %v, %v", c.text, n, err, n.Check(c.steps))
			continue
		}
		if first, last := n.Factor(0), n.Factor(c.steps-1); math.Abs(first-c.first) > 1e-12 || math.Abs(last-c.last) > 1e-12 {
			t.Errorf("%s: from %v to %v, want from %v to %v", c.text, first, last, c.first, c.last)
		}
	}
	n, _ := Parse("2@0,1@0.5", 101)
	if n.Factor(50) != 2 || n.Factor(51) != 1 {
		t.Errorf("half of 101 steps: %v", n)
	}
	for _, wrong := range []string{"linear", "linear:", "linear:0", "linear:NaN", "square:2", "2", "2@0.1", "2@0,1@0", "2@0,1@1", "2@0,x@0.5", "1000@0", "-1@0", "2@0,,1@0.5", "2@NaN"} {
		if n, err := Parse(wrong, 100); err == nil {
			t.Errorf("%q is read as %v", wrong, n)
		}
	}
}

// The events of the first steps are those of each step by itself.
func TestEvents(t *testing.T) {
	n := Factors{{2, 3}, {4, 0.5}}
	c := sampler.Config{Scheme: sampler.Poisson, Rate: 0.1}
	for steps := 1; steps <= 6; steps++ {
		var sigmas []float64
		for _, e := range Events(n, nil, c, func(f float64) event.Event { return event.Gaussian{NoiseMultiplier: 2 * f} }, steps) {
			same := e.(event.SelfComposed)
			for range same.Count {
				sigmas = append(sigmas, same.Of.(event.PoissonSampled).Of.(event.Gaussian).NoiseMultiplier)
			}
		}
		var want []float64
		for step := range steps {
			want = append(want, 2*n.Factor(step))
		}
		if !slices.Equal(sigmas, want) {
			t.Errorf("%d steps: noise multipliers %v, want %v", steps, sigmas, want)
		}
	}
}

// LateSquare weighs step t by t².
func TestLateSquare(t *testing.T) {
	n := Factors{{300, 2}, {700, 0.5}}
	sum, weights := 0.0, 0.0
	for step := range 1000 {
		w := (float64(step) + 0.5) * (float64(step) + 0.5)
		sum, weights = sum+w*n.Factor(step)*n.Factor(step), weights+w
	}
	if got := n.LateSquare(); math.Abs(got-sum/weights) > 1e-5 {
		t.Errorf("%v, want %v", got, sum/weights)
	}
}
