// Package support has the supports of distributions, and the transforms from free numbers
// to them: one transform per file.
package support

import (
	"fmt"
	"math"
)

// A Kind of support.
type Kind uint8

// Kinds of support. The discrete ones, from Count on, are for observations
// only.
const (
	Real         Kind = iota // any number
	Positive                 // x > 0
	UnitInterval             // 0 < x < 1
	Interval                 // Lower < x < Upper
	Simplex                  // a vector of positive numbers that add up to 1
	Ordered                  // a vector with x₁ < x₂ < ...
	CholeskyCorr             // the lower Cholesky factor of a correlation matrix
	CholeskyCov              // a lower triangle with positive diagonal
	Count                    // 0, 1, 2, ..., at most Upper if that is finite
	ClosedUnit               // 0 <= x <= 1
	Binary                   // 0 or 1
	Category                 // the index of a level: 0, 1, ..., K-1
	Counts                   // a vector of counts
	Mixed                    // a vector whose elements have different supports
)

var kindNames = [...]string{"real", "positive", "in (0, 1)", "in an interval", "a simplex", "ordered",
	"a cholesky factor of a correlation matrix", "a cholesky factor", "a count", "from 0 to 1", "binary", "a category", "a vector of counts", "a vector of mixed kinds"}

// String is the kind as it reads after "must be".
func (k Kind) String() string { return kindNames[k] }

// A Support is a set of values. Lower and Upper belong to Interval and Count; for Count an
// Upper of 0 means no bound.
type Support struct {
	Kind
	Lower, Upper float64
}

// String prints the support as it reads after "must be".
func (s Support) String() string {
	if s.Kind == Interval {
		return fmt.Sprintf("in (%g, %g)", s.Lower, s.Upper)
	}
	if s.Kind == Count && s.Lower > 0 {
		return fmt.Sprintf("a count from %g", s.Lower)
	}
	return s.Kind.String()
}

// Discrete means that values are, or may be, whole numbers.
func (k Kind) Discrete() bool { return k >= Count }

// EventRank is the number of event dims of a value.
func (k Kind) EventRank() int {
	switch k {
	case Simplex, Ordered, Counts, Mixed:
		return 1
	case CholeskyCorr, CholeskyCov:
		return 2
	}
	return 0
}

// Whole is the support of that kind without bounds of its own.
func (k Kind) Whole() Support { return Support{Kind: k} }

// Contains reports whether one value, an event row-major, lies in the support;
// sums to 1 and unit rows may be off by 1e-9.
func (s Support) Contains(x []float64) bool {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) || !s.containsElement(x, i, v) {
			return false
		}
	}
	switch s.Kind {
	case Simplex:
		return math.Abs(Sum(x)-1) < 1e-9
	case CholeskyCorr:
		d := Side(len(x))
		for i := range d {
			var square float64
			for _, v := range x[i*d : i*d+d] {
				square += v * v
			}
			if math.Abs(square-1) > 1e-9 {
				return false
			}
		}
	}
	return true
}

// Covers reports whether every value of t lies in s too, element by element.
func (s Support) Covers(t Support) bool {
	lower, upper := t.Bounds()
	switch s.Kind {
	case Real:
		return true
	case Positive:
		return lower >= 0
	case UnitInterval:
		return lower >= 0 && upper <= 1
	case Interval:
		return lower >= s.Lower && upper <= s.Upper
	case CholeskyCov:
		return t.Kind == CholeskyCov || t.Kind == CholeskyCorr
	}
	return s.Kind == t.Kind
}

// Bounds are the least and the largest number that an element can be.
func (s Support) Bounds() (lower, upper float64) {
	switch s.Kind {
	case Positive, Category:
		return 0, math.Inf(1)
	case UnitInterval, ClosedUnit, Simplex, Binary:
		return 0, 1
	case Interval:
		return s.Lower, s.Upper
	case Count, Counts:
		if s.Upper > 0 {
			return 0, s.Upper
		}
		return 0, math.Inf(1)
	}
	return math.Inf(-1), math.Inf(1)
}

// containsElement reports whether v may be element i of the event x.
func (s Support) containsElement(x []float64, i int, v float64) bool {
	switch s.Kind {
	case Positive:
		return v > 0
	case UnitInterval:
		return v > 0 && v < 1
	case ClosedUnit:
		return v >= 0 && v <= 1
	case Interval:
		return v > s.Lower && v < s.Upper
	case Simplex:
		return v >= 0
	case Ordered:
		return i == 0 || x[i-1] < v
	case CholeskyCorr, CholeskyCov:
		switch d := Side(len(x)); {
		case i%d > i/d:
			return v == 0
		case i%d == i/d:
			return v > 0
		}
	case Count, Category, Counts:
		return v >= s.Lower && v == math.Floor(v) && (s.Upper == 0 || v <= s.Upper)
	case Binary:
		return v == 0 || v == 1
	}
	return true
}

// Sum is Σ x.
func Sum(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v
	}
	return s
}

// Side is the number of rows of a square matrix of n elements.
func Side(n int) int {
	d := int(math.Sqrt(float64(n)) + 0.5)
	if d*d != n {
		panic(fmt.Sprintf("support: %d elements are no square matrix", n))
	}
	return d
}
