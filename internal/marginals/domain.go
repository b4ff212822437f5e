// Package marginals fits an exponential family to noisy marginals of a table of
// cells and samples from it. Columns are K discrete variables; a Set is a
// sorted list of columns; a table over a Set is row-major, its last column fastest.
package marginals

import (
	"math"
	"slices"
)

// Domain is the number of cells of each column.
type Domain []int

// Set is an ascending list of columns.
type Set []int

// Cells is the number of cells of a table over s, or math.MaxInt if that
// overflows.
func (d Domain) Cells(s Set) int {
	n := 1
	for _, k := range s {
		if n > math.MaxInt/d[k] {
			return math.MaxInt
		}
		n *= d[k]
	}
	return n
}

// NewSet sorts columns and drops repetitions.
func NewSet(columns ...int) Set {
	s := slices.Clone(columns)
	slices.Sort(s)
	return slices.Compact(s)
}

// Contains tells whether t is a subset of s.
func (s Set) Contains(t Set) bool {
	i := 0
	for _, k := range t {
		for i < len(s) && s[i] < k {
			i++
		}
		if i == len(s) || s[i] != k {
			return false
		}
	}
	return true
}

// Intersect is the columns in both s and t.
func (s Set) Intersect(t Set) Set {
	both := Set{}
	for _, k := range s {
		if slices.Contains(t, k) {
			both = append(both, k)
		}
	}
	return both
}

// strides are the steps in a table over s of the columns of s.
func (d Domain) strides(s Set) []int {
	steps := make([]int, len(s))
	step := 1
	for i := len(s) - 1; i >= 0; i-- {
		steps[i] = step
		step *= d[s[i]]
	}
	return steps
}

// Project sums a table over from to the table over to, a subset.
func (d Domain) Project(dst, table []float64, from, to Set) {
	clear(dst)
	steps := make([]int, len(from))
	inner := d.strides(to)
	for i, k := range from {
		if j := slices.Index(to, k); j >= 0 {
			steps[i] = inner[j]
		}
	}
	index := make([]int, len(from))
	at := 0
	for _, v := range table {
		dst[at] += v
		for i := len(from) - 1; i >= 0; i-- {
			index[i]++
			at += steps[i]
			if index[i] < d[from[i]] {
				break
			}
			at -= index[i] * steps[i]
			index[i] = 0
		}
	}
}

// Zeros are the cells of a table over Set that no record may have.
type Zeros struct {
	Set   Set
	Empty []bool // by cell
}
