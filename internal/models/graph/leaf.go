package graph

import "slices"

// leafParts is the adjoint of a Param in parts that a Tape may hold: parts that share
// parameters have the same layout, and none of them is a block. Other overlapping parts are
// merged into one block over the whole leaf.
func (r *reverse) leafParts(n *Node, a *adjoint) []structured {
	parts := a.parts
	r.alignScatters(parts, n.size)
	r.alignOuters(parts)
	parts = r.joinPlaces(n, r.joinEqual(parts))
	whole := layout{rows: 1, cols: n.size, rowStride: n.size, colStride: 1}
	if a.dense != nil && !a.dense.is(0) {
		parts = r.joinBlocks(n, a, parts)
		parts = append(parts, block(whole, r.b.vector(r.full(n, a.dense))))
	}
	for {
		i, j := conflict(parts, n.size)
		if i < 0 {
			return parts
		}
		d := &adjoint{}
		r.flatten(n, d, []structured{parts[i], parts[j]}, "it is used in several ways that have no common structure")
		parts[i] = block(whole, r.b.vector(r.full(n, d.dense)))
		parts = append(parts[:j], parts[j+1:]...)
	}
}

// alignScatters widens scatters into overlapping column ranges of one table to
// whole rows of it.
func (r *reverse) alignScatters(parts []structured, size int) {
	for j := range parts {
		for i := range parts {
			p, q := &parts[i], &parts[j]
			if p.index == nil || q.index == nil || p.layout == q.layout ||
				p.rows != q.rows || p.rowStride != q.rowStride || !shares(*p, *q, size) {
				continue
			}
			if p.offset/p.rowStride == q.offset/q.rowStride && p.insideRow() && q.insideRow() {
				*p, *q = r.b.wholeRows(*p), r.b.wholeRows(*q)
			}
		}
	}
}

// insideRow reports whether a row of s does not reach into the next.
func (s structured) insideRow() bool {
	return s.rowStride > 0 && s.offset%s.rowStride+(s.cols-1)*s.colStride < s.rowStride
}

// wholeRows is s with all rowStride columns.
func (b *Builder) wholeRows(s structured) structured {
	first := s.offset % s.rowStride
	into := make([]int32, s.cols)
	for c := range into {
		into[c] = int32(first + c*s.colStride)
	}
	s.delta = b.sumInto(b.vector(s.delta), Shape{{"(i)", s.rowStride * s.width}}, columns(into, s.width))
	s.layout = layout{s.offset - first, s.rows, s.rowStride, s.rowStride, 1}
	return s
}

// alignOuters swaps the factors of outer products if this gives them the layout of a
// scatter or, without a scatter, that of the first outer product.
func (r *reverse) alignOuters(parts []structured) {
	var reference *layout
	for i := range parts {
		if s := &parts[i]; s.index != nil || s.x != nil && reference == nil {
			reference = &s.layout
			if s.index != nil {
				break
			}
		}
	}
	for i := range parts {
		s := &parts[i]
		if s.x == nil {
			continue
		}
		if t := (layout{s.offset, s.cols, s.rows, s.colStride, s.rowStride}); t == *reference && t != s.layout {
			s.layout, s.x, s.delta = t, r.b.vector(s.delta), r.b.vector(s.x)
		}
	}
}

// joinEqual adds up parts that are equal except for delta.
func (r *reverse) joinEqual(parts []structured) []structured {
	var out []structured
next:
	for _, s := range parts {
		for i, t := range out {
			if s.sameBut(t) {
				out[i].delta = r.b.Add(r.b.vector(t.delta), r.b.vector(s.delta))
				continue next
			}
		}
		out = append(out, s)
	}
	return out
}

// mostPairs is the largest number of outer products of one layout that stay separate terms,
// paired with each other. More of them become one term.
const mostPairs = 2

// joinPlaces merges the outer products of one layout, such as those of a recurrent layer's
// weights at every position of a sequence, into one product whose width is the sum of
// theirs. Separate terms would need an inner product for each pair.
func (r *reverse) joinPlaces(n *Node, parts []structured) []structured {
	alike := map[layout][]structured{}
	for _, s := range parts {
		if s.x != nil {
			alike[s.layout] = append(alike[s.layout], s)
		}
	}
	var out []structured
	for _, s := range parts {
		list := alike[s.layout]
		if s.x == nil || len(list) <= mostPairs {
			out = append(out, s)
			continue
		}
		if list[0].sameBut(s) { // the first one represents all
			j := r.b.joined(list)
			r.joins = append(r.joins, join{n, j, list})
			out = append(out, j)
		}
	}
	return out
}

// joined is the sum of outer products of one layout.
func (b *Builder) joined(list []structured) structured {
	s := list[0]
	s.width = 0
	for _, t := range list {
		s.width += t.width
	}
	s.x = b.beside(list, s.rows, func(t structured) *Node { return t.x })
	s.delta = b.beside(list, s.cols, func(t structured) *Node { return t.delta })
	return s
}

// A join is the sum of outer products of one layout, a part of a leaf's adjoint.
type join struct {
	leaf *Node
	sum  structured
	of   []structured
}

// shareDeltas gives one delta to terms with almost the same places, such as those of a
// recurrent layer's weights of the input and of the state, which the first position lacks.
// There x is
// 0. An engine computes the inner products of a delta once for all of its terms.
func (r *reverse) shareDeltas(parts map[*Node][]structured) {
	const few = 8 // places that a term has for each one that it gets
	for _, j := range r.joins {
		i := slices.Index(parts[j.leaf], j.sum)
		if i < 0 {
			continue
		}
		for _, other := range r.joins {
			if extra := other.sum.width - j.sum.width; extra <= 0 || extra*few > j.sum.width || other.sum.cols != j.sum.cols {
				continue
			}
			if sum, ok := r.b.joinedAmong(j.of, other.of); ok {
				parts[j.leaf][i] = sum
				break
			}
		}
	}
}

// joinedAmong is the sum of the outer products of a list, with the places of others and
// x = 0 at those that the list lacks; false if the others lack one.
func (b *Builder) joinedAmong(list, others []structured) (s structured, ok bool) {
	l, all := list[0].layout, make([]structured, len(others))
	for i, t := range others {
		if len(list) > 0 && list[0].delta == t.delta && list[0].width == t.width {
			all[i], list = list[0], list[1:]
			continue
		}
		zeros := Shape{{"(i)", l.rows * t.width}}
		all[i] = structured{l, t.width, nil, b.Consts(zeros, make([]float64, zeros.Size())), t.delta}
	}
	if len(list) > 0 {
		return s, false
	}
	return b.joined(all), true
}

// beside puts a factor of all outer products in one matrix, each with its columns.
func (b *Builder) beside(list []structured, rows int, of func(s structured) *Node) *Node {
	var all []*Node
	first, before := make([]int, len(list)), 0 // of the elements before
	for i, s := range list {
		all = append(all, b.vector(of(s)))
		first[i] = before
		before += rows * s.width
	}
	from := make([]int32, 0, before)
	for r := range rows {
		for i, s := range list {
			for w := range s.width {
				from = append(from, int32(first[i]+r*s.width+w))
			}
		}
	}
	return b.view(b.concat(all...), Shape{{"(i)", before}}, from)
}

// joinBlocks adds the blocks among the parts to the dense adjoint.
func (r *reverse) joinBlocks(n *Node, a *adjoint, parts []structured) []structured {
	var out []structured
	blocks := r.b.Const(0)
	for _, s := range parts {
		if s.isBlock() {
			blocks = r.b.Add(blocks, r.b.dense(s, n.shape))
		} else {
			out = append(out, s)
		}
	}
	a.dense = r.b.Add(r.full(n, a.dense), blocks)
	return out
}

// conflict finds two parts that share elements without the structure of a
// Pair; -1 if there are none.
func conflict(parts []structured, size int) (int, int) {
	for j := range parts {
		for i := range j {
			p, q := parts[i], parts[j]
			if shares(p, q, size) && (p.layout != q.layout || p.isBlock() || q.isBlock()) {
				return i, j
			}
		}
	}
	return -1, -1
}

func (s structured) isBlock() bool { return s.index == nil && s.x == nil }

// shares reports whether two parts of a leaf of this size have common elements.
func shares(p, q structured, size int) bool {
	if p.layout == q.layout {
		return true
	}
	if p.last() < q.offset || q.last() < p.offset {
		return false
	}
	used := make([]bool, size)
	for _, i := range p.positions() {
		used[i] = true
	}
	return slices.ContainsFunc(q.positions(), func(i int32) bool { return used[i] })
}

// last is the largest position of the layout.
func (l layout) last() int { return l.offset + (l.rows-1)*l.rowStride + (l.cols-1)*l.colStride }
