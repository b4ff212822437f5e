package graph

import "math"

// SquaredNorm is |g|² for the gradient g of record r of the last Records, from
// the factors of its terms: the sum of their squared norms and, twice, of the
// inner products in Cross. NaN where an index is out of range.
func (m *Machine) SquaredNorm(r int) float64 {
	s := 0.0
	for i := range m.t.Terms {
		t := &m.t.Terms[i]
		if t.Kind == TermScatter && m.row(t, r) < 0 {
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
		return s * indicator(m.row(t, r) == m.row(u, r))
	case t.Kind == TermScatter && u.Kind == TermOuter:
		return s * m.factor(u, m.row(t, r), r)
	case t.Kind == TermOuter && u.Kind == TermScatter:
		return s * m.factor(t, m.row(u, r), r)
	}
	return s
}

// factor is X[i] of an outer term.
func (m *Machine) factor(t *Term, i, r int) float64 {
	x := m.record(t.X, r)
	return x.v[i*x.step]
}

func (m *Machine) dot(p, q Buf, n, r int) float64 {
	x, y := m.record(p, r), m.record(q, r)
	s := 0.0
	for i := range n {
		s += x.v[i*x.step] * y.v[i*y.step]
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
