package marginals

import (
	"encoding/binary"
	"math"
	"slices"
)

// support enumerates the cells of cliques that no zero excludes.
type support struct {
	domain Domain
	zeros  []Zeros
	counts map[string]int // rows of cliques, by columns; -n: more than n
}

func newSupport(d Domain, zeros []Zeros) *support {
	return &support{d, zeros, map[string]int{}}
}

// innermost is the column of s with the most cells.
func (u *support) innermost(s Set) int {
	best := s[0]
	for _, k := range s {
		if u.domain[k] >= u.domain[best] {
			best = k
		}
	}
	return best
}

// cells is the number of kept cells of a clique over s, or any number above limit if that
// is above limit.
func (u *support) cells(s Set, limit int) int {
	width := u.domain[u.innermost(s)]
	key := make([]byte, 0, 2*len(s))
	for _, k := range s {
		key = binary.LittleEndian.AppendUint16(key, uint16(k))
	}
	rows, ok := u.counts[string(key)]
	if !ok && !u.constrained(s) {
		if n := u.domain.Cells(s); n <= limit {
			return n
		}
		return math.MaxInt
	}
	if !ok || rows < 0 && -rows < limit/width {
		rows = 0
		if !u.rows(s, func([]int32) bool { rows++; return rows <= limit/width }) {
			rows = -(limit / width)
		}
		u.counts[string(key)] = rows
	}
	if rows < 0 || rows > limit/width {
		return math.MaxInt
	}
	return rows * width
}

func (u *support) constrained(s Set) bool {
	return slices.ContainsFunc(u.zeros, func(z Zeros) bool { return s.Contains(z.Set) })
}

// rows calls f with the other columns' values of each row of a clique over s that has a
// cell without zero. It stops, and returns false, when f does.
func (u *support) rows(s Set, f func([]int32) bool) bool {
	inner := u.innermost(s)
	var others []int
	for _, k := range s {
		if k != inner {
			others = append(others, k)
		}
	}
	checks, within := u.checks(s, inner, others)
	values := make([]int32, len(others))
	width := u.domain[inner]
	var visit func(i int) bool
	visit = func(i int) bool {
		if i == len(others) {
			if len(within) > 0 {
				alive := false
				for j := 0; j < width && !alive; j++ {
					alive = true
					for _, c := range within {
						if c.empty[c.cell(values)+j*c.inner] {
							alive = false
							break
						}
					}
				}
				if !alive {
					return true
				}
			}
			return f(values)
		}
	next:
		for v := range u.domain[others[i]] {
			values[i] = int32(v)
			for _, c := range checks[i+1] {
				if c.empty[c.cell(values)] {
					continue next
				}
			}
			if !visit(i + 1) {
				return false
			}
		}
		return true
	}
	return visit(0)
}

// checks are the zeros of s: in within those with the column inner, in checks[i+1] those
// whose last column is column i of others.
func (u *support) checks(s Set, inner int, others []int) (checks [][]check, within []check) {
	checks = make([][]check, len(others)+1)
	for _, z := range u.zeros {
		if !s.Contains(z.Set) {
			continue
		}
		steps := u.domain.strides(z.Set)
		c := check{empty: z.Empty}
		last := -1
		for i, k := range others {
			for j, zk := range z.Set {
				if zk == k {
					c.at, c.steps, last = append(c.at, i), append(c.steps, steps[j]), i
				}
			}
		}
		for j, zk := range z.Set {
			if zk == inner {
				c.inner = steps[j]
			}
		}
		if c.inner > 0 {
			within = append(within, c)
		} else {
			checks[last+1] = append(checks[last+1], c)
		}
	}
	return checks, within
}

// check looks up a row in a table of zeros.
type check struct {
	empty []bool
	at    []int // of the row's values
	steps []int
	inner int // step of the innermost column, 0: not in the table
}

func (c *check) cell(values []int32) int {
	n := 0
	for i, at := range c.at {
		n += int(values[at]) * c.steps[i]
	}
	return n
}
