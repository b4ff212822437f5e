package synthesis

import (
	"math"
	"slices"
	"testing"

	"d3p/internal/privacy/noise"
)

// Within wide cells two numbers go together as their slopes say, and each cell keeps its
// quantiles. The records are of a normal pair in four cells each.
func TestTiltKeepsACorrelation(t *testing.T) {
	const n, r = 20000, 0.9
	random := noise.NewRandom(noise.Public(11).Stream(noise.Twin))
	cuts := []float64{-1, 0, 1}
	c := Column{Name: "x", Lower: -4, Upper: 4}
	for x := -3.9; x < 4; x += 0.1 {
		c.Cuts = append(c.Cuts, math.Round(10*x)/10)
	}
	c.Bins = []int{0, 30, 40, 50}
	for i := range c.fine() {
		x := c.centre(i)
		c.Shape = append(c.Shape, math.Exp(-x*x/2))
	}
	cells := [][]int32{make([]int32, n), make([]int32, n)}
	for i := range n {
		x := random.Normal()
		y := r*x + math.Sqrt(1-r*r)*random.Normal()
		for k, v := range []float64{x, y} {
			for _, cut := range cuts {
				if v >= cut {
					cells[k][i]++
				}
			}
		}
	}
	d := &Drawer{table: &Table{Columns: []Column{c, c}}, scale: []scale{{0, 1}, {0, 1}}, scores: [][]float64{{}, {}}}
	theta := r / (1 - r*r)
	d.slopes = [][]slope{{{other: 1, factor: theta}}, {{other: 0, factor: theta}}}
	quantiles := d.quantiles(cells, random, true)
	before := slices.Sorted(slices.Values(quantiles[1]))
	apart := correlatedValues(c, cells, quantiles)
	d.tilt(cells, quantiles, random)
	if got := correlatedValues(c, cells, quantiles); apart > 0.8 || math.Abs(got-r) > 0.02 {
		t.Errorf("the correlation is %.3f, and %.3f with independence within cells, want %.2f", got, apart, r)
	}
	if !slices.Equal(before, slices.Sorted(slices.Values(quantiles[1]))) {
		t.Error("the quantiles are other ones")
	}
}

func correlatedValues(c Column, cells [][]int32, quantiles [][]float64) float64 {
	var xy, xx, yy float64
	for i := range cells[0] {
		x, y := c.value(int(cells[0][i]), quantiles[0][i]), c.value(int(cells[1][i]), quantiles[1][i])
		xy, xx, yy = xy+x*y, xx+x*x, yy+y*y
	}
	return xy / math.Sqrt(xx*yy)
}

// The draws of a tilted density have its mean: 1/(1-e^-s) - 1/s.
func TestTilted(t *testing.T) {
	for _, s := range []float64{-30, -2, 1e-9, 0.5, 800} {
		const n = 10000
		mean := 0.0
		for i := range n {
			u := tilted(s, (float64(i)+0.5)/n)
			if !(u >= 0 && u <= 1) {
				t.Fatalf("slope %g has the quantile %g", s, u)
			}
			mean += u / n
		}
		want := 0.5
		if math.Abs(s) > 1e-6 {
			want = 1/(1-math.Exp(-s)) - 1/s
		}
		if math.Abs(mean-want) > 1e-3 {
			t.Errorf("slope %g has the mean %g, want %g", s, mean, want)
		}
	}
}
