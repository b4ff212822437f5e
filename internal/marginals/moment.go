package marginals

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/simd"
)

// A Moment is a table of scores whose sums are estimated from measurements of its set: of the
// product of two ordered columns, or of an ordered column in each cell of another. The family's
// scores are those without what follows from single columns.
type Moment struct {
	Table
	plain []float64 // by cell: the product of the columns' scores
	ridge float64   // inverse variance of the prior of a parameter
}

// Moments are those of the pairs of measurements. A family with them keeps correlations and
// differences of means that noise hides in single cells, and within groups. Columns are the
// columns' counts. Scores are those of cells by column, with mean 0 and variance 1; nil: no order.
// A column with more than most cells has no means of another one: these have tables that noise
// hides less, and the fit to many means converges slowly.
func (d Domain) Moments(m []Measurement, columns, scores [][]float64, zeros []Zeros, most int) (list []Moment) {
	clean := d.reconcile(m, simd.Sum(columns[0]), columns)
	for i, x := range m {
		if len(x.Set) != 2 || slices.ContainsFunc(m[:i], func(y Measurement) bool { return slices.Equal(x.Set, y.Set) }) {
			continue
		}
		a, b := scores[x.Set[0]], scores[x.Set[1]]
		if a == nil && b == nil {
			continue
		}
		t := Moment{Table{x.Set, make([][]int32, 2), make([]float64, d.Cells(x.Set))}, nil, shiftRidge}
		for i, s := range [][]float64{a, b} {
			if s != nil {
				t.Groups[i] = make([]int32, len(s))
			}
		}
		if d.Size(t.Table) > most {
			continue
		}
		for c := range t.Scores {
			t.Scores[c] = 1
			if a != nil {
				t.Scores[c] *= a[c/d[x.Set[1]]]
			}
			if b != nil {
				t.Scores[c] *= b[c%d[x.Set[1]]]
			}
		}
		t.plain = t.Scores
		if a != nil && b != nil {
			t.ridge = slopeRidge
			s, tables, groups := d.association(t, clean, columns, zeros)
			s.fit(tables, groups, t.ridge)
			t.Scores = s.tangents()[0]
		}
		list = append(list, t)
	}
	return list
}

// association is that of a moment, with the measurements of its set and the groups of their cells.
func (d Domain) association(x Moment, m []Measurement, columns [][]float64, zeros []Zeros) (s *association, tables []Measurement, groups [][]int32) {
	s = &association{rows: columns[x.Set[0]], columns: columns[x.Set[1]], basis: d.split(x.Table, x.plain)}
	for _, z := range zeros {
		if slices.Equal(z.Set, x.Set) {
			s.zeros = append(s.zeros, z)
		}
	}
	for _, y := range m {
		if slices.Equal(y.Set, x.Set) {
			tables, groups = append(tables, y), append(groups, d.grouped(y.Table))
		}
	}
	return s, tables, groups
}

// split has the scores of the cells of each group of a table, and 0 elsewhere.
func (d Domain) split(t Table, scores []float64) [][]float64 {
	list := make([][]float64, d.Size(t))
	for j := range list {
		list[j] = make([]float64, len(scores))
	}
	for c, g := range d.grouped(t) {
		list[g][c] = scores[c]
	}
	return list
}

// estimate estimates a moment from the noisy tables over its set: the parameters of the
// association have the least squares, weighted by noise and chance, and the moment is that of
// the association. The less noise, the closer is it to the tables' own moment.
func (d Domain) estimate(x Moment, m []Measurement, columns [][]float64, zeros []Zeros) Measurement {
	s, tables, groups := d.association(x, m, columns, zeros)
	covariance := s.fit(tables, groups, x.ridge)
	tangents := s.tangents()
	out := Measurement{Table: x.Table}
	for _, f := range d.split(x.Table, x.Scores) {
		sum, squares := 0.0, 1e-9
		slopes := mat.NewVecDense(len(tangents), nil)
		for c, y := range s.count {
			sum += y * f[c]
			squares += y * f[c] * f[c]
			for k := range tangents {
				slopes.SetVec(k, slopes.AtVec(k)+y*f[c]*tangents[k][c])
			}
		}
		out.Counts = append(out.Counts, sum)
		out.Weights = append(out.Weights, x.ridge*mat.Inner(slopes, covariance, slopes)/squares)
	}
	return out
}

// EstimateAt fits the tree, with the given counts of each column, to measurements of its first
// tables and to estimates of its moments, the tables after these.
func (t *Tree) EstimateAt(columns [][]float64, m []Measurement, moments []Moment, iterations int) {
	n := simd.Sum(columns[0])
	clean := t.Domain.reconcile(m, n, columns)
	for i := range clean {
		if len(clean[i].Set) == 1 {
			clean[i].Trust = math.Inf(1)
		}
	}
	for _, x := range moments {
		clean = append(clean, t.Domain.estimate(x, clean[:len(m)], columns, t.zeros))
	}
	t.Fit(clean, n, tolerance, iterations)
	t.Rake(columns)
}

// Distrust fits the columns and moments alone, and lowers the trust in the measurements of the
// moments' sets to how far their counts deviate from this fit.
func (t *Tree) Distrust(columns [][]float64, m []Measurement, moments []Moment, iterations int) {
	frozen := slices.Clone(m)
	for i, x := range m {
		frozen[i].Frozen = len(x.Set) > 1
	}
	t.EstimateAt(columns, frozen, moments, iterations)
	n := simd.Sum(columns[0])
	for i, x := range t.Domain.reconcile(m, n, columns) {
		if !slices.ContainsFunc(moments, func(y Moment) bool { return slices.Equal(x.Set, y.Set) }) {
			continue
		}
		model := slices.Clone(t.Means[i])
		simd.MulScalar(model, model, n)
		m[i].Trust = min(m[i].Trust, trust(t.Domain.excess(&x, model), n, &x))
	}
}
