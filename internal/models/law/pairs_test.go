package law

import (
	"math"
	"testing"
)

// Drawn shares are like the truth that a count leaves open: of many cells, drawn as the prior says and
// counted, draws are 0 as often as the truth, and agree with it in mean, square and product with the count.
func TestDrawnCells(t *testing.T) {
	const n = 200000
	rng := source1()
	for _, mean := range []float64{0.1, 0.5, 2, 20} { // in standard deviations of the noise
		var sums, squares [4]float64
		for range n {
			truth := 0.0
			if rng.Uniform() >= emptyCells {
				truth = -mean * math.Log(1-rng.Uniform())
			}
			x := truth + rng.Normal()
			got := drawnCell(x, 1, mean, rng)
			if got < 0 || math.IsNaN(got) {
				t.Fatalf("mean %v: a share of %v", mean, got)
			}
			empty := func(share float64) float64 {
				if share == 0 {
					return 1
				}
				return 0
			}
			of := [4]float64{empty(got) - empty(truth), got - truth, got*got - truth*truth, x * (got - truth)}
			if mean < 0.25 { // counts are left out of the draw
				of[3] = 0
			}
			for i, d := range of {
				sums[i], squares[i] = sums[i]+d, squares[i]+d*d
			}
		}
		for i, name := range []string{"empty ones", "mean", "mean square", "product with the count"} {
			if se := math.Sqrt(squares[i]); math.Abs(sums[i]) > 5*se { // fails by chance in 1 of 10^5 runs
				t.Errorf("mean %v: %s differ by %v, %.1f standard errors", mean, name, sums[i]/n, sums[i]/se)
			}
		}
	}
}

// A law drawn from one with an empty combination of levels gives it few records or none; noise that was
// added to the count once more would give it a standard deviation's on average.
func TestDrawnLawsLeaveEmptyCombinationsEmpty(t *testing.T) {
	p := Pair{Shares: []float64{0.4, 0.002, -0.001, 0.599}, SD: 0.002}
	rng, sum := source1(), 0.0
	const draws = 2000
	for range draws {
		x := p.drawn([]float64{0.402, 0.598}, []float64{0.399, 0.601}, rng)
		sum += (x[1] + x[2]) / draws
		if math.Abs(x[0]-0.4) > 0.012 || math.Abs(x[3]-0.599) > 0.012 {
			t.Fatalf("drawn %v of %v", x, p.Shares)
		}
	}
	if sum > 0.0025 {
		t.Errorf("two combinations with one record in a thousand have a share of %.4f", sum)
	}
}
