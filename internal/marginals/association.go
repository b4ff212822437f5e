package marginals

import (
	"math"
	"slices"

	"d3p/internal/simd"
)

// An Association is the linear-by-linear association of two ordered columns (Goodman 1979):
// p = α_i β_j exp(κ u_i v_j), with given counts of both columns. The scores u and v are normal
// scores of the columns' ranks, so that skewed amounts do not matter. Normal columns of
// correlation r have it, with κ = r/(1-r²). The table is that of the scores u_i v_j. A family
// with it shrinks the cells of a pair towards a trend in place of independence, and is not flat
// within groups of cells.
type Association struct {
	Table
	zeros  []bool    // by cell; nil: none
	tables []int     // of the measurements, those over the set
	groups [][]int32 // of their cells
}

const (
	mostSlope  = 10   // of κ, at a correlation of .95
	slopePrior = 4.0  // variance of κ before any count: it matters where these tell nothing
	slopeSteps = 25   // of Newton's method
	leastSlope = 3    // in standard deviations, of a table that shrinks relations
	misfit     = 0.2  // standard deviation of what an association misses, as a part of its sum
	leastRank  = 0.01 // bounds scores: noise in a rare bin would move a sum by much
	rakings    = 100  // of the counts to those of columns
)

// Associations are those of the measured pairs of ordered columns with the given counts.
// Ordered has the number of cells of each column, from the first, that are in order.
func (d Domain) Associations(m []Measurement, columns [][]float64, ordered []int, zeros []Zeros) (list []Association) {
	for i, x := range m {
		if len(x.Set) != 2 {
			continue
		}
		if j := slices.IndexFunc(list, func(a Association) bool { return slices.Equal(a.Set, x.Set) }); j >= 0 {
			list[j].tables, list[j].groups = append(list[j].tables, i), append(list[j].groups, d.grouped(x.Table))
			continue
		}
		u, v := ranked(columns[x.Set[0]], ordered[x.Set[0]]), ranked(columns[x.Set[1]], ordered[x.Set[1]])
		if u == nil || v == nil {
			continue
		}
		a := Association{Table: Table{Set: x.Set}, tables: []int{i}, groups: [][]int32{d.grouped(x.Table)}}
		for _, s := range u {
			for _, t := range v {
				a.Scores = append(a.Scores, s*t)
			}
		}
		for _, z := range zeros {
			if slices.Equal(z.Set, x.Set) {
				a.zeros = z.Empty
			}
		}
		list = append(list, a)
	}
	return list
}

// ranked are the normal scores of a column's ordered cells, with mean 0 and variance 1, and 0 for
// the others; nil if no two cells differ.
func ranked(counts []float64, ordered int) []float64 {
	if ordered < 2 {
		return nil
	}
	total := simd.Sum(counts[:ordered])
	scores, below, mean, squares := make([]float64, len(counts)), 0.0, 0.0, 0.0
	for c, y := range counts[:ordered] {
		p := min(max((below+y/2)/total, leastRank), 1-leastRank)
		scores[c] = math.Sqrt2 * math.Erfinv(2*p-1)
		below += y
		mean += y * scores[c] / total
		squares += y * scores[c] * scores[c] / total
	}
	deviation := math.Sqrt(squares - mean*mean)
	if !(deviation > 1e-3) {
		return nil
	}
	for c := range scores[:ordered] {
		scores[c] = (scores[c] - mean) / deviation
	}
	return scores
}

// Estimate estimates the sum of scores from reconciled measurements: that of the association with
// the least squares, weighted by noise and chance, and a part of what it misses. With shrink an
// association that may be noise has no weight, and it misses little before any count; without,
// what it misses is kept as far as it exceeds its noise (James and Stein 1961), so that sums
// have hardly a bias.
func (a *Association) Estimate(m []Measurement, columns [][]float64, shrink bool) Measurement {
	s := newRaked(a, columns)
	kappa, information, noise := 0.0, 0.0, 0.0
	for range slopeSteps {
		g, h, v := s.squares(kappa, m)
		information, noise = h+1/slopePrior, v
		step := (g - kappa/slopePrior) / information
		next := min(max(kappa+min(max(step, -1), 1), -mostSlope), mostSlope)
		step, kappa = next-kappa, next
		if math.Abs(step) < 1e-3 {
			break
		}
	}
	variance := noise / (information * information)
	sum, slope := s.sum(kappa)
	out := Measurement{Table: a.Table, Variance: variance * slope * slope, Trust: s.n / 4} // a correlation of about .5 before any count
	if shrink && kappa*kappa < leastSlope*leastSlope*variance {
		out.Counts, out.Variance, out.Trust = []float64{0}, s.n*s.n, 1 // κ stays 0
		return out
	}
	missed, doubt := s.missed(m)
	prior := max(0, missed*missed-doubt)
	if shrink {
		prior = misfit * misfit * sum * sum
		out.Variance += doubt
	}
	out.Counts = []float64{sum + missed*prior/(prior+doubt)}
	return out
}

// raked has the counts of an association at some κ.
type raked struct {
	*Association
	rows, columns, beta []float64
	count, less, more   []float64 // at κ, and at κ ± slopeReach
	n                   float64
}

// slopeReach is the step of numerical derivatives in κ.
const slopeReach = 1e-2

func newRaked(a *Association, columns [][]float64) *raked {
	s := &raked{Association: a, rows: columns[a.Set[0]], columns: columns[a.Set[1]]}
	s.n = simd.Sum(s.rows)
	s.beta = slices.Repeat([]float64{1}, len(s.columns))
	size := len(a.Scores)
	s.count, s.less, s.more = make([]float64, size), make([]float64, size), make([]float64, size)
	return s
}

// at sets dst to the counts at κ (Sinkhorn 1967).
func (s *raked) at(dst []float64, kappa float64) {
	width := len(s.columns)
	total := simd.Sum(s.columns)
	for i := range s.rows {
		row := s.Scores[i*width : (i+1)*width]
		peak := max(kappa*slices.Max(row), kappa*slices.Min(row))
		for j, f := range row {
			dst[i*width+j] = math.Exp(kappa*f - peak)
			if s.zeros != nil && s.zeros[i*width+j] {
				dst[i*width+j] = 0
			}
		}
	}
	below, alpha := make([]float64, width), make([]float64, len(s.rows))
	for range rakings {
		clear(below)
		off := 0.0
		for i, y := range s.rows {
			row := dst[i*width : (i+1)*width]
			sum := simd.Dot(row, s.beta) + 1e-300
			off += math.Abs(y - alpha[i]*sum)
			alpha[i] = y / sum
			simd.Axpy(below, alpha[i], row)
		}
		for j, y := range s.columns {
			s.beta[j] = y * s.n / total / (below[j] + 1e-300)
		}
		if off < 1e-6*s.n {
			break
		}
	}
	for i := range s.rows {
		row := dst[i*width : (i+1)*width]
		simd.Mul(row, row, s.beta)
		simd.MulScalar(row, row, alpha[i])
	}
}

// derive sets the counts at κ and beside it.
func (s *raked) derive(kappa float64) {
	s.at(s.less, kappa-slopeReach)
	s.at(s.more, kappa+slopeReach)
	s.at(s.count, kappa)
}

// squares returns, for the weighted squares of what the measured cells miss, minus their slope in
// κ, half their curvature, and the variance of the slope that is due to noise.
func (s *raked) squares(kappa float64, m []Measurement) (g, h, v float64) {
	s.derive(kappa)
	for i, t := range s.tables {
		count, slope := make([]float64, len(m[t].Counts)), make([]float64, len(m[t].Counts))
		for c, to := range s.groups[i] {
			count[to] += s.count[c]
			slope[to] += (s.more[c] - s.less[c]) / (2 * slopeReach)
		}
		for c, y := range m[t].Counts {
			w := 1 / (m[t].Variance + count[c])
			g += w * slope[c] * (y - count[c])
			h += w * slope[c] * slope[c]
			v += w * w * slope[c] * slope[c] * m[t].Variance
		}
	}
	return g, h, v
}

// missed is what the association misses of the sum of scores: that of the residuals of the table
// that shows it with the least noise, with the variance of that.
func (s *raked) missed(m []Measurement) (missed, noise float64) {
	noise = math.Inf(1)
	for i, t := range s.tables {
		count, scores := make([]float64, len(m[t].Counts)), make([]float64, len(m[t].Counts))
		for c, to := range s.groups[i] {
			count[to] += s.count[c]
			scores[to] += s.count[c] * s.Scores[c]
		}
		sum, variance := 0.0, 0.0
		for c, y := range m[t].Counts {
			score := scores[c] / (count[c] + 1e-9)
			sum += score * (y - count[c])
			variance += score * score * m[t].Variance
		}
		if variance < noise {
			missed, noise = sum, variance
		}
	}
	return missed, noise
}

// sum is the sum of scores at κ, and its slope.
func (s *raked) sum(kappa float64) (sum, slope float64) {
	s.derive(kappa)
	return simd.Dot(s.count, s.Scores), (simd.Dot(s.more, s.Scores) - simd.Dot(s.less, s.Scores)) / (2 * slopeReach)
}
