package marginals

import (
	"math"
	"slices"
	"testing"
)

// normalPair is the table of n records of two normal columns, in cells of equal width, and the
// columns' scores with mean 0 and variance 1.
func normalPair(n, r float64) (d Domain, pair []float64, columns, scores [][]float64) {
	const cells = 22
	d, pair = Domain{cells, cells}, make([]float64, cells*cells)
	sum := 0.0
	for c := range pair {
		x, y := (float64(c/cells)-10.5)/3.5, (float64(c%cells)-10.5)/3.5
		pair[c] = math.Exp(-(x*x - 2*r*x*y + y*y) / (2 * (1 - r*r)))
		sum += pair[c]
	}
	columns = [][]float64{make([]float64, cells), make([]float64, cells)}
	for c := range pair {
		pair[c] *= n / sum
		columns[0][c/cells] += pair[c]
		columns[1][c%cells] += pair[c]
	}
	squares := 0.0
	for c, y := range columns[0] {
		squares += y * (float64(c) - 10.5) * (float64(c) - 10.5) / n
	}
	line := make([]float64, cells)
	for c := range line {
		line[c] = (float64(c) - 10.5) / math.Sqrt(squares)
	}
	return d, pair, columns, [][]float64{line, line}
}

// correlation of two columns with scores by a table's shares.
func correlation(shares []float64, scores [][]float64) float64 {
	sum := 0.0
	for c, p := range shares {
		sum += p * scores[0][c/len(scores[1])] * scores[1][c%len(scores[1])]
	}
	return sum
}

// A fit to noisy counts of few groups of cells has the correlation of the records, whatever it
// is, and puts little trust in single groups then. Without the moment it has half the correlation.
func TestMomentsKeepCorrelations(t *testing.T) {
	const n, sigma, releases = 3000.0, 20.0, 12
	for _, r := range []float64{-0.9, 0, 0.65, 0.97} {
		d, pair, columns, scores := normalPair(n, r)
		g := group(columns[0], d[0], 8)
		look := Table{Set: Set{0, 1}, Groups: [][]int32{g, g}}
		cells := d.grouped(look)
		want := correlation(pair, scores) / n
		mean, squares := 0.0, 0.0
		for k := range uint64(releases) {
			source := random(100 + k)
			counts := make([]float64, d.Size(look))
			for c, y := range pair {
				counts[cells[c]] += y
			}
			for c := range counts {
				counts[c] += sigma * source.Normal()
			}
			m := []Measurement{
				{Table: Table{Set: Set{0}}, Counts: columns[0], Variance: 1, Trust: n / 30},
				{Table: Table{Set: Set{1}}, Counts: columns[1], Variance: 1, Trust: n / 30},
				{Table: look, Counts: counts, Variance: sigma * sigma, Trust: 20},
			}
			moments := d.Moments(m, columns, scores, nil, 2)
			tree, err := NewTree(d, append(Tables(Set{0}, Set{1}), look, moments[0].Table), nil, 1<<20, 1)
			if err != nil {
				t.Fatal(err)
			}
			tree.Start(m)
			tree.Distrust(columns, m, moments, 400)
			tree.EstimateAt(columns, m, moments, 400)
			shares := make([]float64, len(pair))
			d.Count(shares, Table{Set: Set{0, 1}}, tree.Sample(100000, source, false))
			got := correlation(shares, scores) / 100000
			tree.Close()
			mean += got / releases
			squares += (got - want) * (got - want) / releases
			if m[2].Trust > 5 {
				t.Errorf("the look of correlation %.2f has trust %.1f", r, m[2].Trust)
			}
		}
		t.Logf("correlation %.3f: mean %.3f, error %.4f", want, mean, math.Sqrt(squares))
		// Twelve releases have the standard error .055/√12 at correlation 0, and less elsewhere.
		if math.Abs(mean-want) > 0.065 || math.Sqrt(squares) > 0.12*(1-want*want)+0.01 {
			t.Errorf("correlation %.3f is estimated at %.3f with the error %.4f", want, mean, math.Sqrt(squares))
		}
	}
}

// The scores of a moment of two orders sum to zero within each row and column of the model, so
// that columns do not move it.
func TestMomentsLeaveColumns(t *testing.T) {
	d, pair, columns, scores := normalPair(5000, 0.8)
	m := []Measurement{{Table: Table{Set: Set{0, 1}}, Counts: pair, Variance: 1, Trust: 1}}
	moments := d.Moments(m, columns, scores, nil, 2)
	rows := make([]float64, d[0])
	for c, y := range pair {
		rows[c/d[1]] += y * moments[0].Scores[c]
	}
	if worst := max(slices.Max(rows), -slices.Min(rows)); worst > 1 {
		t.Errorf("a row of %d records has the sum %.3g", 5000, worst)
	}
}

// A column of levels has the mean of a number in each of them, unless it has too many.
func TestMomentsOfLevels(t *testing.T) {
	d := Domain{4, 3}
	columns, scores := [][]float64{{50, 50, 50, 50}, {60, 70, 70}}, [][]float64{{-1.34, -0.45, 0.45, 1.34}, nil}
	pair := []float64{5, 20, 25, 10, 20, 20, 20, 15, 15, 25, 15, 10}
	m := []Measurement{{Table: Table{Set: Set{0, 1}}, Counts: pair, Variance: 0.01, Trust: 1}}
	moments := d.Moments(m, columns, scores, nil, 3)
	if len(moments) != 1 || d.Size(moments[0].Table) != 3 {
		t.Fatalf("%d moments", len(moments))
	}
	got := d.estimate(moments[0], m, columns, nil)
	for level, sum := range got.Counts {
		want := 0.0
		for c := range 4 {
			want += scores[0][c] * pair[3*c+level]
		}
		if math.Abs(sum-want) > 0.3 {
			t.Errorf("level %d has the sum %.2f, want %.2f", level, sum, want)
		}
	}
	if list := d.Moments(m, columns, scores, nil, 2); len(list) != 0 {
		t.Errorf("a column of more levels has %d moments", len(list))
	}
}
