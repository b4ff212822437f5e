package synthesis

import (
	"math"
	"slices"
	"testing"
)

func TestCuts(t *testing.T) {
	for _, c := range []struct {
		lower, upper float64
		whole        bool
		want         []float64 // among the cuts
	}{
		{0, 90, true, []float64{1, 45, 90}},
		{0, 99999, true, []float64{1, 99999}},
		{0, 5e5, false, []float64{0.5, 5e5}},
		{-3, 3, false, []float64{0, 3}},
		{17, 17, true, nil},
		{1e-9, 1e9, false, nil},
	} {
		got := cuts(c.lower, c.upper, c.whole)
		for _, w := range c.want {
			if !slices.Contains(got, w) {
				t.Errorf("[%g, %g]: no cut at %g", c.lower, c.upper, w)
			}
		}
		for i, x := range got {
			if x <= c.lower || x > c.upper || i > 0 && x <= got[i-1] || c.whole && x != math.Trunc(x) {
				t.Errorf("[%g, %g]: cut %d is %g", c.lower, c.upper, i, x)
			}
		}
	}
}

// Values of a cell fall into its bin, whole ones are whole, and a spike has a bin.
func TestBins(t *testing.T) {
	c := Column{Whole: true, Upper: 99999, Cuts: cuts(0, 99999, true)}
	counts := make([]float64, c.fine()+1)
	counts[0] = 30000
	for i := 1; i < 40; i++ {
		counts[i] = 60
	}
	c.bin(counts, 20)
	bins := make([]float64, c.bins())
	for b := range bins {
		for i := c.Bins[b]; i < c.next(b); i++ {
			bins[b] += counts[i]
		}
	}
	c.shape(bins, 400, counts, 20)
	if len(c.Bins) < 5 || len(c.Bins) > binsWanted+2 || c.Bins[1] != 1 {
		t.Fatalf("bins at %v", c.Bins)
	}
	at := c.groupCuts(nil)
	r := source(1)
	for cell := range c.bins() {
		for range 200 {
			x := c.value(cell, r.Uniform())
			bin, exact := slices.BinarySearch(at, x)
			if exact {
				bin++
			}
			if bin != cell || x != math.Trunc(x) || x < 0 || x > 99999 {
				t.Fatalf("cell %d has value %g", cell, x)
			}
		}
	}
}

// The density within a bin follows the neighbours' and keeps the bin's count; a spike
// within a bin keeps its own.
func TestShape(t *testing.T) {
	c := Column{Upper: 80, Cuts: cuts(0, 80, false)}
	counts := make([]float64, c.fine()+1)
	for i := range c.fine() {
		counts[i] = 10 * c.width(i) * (100 - c.centre(i)) // a falling line
	}
	counts[40] += 9000
	for b := range 8 {
		c.Bins = append(c.Bins, b*10)
	}
	bins := make([]float64, 8)
	for b := range bins {
		for i := c.Bins[b]; i < c.next(b); i++ {
			bins[b] += counts[i]
		}
	}
	c.shape(bins, 100, counts, 100)
	for i := 10; i < 70; i++ { // the first and the last bin have one neighbour
		if want := counts[i]; math.Abs(c.Shape[i]-want) > 0.05*want+0.2 {
			t.Errorf("cell %d has weight %.2f of %.2f", i, c.Shape[i], want)
		}
	}
}

// source is a small generator.
type source uint64

func (s *source) Uniform() float64 {
	*s = *s*6364136223846793005 + 1442695040888963407
	return float64(*s>>11) / (1 << 53)
}
func (s *source) Normal() float64 { return 0 }
