package marginals

import (
	"math"
	"testing"
)

// A fit to counts whose single cells drown in noise keeps the relation of two columns along
// trends, and shrinks it without.
func TestTrendsKeepARelation(t *testing.T) {
	const n, cells, sigma = 20000.0, 20, 60.0
	d := Domain{cells, 2}
	scores := [][]float64{make([]float64, cells), nil}
	pair, column, levels := make([]float64, 2*cells), make([]float64, cells), []float64{n / 2, n / 2}
	r := random(5)
	for c := range cells {
		scores[0][c] = float64(c)
		share := 0.35 + 0.3*float64(c)/(cells-1)
		column[c] = n / cells
		pair[2*c], pair[2*c+1] = n/cells*(1-share)+sigma*r.Normal(), n/cells*share+sigma*r.Normal()
	}
	// difference is the difference of the mean score between the two levels.
	difference := func(table []float64) float64 {
		var sum, count [2]float64
		for c, p := range table {
			sum[c%2] += p * scores[0][c/2]
			count[c%2] += p
		}
		return sum[1]/count[1] - sum[0]/count[0]
	}
	m := []Measurement{
		{Table: Table{Set: Set{0}}, Counts: column, Variance: 1, Trust: n / 30},
		{Table: Table{Set: Set{1}}, Counts: levels, Variance: 1, Trust: n / 30},
		{Table: Table{Set: Set{0, 1}}, Counts: pair, Variance: sigma * sigma, Trust: 1},
	}
	fit := func() float64 {
		tree, err := NewTree(d, Tables(m[0].Set, m[1].Set, m[2].Set), nil, 1000, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		tree.Estimate(m, 500)
		tree.Infer()
		return difference(tree.Means[2])
	}
	shrunk, want := fit(), difference(pair)
	m[2].Trends = d.Trends(m[2], scores)
	for _, q := range m[2].Trends {
		squares := 0.0
		for _, x := range q {
			squares += x * x
		}
		if math.Abs(squares-1) > 1e-12 {
			t.Errorf("a trend has the squared length %g", squares)
		}
	}
	if got := fit(); len(m[2].Trends) != 2 || math.Abs(got-want) > 0.02*want || shrunk > 0.5*want {
		t.Errorf("the means differ by %.3f, with %d trends by %.3f, and those of the counts by %.3f", shrunk, len(m[2].Trends), got, want)
	}
}

// Rare levels, rare cells and cells outside the order have no trends.
func TestTrendsOfFrequentCells(t *testing.T) {
	d := Domain{2, 3, 3}
	order := []float64{1, 2, math.NaN()}
	m := Measurement{Table: Table{Set: Set{0, 1}}, Counts: []float64{600, 350, 10, 400, 550, 10}, Variance: 100}
	if got := len(d.Trends(m, [][]float64{nil, nil, order})); got != 4 {
		t.Errorf("%d cells have trends, want 4", got)
	}
	m.Set = Set{1, 2}
	m.Counts = []float64{400, 200, 300, 200, 400, 300, 5, 5, 5}
	trends := d.Trends(m, [][]float64{nil, nil, order})
	if len(trends) != 2 {
		t.Fatalf("%d levels have trends, want 2", len(trends))
	}
	for _, q := range trends {
		if q[2] != 0 || q[5] != 0 {
			t.Error("a cell outside the order is part of a trend")
		}
	}
	m.Set, m.Counts = Set{2}, []float64{1, 1, 1}
	if d.Trends(m, [][]float64{nil, nil, order}) != nil {
		t.Error("a single column has trends")
	}
}
