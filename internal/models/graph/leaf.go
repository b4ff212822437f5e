package graph

// leafParts is the adjoint of a Param as parts that a Tape may hold: those
// that share parameters have the same layout and none of them is a block.
// Others that overlap are merged into one block over the whole leaf.
func (r *reverse) leafParts(n *Node, a *adjoint) []structured {
	parts := a.parts
	whole := layout{rows: 1, cols: n.size, rowStride: n.size, colStride: 1}
	if a.dense != nil && !a.dense.is(0) {
		parts = append(parts, structured{layout: whole, delta: r.b.vector(r.full(n, a.dense))})
	}
	for {
		i, j := conflict(parts, n.size)
		if i < 0 {
			return parts
		}
		d := &adjoint{}
		why := "it is used in several ways that have no common structure"
		r.flatten(n, d, []structured{parts[i], parts[j]}, why)
		parts[i] = structured{layout: whole, delta: r.b.vector(r.full(n, d.dense))}
		parts = append(parts[:j], parts[j+1:]...)
	}
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

// shares says whether two parts of a leaf of this size have common elements.
func shares(p, q structured, size int) bool {
	if p.layout == q.layout {
		return true
	}
	used := make([]bool, size)
	for _, i := range p.positions() {
		used[i] = true
	}
	for _, i := range q.positions() {
		if used[i] {
			return true
		}
	}
	return false
}
