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

// Table is a table of counts over a set of columns. Groups has, by column of the set, the
// group of each of its cells, and the table has a cell for each group. Without groups every
// cell is its own group. With Scores, of all cells without groups, the table is one number:
// the sum of the records' scores.
type Table struct {
	Set    Set
	Groups [][]int32 `json:",omitempty"`
	Scores []float64 `json:",omitempty"`
}

// Tables are tables by cells, without groups.
func Tables(sets ...Set) []Table {
	var list []Table
	for _, s := range sets {
		list = append(list, Table{Set: s})
	}
	return list
}

// of is the domain with a table's groups in place of cells.
func (d Domain) of(t Table) Domain {
	if t.Groups == nil {
		return d
	}
	g := slices.Clone(d)
	for i, k := range t.Set {
		if of := t.Groups[i]; of != nil {
			g[k] = int(slices.Max(of)) + 1
		}
	}
	return g
}

// Size is the number of cells of a table.
func (d Domain) Size(t Table) int {
	if t.Scores != nil {
		return 1
	}
	return d.of(t).Cells(t.Set)
}

// grouped returns, for each cell of the ungrouped table over t.Set, the cell of t.
func (d Domain) grouped(t Table) []int32 {
	steps := d.of(t).strides(t.Set)
	list := make([]int32, d.Cells(t.Set))
	if t.Scores != nil {
		return list
	}
	index := make([]int, len(t.Set))
	for c := range list {
		for j := range t.Set {
			at := index[j]
			if t.Groups != nil && t.Groups[j] != nil {
				at = int(t.Groups[j][at])
			}
			list[c] += int32(at * steps[j])
		}
		for j := len(index) - 1; j >= 0; j-- {
			if index[j]++; index[j] < d[t.Set[j]] {
				break
			}
			index[j] = 0
		}
	}
	return list
}

// Count adds the records' cells to the table.
func (d Domain) Count(dst []float64, t Table, records [][]int32) {
	steps := d.of(t).strides(t.Set)
	for i := range records[0] {
		at := 0
		for j, k := range t.Set {
			cell := records[k][i]
			if t.Groups != nil && t.Groups[j] != nil {
				cell = t.Groups[j][cell]
			}
			at += int(cell) * steps[j]
		}
		dst[at]++
	}
}

// group merges neighbours among the first ordered cells of a column until it has at most
// the given number of groups. It always merges the two groups with the least joint count.
func group(counts []float64, ordered, groups int) []int32 {
	if ordered < 2 || len(counts) <= groups {
		return nil
	}
	sums, ends := []float64{}, []int{}
	for c, y := range counts[:ordered] {
		sums, ends = append(sums, max(y, 0)), append(ends, c+1)
	}
	for most := max(2, groups-len(counts)+ordered); len(sums) > most; {
		best := 0
		for i := range len(sums) - 1 {
			if sums[i]+sums[i+1] < sums[best]+sums[best+1] {
				best = i
			}
		}
		sums[best] += sums[best+1]
		ends[best] = ends[best+1]
		sums, ends = slices.Delete(sums, best+1, best+2), slices.Delete(ends, best+1, best+2)
	}
	var list []int32
	at := int32(0)
	for c := range counts {
		if c >= ordered || c == ends[at] {
			at++
		}
		list = append(list, at)
	}
	return list
}

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

// Contains reports whether t is a subset of s.
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

// Intersect has the columns that are in both s and t.
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

// Zeros are the cells of a table over Set in which no record may lie.
type Zeros struct {
	Set   Set
	Empty []bool // by cell
}
