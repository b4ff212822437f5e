package graph

import "math"

// SquaredNorm is |g|² for the gradient g of record r of the last Records, from
// the factors of its terms: the sum of their squared norms and, twice, of the
// inner products in Cross. NaN where an index is out of range.
func (m *Machine) SquaredNorm(r int) float64 {
	s := 0.0
	for i := range m.t.Terms {
		t := &m.t.Terms[i]
		for w := 0; t.Kind == TermScatter && w < t.Width; w++ {
			if m.row(t, w, r) < 0 {
				return math.NaN()
			}
		}
		s += m.inner(t, t, t.Gram || t.Width == 1, r)
	}
	for _, p := range m.t.Cross {
		s += 2 * m.inner(&m.t.Terms[p.I], &m.t.Terms[p.J], p.Gram, r)
	}
	return s
}

// inner is the inner product of two terms of one layout; see Term.
func (m *Machine) inner(t, u *Term, gram bool, r int) float64 {
	s := 0.0
	switch {
	case t.Kind == TermDense:
		return m.dot(m.record(t.Delta, r), m.record(t.Delta, r), m.t.Buffers[t.Delta].Size)
	case t.Kind == TermOuter && u.Kind == TermOuter && !gram:
		x, y := m.elements(t, r), m.elements(u, r)
		for i := range t.Rows {
			for c := range t.Cols {
				s += x.at(i, c) * y.at(i, c)
			}
		}
		return s
	}
	for w := range t.Width {
		for v := range u.Width {
			d := m.dot(m.column(t.Delta, w, t.Width, r), m.column(u.Delta, v, u.Width, r), t.Cols)
			switch {
			case t.Kind == TermOuter && u.Kind == TermOuter:
				d *= m.dot(m.column(t.X, w, t.Width, r), m.column(u.X, v, u.Width, r), t.Rows)
			case t.Kind == TermScatter && u.Kind == TermScatter:
				d *= indicator(m.row(t, w, r) == m.row(u, v, r))
			case t.Kind == TermScatter:
				d *= m.factor(u, m.row(t, w, r), v, r)
			default:
				d *= m.factor(t, m.row(u, v, r), w, r)
			}
			s += d
		}
	}
	return s
}

// factor is element (i, w) of an outer term's X.
func (m *Machine) factor(t *Term, i, w, r int) float64 {
	x := m.record(t.X, r)
	return x.v[(i*t.Width+w)*x.step]
}

// column is column w of a buffer seen as a matrix with width columns.
func (m *Machine) column(buf Buf, w, width, r int) strided {
	x := m.record(buf, r)
	return strided{x.v[w*x.step:], width * x.step}
}

func (m *Machine) dot(x, y strided, n int) float64 {
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

// PartsNorm2 is Σ Width·Σ_w |X_w|²|Delta_w|² over the terms of record r of the last
// Records, and the same without X for terms without X. But for pairs, SquaredNorm would be
// at most this if no parts cancelled.
func (m *Machine) PartsNorm2(r int) float64 {
	s := 0.0
	for i := range m.t.Terms {
		t := &m.t.Terms[i]
		if t.Kind == TermDense {
			s += m.inner(t, t, true, r)
			continue
		}
		for w := range t.Width {
			delta := m.column(t.Delta, w, t.Width, r)
			part := m.dot(delta, delta, t.Cols)
			if t.Kind == TermOuter {
				x := m.column(t.X, w, t.Width, r)
				part *= m.dot(x, x, t.Rows)
			}
			s += float64(t.Width) * part
		}
	}
	return s
}
