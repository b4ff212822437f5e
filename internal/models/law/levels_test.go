package law

import (
	"math"
	"testing"

	"d3p/internal/models/data"
)

// coded is a law of two columns of levels that go together, and of two numbers that follow
// the levels of the first.
func coded() *Law {
	d := declaration()
	ward := &data.Column{Name: set("ward"), Type: set(data.Category)}
	for _, l := range []string{"x", "y"} {
		ward.Levels = append(ward.Levels, set(l))
	}
	d.Columns = append(d.Columns, ward)
	l := Declared(d)
	l.Records = 10000
	l.Columns[0].Edges, l.Columns[0].Shares = []float64{18, 40, 50, 60, 100}, []float64{0.2, 0.3, 0.4, 0.1}
	l.Columns[3].Shares, l.Columns[4].Shares = []float64{0.1, 0.3, 0.6}, []float64{0.4, 0.6}
	l.Correlation = make([]float64, 25)
	for i := range 5 {
		l.Correlation[i*5+i] = 1
	}
	l.Correlation[2], l.Correlation[10] = 0.5, 0.5
	l.CorrelationSD = make([]float64, 25)
	l.Coded = []int{3, 4}
	l.Pairs = []Pair{{Of: [2]int{4, 3}, Shares: []float64{0.1, 0.05, 0.25, 0, 0.25, 0.35}}}
	l.Within = []Within{
		{Column: 0, Category: 3, Mean: []float64{1.5, 0, -0.25}, SD: make([]float64, 3)},
		{Column: 2, Category: 3, Mean: []float64{0.5, 0, -1. / 12}, SD: make([]float64, 3)},
	}
	return l
}

// Draws have the shares of combinations, the scores within levels, the correlations of
// numbers and the marginals of the law.
func TestLevelsAreDrawnTogether(t *testing.T) {
	const n = 100000
	l := coded()
	values := draw(l, n)
	shares, means, counts := [6]float64{}, [3]float64{}, [3]float64{}
	below, product := 0.0, 0.0
	for b := range n {
		group, ward := int(values[3][b]), int(values[4][b])
		shares[ward*3+group] += 1. / n
		score := math.Sqrt2 * math.Erfinv(2*rankOf(&l.Columns[0], values[0][b])-1)
		other := math.Sqrt2 * math.Erfinv(2*rankOf(&l.Columns[2], values[2][b])-1)
		means[group] += score
		counts[group]++
		product += score * other / n
		if values[0][b] < 50 {
			below += 1. / n
		}
	}
	// each share has a standard deviation below .0016; the table leaves no cell empty
	for i, want := range l.Pairs[0].Shares {
		if math.Abs(shares[i]-want) > 0.008 {
			t.Errorf("combination %d: share %.4f, want %.4f", i, shares[i], want)
		}
	}
	// The levels make the number skewed: of a mixture of normals with the means 1.5, 0 and
	// -.25 and the variance 1 - .2625 each, these are the mean scores of the ranks.
	for level, want := range []float64{1.41, 0.015, -0.239} {
		if got := means[level] / counts[level]; math.Abs(got-want) > 0.04 {
			t.Errorf("mean score in level %d: %.3f, want %.3f", level, got, want)
		}
	}
	if math.Abs(product-0.5) > 0.05 {
		t.Errorf("correlation of scores %.3f, want .5", product)
	}
	if math.Abs(below-0.5) > 0.02 {
		t.Errorf("%.3f are below the median", below)
	}
}

// rankOf is the share of the column's values below x.
func rankOf(c *Column, x float64) float64 {
	if c.Edges == nil { // uniform on the transformed bounds
		d := c.declared
		lower, upper := d.Transformed(d.Lower.V), d.Transformed(d.Upper.V)
		return min(max((d.Transformed(x)-lower)/(upper-lower), 1e-6), 1-1e-6)
	}
	u := 0.0
	for i, share := range c.Shares {
		u += share * min(max((x-c.Edges[i])/(c.Edges[i+1]-c.Edges[i]), 0), 1)
	}
	return min(max(u, 1e-6), 1-1e-6)
}

// Many levels, more pairs than the cliques have room for: a law all the same.
func TestManyPairsOfLevels(t *testing.T) {
	d := &data.Data{Rows: data.Rows{Public: set(500)}}
	const columns, levels = 7, 12
	for i := range columns {
		c := &data.Column{Name: set(string(rune('a' + i))), Type: set(data.Category)}
		for k := range levels {
			c.Levels = append(c.Levels, set(string(rune('a'+k))))
		}
		d.Columns = append(d.Columns, c)
	}
	l := Declared(d)
	rng := source1()
	for i := range columns {
		l.Coded = append(l.Coded, i)
		for j := range i {
			p := Pair{Of: [2]int{i, j}, SD: 0.001}
			for a := range levels {
				for b := range levels {
					x := 0.002 + 0.001*rng.Normal()
					if a == b {
						x += 0.06
					}
					p.Shares = append(p.Shares, x)
				}
			}
			l.Pairs = append(l.Pairs, p)
		}
	}
	values := draw(l, 20000)
	same := 0.0
	for b := range values[0] {
		if values[0][b] == values[1][b] {
			same += 1. / 20000
		}
	}
	if same < 0.5 {
		t.Errorf("levels agree in %.2f of the records", same)
	}
}

// Drawn laws differ by the noise that is stated, and by nothing where none is.
func TestDrawnLaws(t *testing.T) {
	l := coded()
	if same := l.Drawn(source1()); same.Pairs[0].Shares[2] != l.Pairs[0].Shares[2] || same.Correlation[2] != l.Correlation[2] {
		t.Error("a law without noise was drawn as another one")
	}
	const n = 2000
	l.Within[0].Mean[1] = 2 // so far from 0 that no noise explains it
	l.Pairs[0].SD, l.Within[0].SD[1], l.CorrelationSD[2], l.CorrelationSD[10] = 0.01, 0.2, 0.05, 0.05
	squares, rng := [3]float64{}, source1()
	for range n {
		x := l.Drawn(rng)
		for i, d := range []float64{(x.Pairs[0].Shares[2] - l.Pairs[0].Shares[2]) / 0.01, (x.Within[0].Mean[1] - 2) / 0.2, (x.Correlation[2] - 0.5) / 0.05} {
			squares[i] += d * d / n
		}
	}
	// the mean of n squared normals has standard deviation √(2/n) = .03
	for i, got := range squares {
		if math.Abs(got-1) > 0.2 {
			t.Errorf("number %d varies %.2f times as stated", i, got)
		}
	}
	if l.Within[0].Mean[1] != 2 || l.Pairs[0].Shares[2] != 0.25 {
		t.Error("drawing changed the law")
	}
}

// A law that is read must fit its columns.
func TestLevelsThatDoNotFit(t *testing.T) {
	for name, spoil := range map[string]func(*Law){
		"number as levels":  func(l *Law) { l.Coded[0] = 0 },
		"no such column":    func(l *Law) { l.Coded[0] = 9 },
		"too few shares":    func(l *Law) { l.Pairs[0].Shares = l.Pairs[0].Shares[1:] },
		"one column twice":  func(l *Law) { l.Pairs[0].Of[1] = 4 },
		"too few means":     func(l *Law) { l.Within[0].Mean = nil },
		"means of a number": func(l *Law) { l.Within[0].Category = 1 },
	} {
		l := coded()
		if err := l.checkLevels(); err != nil {
			t.Fatal(err)
		}
		if spoil(l); l.checkLevels() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
