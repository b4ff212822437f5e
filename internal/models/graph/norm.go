package graph

import "math"

// SquaredNorm is |g|² for the gradient g of record r of the last Records, from
// the factors of its terms: the sum of their squared norms and, twice, of the
// inner products in Cross. NaN where an index is out of range.
func (m *Machine) SquaredNorm(r int) float64 {
	s := 0.0
	for i := range m.t.Terms {
		t := &m.t.Terms[i]
		if t.Kind == TermScatter && row(m.value(t.Index, 0, r), t.Rows) < 0 {
			return math.NaN()
		}
		s += m.inner(t, t, r)
	}
	for _, p := range m.t.Cross {
		s += 2 * m.inner(&m.t.Terms[p.I], &m.t.Terms[p.J], r)
	}
	return s
}

// inner is the inner product of two terms of one layout; see Term.
func (m *Machine) inner(t, u *Term, r int) float64 {
	s := m.dot(t.Delta, u.Delta, t.Cols, r)
	switch {
	case t.Kind == TermOuter && u.Kind == TermOuter:
		return s * m.dot(t.X, u.X, t.Rows, r)
	case t.Kind == TermScatter && u.Kind == TermScatter:
		return s * indicator(row(m.value(t.Index, 0, r), t.Rows) == row(m.value(u.Index, 0, r), u.Rows))
	case t.Kind == TermScatter && u.Kind == TermOuter:
		t, u = u, t
		fallthrough
	case t.Kind == TermOuter && u.Kind == TermScatter:
		return s * m.value(t.X, row(m.value(u.Index, 0, r), u.Rows), r)
	}
	return s
}

func (m *Machine) dot(x, y Buf, n, r int) float64 {
	s := 0.0
	for i := range n {
		s += m.value(x, i, r) * m.value(y, i, r)
	}
	return s
}

// AddGradients adds Σ_r scale[r]·g_r to dst, of P scalars, for the records of
// the last Records; a record with scale 0 adds nothing, even if its gradient
// is not finite.
func (m *Machine) AddGradients(scale, dst []float64) {
	for i := range m.t.Terms {
		for r, s := range scale {
			if s != 0 {
				m.addTerm(&m.t.Terms[i], r, s, dst)
			}
		}
	}
}
