package marginals

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/simd"
)

// Tree does exact inference in the family p(x) ∝ exp(Σ_S θ_S(x_S)), x outside the
// zeros, on a junction tree whose cliques contain every S (Lauritzen and
// Spiegelhalter 1988). It keeps tables of cells without zeros only.
type Tree struct {
	Domain  Domain
	Tables  []Table
	Theta   [][]float64 // natural parameters, by table
	Means   [][]float64 // probabilities of cells, or mean scores, after Infer, by table
	theta   []float64   // of all tables
	means   []float64
	cliques []clique
	pool    *pool
}

// A clique has the table of its columns. A row is a combination of all columns but one,
// inner, with at least one cell without zero. The cells of a row are the values of inner.
type clique struct {
	columns   Set
	inner     int // column
	width     int // cells of inner
	rows      int
	values    []int32 // of the other columns, rows x (len(columns)-1)
	belief    []float64
	base      []float64 // 0, or -Inf for a zero; nil: no row has a zero
	factors   []factor
	children  []child
	parent    int
	known     []known   // columns of the separator, ascending
	separator view      // to the parent
	message   []float64 // to the parent: shares of the separator's values
	ratio     []float64 // back from the parent
	total     float64   // of belief before ratio
}

// A factor is a table without groups in its clique, inner column fastest.
type factor struct {
	table       int
	view        view
	theta, mean []float64
	order       []int32   // cell of the table in its own layout
	scores      []float64 // of cells; nil: 1
}

type known struct{ column, cells int }

type child struct {
	clique int
	view   view // cell of the separator in the parent's layout
}

// A view places a clique's rows in the table over a subset of its columns: cell j of row r
// is at offset[r] + j·step.
type view struct {
	offset []int32
	step   int
	size   int
}

// NewTree builds a tree whose cliques contain the sets of tables. It returns an error if
// the cliques have more than limit cells, or if zeros leave none.
func NewTree(d Domain, tables []Table, zeros []Zeros, limit, workers int) (*Tree, error) {
	t := &Tree{Domain: d, Tables: tables}
	u := newSupport(d, zeros)
	var sets []Set
	for _, x := range tables {
		sets = append(sets, x.Set)
	}
	s := u.structure(withZeros(sets, zeros), limit)
	if n := u.total(s, limit); n > limit {
		return nil, fmt.Errorf("the cliques have more than %d cells", limit)
	}
	for i, columns := range s.cliques {
		c := u.clique(columns)
		if c.rows == 0 {
			return nil, NoCellError{columns}
		}
		c.parent = s.parent[i]
		c.separator = c.view(d, s.separators[i])
		for _, k := range s.separators[i] {
			c.known = append(c.known, known{k, d[k]})
		}
		c.message = make([]float64, c.separator.size)
		c.ratio = make([]float64, c.separator.size)
		t.cliques = append(t.cliques, c)
	}
	for i := range t.cliques {
		if p := t.cliques[i].parent; p >= 0 {
			t.cliques[p].children = append(t.cliques[p].children, child{i, t.cliques[p].view(d, s.separators[i])})
		}
	}
	size := 0
	for _, x := range tables {
		size += d.Size(x)
	}
	t.theta, t.means = make([]float64, size), make([]float64, size)
	at := 0
	for i, x := range tables {
		best := -1
		for j := range t.cliques {
			if c := &t.cliques[j]; c.columns.Contains(x.Set) && (best < 0 || len(c.belief) < len(t.cliques[best].belief)) {
				best = j
			}
		}
		c := &t.cliques[best]
		c.factors = append(c.factors, c.factor(d, i, x))
		n := d.Size(x)
		t.Theta = append(t.Theta, t.theta[at:at+n])
		t.Means = append(t.Means, t.means[at:at+n])
		at += n
	}
	t.pool = newPool(t, workers)
	return t, nil
}

// NoCellError reports columns whose cells are all zeros.
type NoCellError struct{ Columns Set }

func (e NoCellError) Error() string {
	return fmt.Sprintf("the zeros leave no cell of columns %v", e.Columns)
}

// withZeros are the sets that cliques must contain.
func withZeros(sets []Set, zeros []Zeros) []Set {
	all := slices.Clone(sets)
	for _, z := range zeros {
		all = append(all, z.Set)
	}
	return all
}

// clique enumerates the rows of a clique.
func (u *support) clique(columns Set) clique {
	c := clique{columns: columns, inner: u.innermost(columns)}
	c.width = u.domain[c.inner]
	u.rows(columns, func(values []int32) bool {
		c.values = append(c.values, values...)
		c.rows++
		return true
	})
	c.belief = make([]float64, c.rows*c.width)
	for _, z := range u.zeros {
		if !slices.Contains(z.Set, c.inner) || !columns.Contains(z.Set) {
			continue // rows leaves out the rows of zeros
		}
		if c.base == nil {
			c.base = make([]float64, len(c.belief))
		}
		v := c.view(u.domain, z.Set)
		for r := range c.rows {
			for j := range c.width {
				if z.Empty[int(v.offset[r])+j*v.step] {
					c.base[r*c.width+j] = math.Inf(-1)
				}
			}
		}
	}
	return c
}

// view places the rows in a table over s in its own layout.
func (c *clique) view(d Domain, s Set) view {
	return c.strided(s, d.strides(s), d.Cells(s))
}

func (c *clique) strided(s Set, steps []int, size int) view {
	v := view{offset: make([]int32, c.rows), size: size}
	at, others := 0, len(c.columns)-1
	for _, k := range c.columns {
		i := slices.Index(s, k)
		if k == c.inner {
			if i >= 0 {
				v.step = steps[i]
			}
			continue
		}
		if i >= 0 {
			for r := range v.offset {
				v.offset[r] += c.values[r*others+at] * int32(steps[i])
			}
		}
		at++
	}
	return v
}

// factor lays out table i with the inner column fastest.
func (c *clique) factor(d Domain, i int, x Table) factor {
	s := x.Set
	steps := make([]int, len(s))
	step := 1
	if j := slices.Index(s, c.inner); j >= 0 {
		steps[j], step = 1, c.width
	}
	for j := len(s) - 1; j >= 0; j-- {
		if s[j] != c.inner {
			steps[j] = step
			step *= d[s[j]]
		}
	}
	f := factor{table: i, view: c.strided(s, steps, step), theta: make([]float64, step), mean: make([]float64, step), order: make([]int32, step)}
	if x.Scores != nil {
		f.scores = make([]float64, step)
	}
	groups := d.grouped(x)
	index := make([]int, len(s))
	for cell := range step {
		at := 0
		for j := range s {
			at += index[j] * steps[j]
		}
		f.order[at] = groups[cell]
		if x.Scores != nil {
			f.scores[at] = x.Scores[cell]
		}
		for j := len(s) - 1; j >= 0; j-- {
			if index[j]++; index[j] < d[s[j]] {
				break
			}
			index[j] = 0
		}
	}
	return f
}

// Close ends the tree's workers.
func (t *Tree) Close() { t.pool.close() }

// Infer computes Means at Theta and returns log Σ_x exp(Σ_S θ_S(x_S)).
func (t *Tree) Infer() float64 {
	log := 0.0
	for i := len(t.cliques) - 1; i >= 0; i-- {
		c := &t.cliques[i]
		for _, f := range c.factors {
			for cell, o := range f.order {
				f.theta[cell] = t.Theta[f.table][o]
			}
			if f.scores != nil {
				simd.Mul(f.theta, f.theta, f.scores)
			}
		}
		peak := t.pool.potentials(c)
		t.pool.collect(c)
		c.total = simd.Sum(c.message)
		log += peak + math.Log(c.total)
		simd.MulScalar(c.message, c.message, 1/c.total)
	}
	for i := range t.cliques {
		c := &t.cliques[i]
		if c.parent < 0 {
			c.ratio[0] = 1
		}
		for j, m := range c.message {
			if m > 0 {
				c.ratio[j] /= m * c.total
			} else {
				c.ratio[j] = 0
			}
		}
		t.pool.distribute(c)
		for _, f := range c.factors {
			mean := t.Means[f.table]
			if f.scores != nil {
				mean[0] = simd.Dot(f.mean, f.scores)
				continue
			}
			clear(mean)
			for cell, o := range f.order {
				mean[o] += f.mean[cell]
			}
		}
	}
	return log
}
