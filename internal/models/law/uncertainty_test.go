package law

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"d3p/internal/models/data"
)

// An adjusted column has the mean and the standard deviation that were asked for, in the unit
// after its transform, and ends at its bounds.
func TestAdjusted(t *testing.T) {
	l := bought()
	for _, name := range []string{"age", "dose"} {
		c := l.Column(name)
		mean, sd := c.Moments()
		for _, to := range [][2]float64{{0, 1}, {0.3, 0.5}, {-0.2, 0.8}} {
			own := c.Adjusted(to[0], to[1], 0.1, 0.2)
			got, gotSD := own.Moments()
			// numbers are uniform in a cell of the file's unit, which a logarithm bends
			if math.Abs(got-mean-to[0]*sd) > 0.1*sd || math.Abs(gotSD-to[1]*sd) > 0.1*sd {
				t.Errorf("%s by %v: %g ± %g, before %g ± %g", name, to, got, gotSD, mean, sd)
			}
			if meanSD, sdSD := own.MomentsSD(); math.Abs(meanSD-0.1*gotSD) > 1e-12 || math.Abs(sdSD-math.Expm1(0.2)*gotSD) > 1e-12 {
				t.Errorf("%s by %v: errors %g and %g", name, to, meanSD, sdSD)
			}
		}
		wide := c.Adjusted(0, 100, 0, 0)
		if lower, upper := c.declared.Lower.V, c.declared.Upper.V; math.Abs(wide.Edges[0]-lower) > 1e-9*upper || math.Abs(wide.Edges[len(wide.Edges)-1]-upper) > 1e-9*upper || !slices.IsSorted(wide.Edges) {
			t.Errorf("%s: edges %v", name, wide.Edges)
		}
	}
}

// Laws that are drawn differ in the scale of a column by what is not known of it, whatever
// the noise of its shares.
func TestDrawnScales(t *testing.T) {
	const laws = 400
	l := bought()
	age := l.Column("age")
	*age = age.Adjusted(0, 0.5, 0.3, 0.2)
	age.ShareSD = []float64{0.1, 0.1, 0.1}
	mean, sd := age.Moments()
	rng := source1()
	var shift, scale [laws]float64
	for k := range laws {
		m, s := l.Drawn(rng).Column("age").Moments()
		shift[k], scale[k] = (m-mean)/sd, math.Log(s/sd)
	}
	spread := func(x []float64) float64 {
		sum, square := 0.0, 0.0
		for _, v := range x {
			sum, square = sum+v/laws, square+v*v/laws
		}
		return math.Sqrt(square - sum*sum)
	}
	// A standard deviation of 400 draws is off by 3.5 %: six of these are 21 %.
	if got := spread(shift[:]); math.Abs(got/0.3-1) > 0.21 {
		t.Errorf("means differ by %g, want 0.3", got)
	}
	if got := spread(scale[:]); math.Abs(got/0.2-1) > 0.21 {
		t.Errorf("scales differ by %g, want 0.2", got)
	}
}

// The difference of two columns that are correlated by .8 ± .15 is simulated with a variance
// of .2 − .15 where their sum has 1.8; that of columns without noise stays.
func TestCautiousCorrelation(t *testing.T) {
	l := bought()
	n := len(l.Columns)
	identity := func(x float64) []float64 {
		a := make([]float64, n*n)
		for i := range n {
			a[i*n+i] = x
		}
		return a
	}
	l.Correlation, l.CorrelationSD = identity(1), identity(0)
	l.Correlation[1], l.Correlation[n] = 0.8, 0.8
	if got := l.cautiousCorrelation(); !slices.Equal(got, l.Correlation) {
		t.Errorf("without noise: %v", got)
	}
	l.CorrelationSD[1], l.CorrelationSD[n] = 0.15, 0.15
	if got, want := l.cautiousCorrelation()[1], (1.8-0.05)/(1.8+0.05); math.Abs(got-want) > 1e-12 {
		t.Errorf("a correlation of %g, want %g", got, want)
	}
	l.CorrelationSD[1], l.CorrelationSD[n] = 0.5, 0.5
	if got, want := l.cautiousCorrelation()[1], (1.8-leastDirection)/(1.8+leastDirection); math.Abs(got-want) > 1e-12 {
		t.Errorf("beyond the least: %g, want %g", got, want)
	}
	MakePositive(l.cautiousCorrelation(), n)
	l.Draw(draw(l, 3), source1()) // a matrix that is not positive panics
}

// A count that is one number in all records has no standard deviation to measure errors by.
func TestOneWholeNumberHasNoErrorWithinItsCell(t *testing.T) {
	var y data.Column
	y.Type.V, y.Lower.V, y.Upper.V = data.Integer, 0, 9
	c := Column{Edges: []float64{-0.5, 0.5}, Shares: []float64{1}}.Of(&y)
	if mean, logSD := c.WithinCells(); mean != 0 || logSD != 0 {
		t.Errorf("errors %g and %g, want none", mean, logSD)
	}
}

// The part of a column that others leave to it is 1 minus what they explain, and its noise that of
// correlations as they are drawn.
func TestOwnParts(t *testing.T) {
	const n, noise = 3, 0.01
	l := &Law{Columns: make([]Column, n), Correlation: []float64{1, 0, 0.7, 0, 1, 0.5, 0.7, 0.5, 1}, CorrelationSD: slices.Repeat([]float64{noise}, n*n)}
	parts, sd := l.OwnParts([]int{0, 1, 2})
	if want := 1 - 0.49 - 0.25; math.Abs(parts[2]-want) > 1e-12 {
		t.Errorf("the third leaves %v, want %v", parts[2], want)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var drawn []float64
	for range 4000 {
		other := &Law{Columns: l.Columns, Correlation: slices.Clone(l.Correlation), CorrelationSD: l.CorrelationSD}
		for i := range n {
			for j := range i {
				x := l.Correlation[i*n+j] + noise*rng.NormFloat64()
				other.Correlation[i*n+j], other.Correlation[j*n+i] = x, x
			}
		}
		own, _ := other.OwnParts([]int{0, 1, 2})
		drawn = append(drawn, own[2])
	}
	if _, want := stat.MeanStdDev(drawn, nil); math.Abs(sd[2]/want-1) > 0.1 {
		t.Errorf("noise %v, of drawn correlations %v", sd[2], want)
	}
	if parts, _ := (&Law{Columns: l.Columns}).OwnParts([]int{0}); parts != nil {
		t.Errorf("parts without correlations: %v", parts)
	}
}
