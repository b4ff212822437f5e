package marginals

import (
	"math"

	"d3p/internal/stats"
)

// Random gives uniform numbers in [0, 1).
type Random interface{ Uniform() float64 }

// Sample draws n records of the family at the parameters of the last Infer: a slice of
// cells for each column of the domain. Clique by clique it draws the columns given the
// columns drawn before, by systematic sampling: among the records with the same drawn
// values each cell comes up as often as expected, rounded up or down. With independent set,
// records are independent draws.
func (t *Tree) Sample(n int, random Random, independent bool) [][]int32 {
	records := make([][]int32, len(t.Domain))
	for k := range records {
		records[k] = make([]int32, n)
	}
	for i := range t.cliques {
		t.cliques[i].sample(records, n, random, independent)
	}
	return records
}

func (c *clique) sample(records [][]int32, n int, random Random, independent bool) {
	groups := c.separator.size
	// Cells by the value of the separator, then records.
	cells, cellEnd := bucket(len(c.belief), groups, func(cell int) int {
		return int(c.separator.offset[cell/c.width]) + cell%c.width*c.separator.step
	})
	rows, rowEnd := bucket(n, groups, c.group(records))
	first, start := 0, 0
	for g := range groups {
		mine, those := rows[first:rowEnd[g]], cells[start:cellEnd[g]]
		first, start = rowEnd[g], cellEnd[g]
		if len(mine) == 0 {
			continue
		}
		stats.Shuffle(mine, random)
		mass := 0.0
		for _, cell := range those {
			mass += c.belief[cell]
		}
		points := ticks{mass / float64(len(mine)), random, independent, mass, len(mine), 0}
		sum, at := 0.0, -1
		for _, record := range mine {
			next := points.next()
			for at < 0 || sum <= next && at < len(those)-1 {
				at++
				sum += c.belief[those[at]]
			}
			for c.belief[those[at]] == 0 && at > 0 { // rounding at the end
				at--
			}
			c.put(records, int(record), int(those[at]))
		}
	}
}

// ticks are ascending points in [0, mass): a random grid, or the order statistics
// of uniform ones.
type ticks struct {
	step        float64
	random      Random
	independent bool
	left        float64 // mass above the last point
	count       int     // points left
	last        float64
}

func (t *ticks) next() float64 {
	if t.independent {
		// The least of count uniform points on the remaining interval.
		gap := t.left * (1 - math.Pow(1-t.random.Uniform(), 1/float64(t.count)))
		t.last += gap
		t.left -= gap
		t.count--
		return t.last
	}
	if t.count > 0 {
		t.last, t.count = t.random.Uniform()*t.step, 0
	} else {
		t.last += t.step
	}
	return t.last
}

// group returns the value of a record's separator.
func (c *clique) group(records [][]int32) func(int) int {
	steps := make([]int, 0, len(c.known))
	columns := make([][]int32, 0, len(c.known))
	step := 1
	for i := len(c.known) - 1; i >= 0; i-- {
		steps, columns = append(steps, step), append(columns, records[c.known[i].column])
		step *= c.known[i].cells
	}
	return func(record int) int {
		at := 0
		for i, column := range columns {
			at += int(column[record]) * steps[i]
		}
		return at
	}
}

func (c *clique) put(records [][]int32, record, cell int) {
	row, others, at := cell/c.width, len(c.columns)-1, 0
	for _, k := range c.columns {
		if k == c.inner {
			records[k][record] = int32(cell % c.width)
			continue
		}
		records[k][record] = c.values[row*others+at]
		at++
	}
}

// bucket sorts 0..n-1 by group; end[g] is one past group g's last.
func bucket(n, groups int, group func(int) int) (sorted []int32, end []int) {
	if n > math.MaxInt32 {
		panic("marginals: too many records or cells to sort")
	}
	end = make([]int, groups+1)
	for i := range n {
		end[group(i)+1]++
	}
	for g := range groups {
		end[g+1] += end[g]
	}
	sorted = make([]int32, n)
	for i := range n {
		g := group(i)
		sorted[end[g]] = int32(i)
		end[g]++
	}
	return sorted, end
}
