package law

import (
	"math"
	"testing"

	"d3p/internal/models/data"
)

// An adjusted column of whole numbers has the mean and the standard deviation asked for, in the cells
// that were counted.
func TestWholeNumbersKeepTheirCells(t *testing.T) {
	d := &data.Column{}
	d.Type.V, d.Lower.V, d.Upper.V = data.Integer, 0, 20
	c := Column{Edges: []float64{-0.5, 0.5, 1.5, 2.5, 3.5, 6.5, 20.5}, Shares: []float64{0.3, 0.25, 0.2, 0.1, 0.1, 0.05}, declared: d}
	for _, share := range c.Shares {
		c.Counted = append(c.Counted, Counted{1, share, 0.02})
	}
	mean, sd := c.Moments()
	got := c.Adjusted(0.1, 1.05, 0.01, 0.02)
	gotMean, gotSD := got.Moments()
	if math.Abs(gotMean-mean-0.1*sd) > 1e-4 || math.Abs(gotSD-1.05*sd) > 1e-4 {
		t.Errorf("mean %v, sd %v; want %v, %v", gotMean, gotSD, mean+0.1*sd, 1.05*sd)
	}
	for i, x := range got.Edges {
		if x != c.Edges[i] {
			t.Errorf("edge %d: %v, want %v", i, x, c.Edges[i])
		}
	}
	// what the counts contradict moves shares by three standard deviations at most
	for _, far := range []Column{c.Adjusted(0, 0.01, 0, 0), c.Adjusted(-0.2, 1.8, 0, 0)} {
		own := far.AsCounted()
		for i, x := range own.Shares {
			if math.Abs(x-c.Shares[i]) > 3*0.02+1e-12 || own.ShareSD[i] > 3*0.02+1e-12 || far.Edges[i] != c.Edges[i] {
				t.Errorf("cell %d: %v ± %v, counted %v", i, x, own.ShareSD[i], c.Shares[i])
			}
		}
	}
}

// A counted cell is the sum of its parts, with the noise of its count or what it is off; a part may be
// off by more.
func TestAsCounted(t *testing.T) {
	c := Column{Edges: []float64{0, 1, 2, 3}, Shares: []float64{0.2, 0.3, 0.5}, ShareSD: []float64{0, 0, 0}, Counted: []Counted{{2, 0.46, 0.01}, {1, 0.505, 0.01}}}
	got := c.AsCounted()
	if len(got.Shares) != 2 || math.Abs(got.Shares[0]-0.5) > 1e-12 || math.Abs(got.ShareSD[0]-0.04) > 1e-12 || got.ShareSD[1] != 0.01 || got.Edges[1] != 2 {
		t.Errorf("%+v", got)
	}
	if sd := PartSD(0.2, 0.5, 0.04); math.Abs(sd-math.Hypot(0.04, math.Sqrt(0.06))) > 1e-12 {
		t.Errorf("PartSD = %v", sd)
	}
}

// Moments that no shares have, however far off, end the search for them: the drawn spread of a law whose
// noise hides a standard deviation may overflow.
func TestImpossibleMomentsEndTheSearch(t *testing.T) {
	d := &data.Column{}
	d.Type.V, d.Lower.V, d.Upper.V = data.Integer, 0, 200
	c := Column{Edges: []float64{-0.5, 0.5, 1.5, 200.5}, Shares: []float64{0.6, 0.3, 0.1}, declared: d}
	mean, sd := c.Moments()
	for _, factor := range []float64{1e10, 1e100, 1e250, math.Inf(1), math.NaN()} {
		if got := c.reweighted(mean, sd, 0.5, factor); got != nil {
			t.Errorf("%v times as wide: shares %v", factor, got)
		}
	}
}
