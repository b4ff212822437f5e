package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/data"
)

// discretised is a table by columns of public cells.
type discretised struct {
	names []string
	sizes []int
	cells [][]int32 // by column
}

// Cells of numbers: at most publicCells of equal width, in whole numbers; or, if the bounds
// are zero and at least ratioUpper, zero and ratioCells of equal ratio.
const (
	publicCells = 20
	ratioCells  = 8
	ratioUpper  = 1000
)

// discretise puts the values of a file into public cells. A missing value has a cell, as
// each level does.
func discretise(columns []*data.Column, header []string, rows [][]string) (discretised, error) {
	var d discretised
	for _, c := range columns {
		j, err := index(header, c.HeaderName())
		if err != nil {
			return d, err
		}
		cell, size := publicCell(c)
		values := make([]int32, len(rows))
		for i, row := range rows {
			values[i] = int32(cell(row[j[0]]))
		}
		d.names, d.sizes, d.cells = append(d.names, c.Name.V), append(d.sizes, size), append(d.cells, values)
	}
	return d, nil
}

// publicCell returns the cell of a value as the file writes it, and the number of cells.
// The last cell is for missing values.
func publicCell(c *data.Column) (cell func(string) int, size int) {
	if len(c.Levels) > 0 {
		return func(s string) int {
			if i := slices.Index(c.LevelNames(), s); i >= 0 {
				return i
			}
			return len(c.Levels)
		}, len(c.Levels) + 1
	}
	lower, upper := c.Lower.V, c.Upper.V
	at := func(x float64) int { return int((x - lower) / (upper - lower) * publicCells) }
	size = publicCells
	switch {
	case lower == 0 && upper >= ratioUpper && c.Type.V != data.Date:
		size = ratioCells + 1
		at = func(x float64) int {
			if x < 1 {
				return 0
			}
			return 1 + int(math.Log(x)/math.Log(upper)*ratioCells)
		}
	case c.Whole():
		width := math.Ceil((upper - lower + 1) / publicCells)
		if width == 3 || width == 4 {
			width = 5
		}
		size = int(math.Ceil((upper - lower + 1) / width))
		at = func(x float64) int { return int((x - lower) / width) }
	}
	last := size
	return func(s string) int {
		x := c.Number(s)
		if math.IsNaN(x) {
			return last
		}
		return max(0, min(at(min(max(x, lower), upper)), last-1))
	}, size + 1
}

// distances returns the mean and the largest total variation between two tables over all
// sets of `ways` columns.
func distances(a, b discretised, ways int) (mean, most float64) {
	sets, sum := 0, 0.0
	chosen := make([]int, ways)
	var visit func(i, from int)
	visit = func(i, from int) {
		if i == ways {
			v := variation(a, b, chosen)
			sum += v
			most = max(most, v)
			sets++
			return
		}
		for k := from; k < len(a.sizes); k++ {
			chosen[i] = k
			visit(i+1, k+1)
		}
	}
	visit(0, 0)
	return sum / float64(sets), most
}

func variation(a, b discretised, columns []int) float64 {
	size := 1
	for _, k := range columns {
		size *= a.sizes[k]
	}
	diff := make([]float64, size)
	add := func(d discretised, sign float64) {
		unit := sign / float64(len(d.cells[0]))
		for i := range d.cells[0] {
			at := 0
			for _, k := range columns {
				at = at*a.sizes[k] + int(d.cells[k][i])
			}
			diff[at] += unit
		}
	}
	add(a, 1)
	add(b, -1)
	sum := 0.0
	for _, x := range diff {
		sum += math.Abs(x)
	}
	return sum / 2
}

// transferred is the AUC, on the test table, of a logistic regression fitted to the
// training table. The column target is 1 in the cell one; every other column enters by its
// cells.
func transferred(train, test discretised, target string, one int) float64 {
	k := slices.Index(train.names, target)
	w := logistic(train, k, one)
	var scores, ones []float64
	for i := range test.cells[0] {
		if c := int(test.cells[k][i]); c < test.sizes[k]-1 {
			scores, ones = append(scores, linear(test, w, k, i)), append(ones, indicator(c == one))
		}
	}
	return auc(scores, ones)
}

// linear is the linear predictor of a record.
func linear(d discretised, w []float64, target, i int) float64 {
	sum, first := w[len(w)-1], 0
	for k, size := range d.sizes {
		if k != target {
			sum += w[first+int(d.cells[k][i])]
		}
		first += size
	}
	return sum
}

// logistic fits by Newton's method with a ridge of 1: a weight for each cell, and an
// intercept.
func logistic(d discretised, target, one int) []float64 {
	p := 1
	for _, size := range d.sizes {
		p += size
	}
	w := make([]float64, p)
	active := make([]int, 0, len(d.sizes))
	for range 12 {
		h := mat.NewSymDense(p, nil)
		g := mat.NewVecDense(p, nil)
		raw := h.RawSymmetric().Data
		for i := range d.cells[0] {
			c := int(d.cells[target][i])
			if c == d.sizes[target]-1 {
				continue
			}
			active = active[:0]
			first := 0
			for k, size := range d.sizes {
				if k != target {
					active = append(active, first+int(d.cells[k][i]))
				}
				first += size
			}
			active = append(active, p-1)
			m := 1 / (1 + math.Exp(-linear(d, w, target, i)))
			r := indicator(c == one) - m
			for a, j := range active {
				g.SetVec(j, g.AtVec(j)+r)
				for _, k := range active[a:] {
					raw[j*p+k] += m * (1 - m)
				}
			}
		}
		for j := range w {
			g.SetVec(j, g.AtVec(j)-w[j])
			h.SetSym(j, j, h.At(j, j)+1)
		}
		var chol mat.Cholesky
		var step mat.VecDense
		if !chol.Factorize(h) || chol.SolveVecTo(&step, g) != nil {
			return w
		}
		for j := range w {
			w[j] += step.AtVec(j)
		}
	}
	return w
}
