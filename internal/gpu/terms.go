package gpu

import (
	"slices"

	"d3p/internal/models/graph"
)

// termReads lists the buffers of a term that it needs in lanes.
func (p *program) termReads(i int) []graph.Buf {
	t := &p.tape.Terms[i]
	reads := []graph.Buf{t.Delta}
	switch t.Kind {
	case graph.TermOuter:
		if t.XNorm2 != graph.NoBuf {
			reads = append(reads, t.XNorm2)
		}
		if !p.xInTable(i) {
			reads = append(reads, t.X)
		}
	case graph.TermScatter:
		reads = append(reads, t.Index)
	}
	return reads
}

// xInTable reports whether a term's X is columns that the kernel reads from the table in
// place. Inner products with other terms read lanes.
func (p *program) xInTable(i int) bool {
	t := &p.tape.Terms[i]
	if t.Kind != graph.TermOuter || t.Width > 1 || t.Cols > inPlace || t.XNorm2 == graph.NoBuf || p.tape.Buffers[t.X].Kind != graph.KColumn {
		return false
	}
	return !slices.ContainsFunc(p.tape.Cross, func(c graph.Pair) bool { return c.I == i || c.J == i })
}

// addTerm encodes the next term of the tape.
func (p *program) addTerm(t *graph.Term) {
	c := term{
		kind: int32(t.Kind), parameter: int32(t.Param), rows: int32(t.Rows), cols: int32(t.Cols),
		rowStride: int32(t.RowStride), colStride: int32(t.ColStride),
		delta: p.place[t.Delta], xNorm2: -1, width: int32(max(1, t.Width)),
	}
	switch t.Kind {
	case graph.TermScatter:
		c.index = p.place[t.Index]
	case graph.TermOuter:
		if p.xInTable(len(p.terms)) {
			c.x, c.xInRows = int32(p.tape.Buffers[t.X].Offset), 1
		} else {
			c.x = p.place[t.X]
		}
		if t.XNorm2 != graph.NoBuf {
			c.xNorm2 = p.place[t.XNorm2]
		}
	}
	if c.width > 1 {
		i := len(p.terms)
		c.delta2, c.delta2End = p.addPlaces(i, i, t.Kind != graph.TermOuter || t.Gram)
	} else {
		c.delta2, c.delta2End = p.addDots(t.Delta, t.Delta)
		if t.Kind == graph.TermOuter && c.xNorm2 < 0 {
			c.x2, c.x2End = p.addDots(t.X, t.X)
		}
	}
	p.terms = append(p.terms, c)
}

// addPair encodes a pair of terms that share parameters.
func (p *program) addPair(of graph.Pair) {
	s, t := &p.tape.Terms[of.I], &p.tape.Terms[of.J]
	c := pair{i: int32(of.I), j: int32(of.J)}
	outer := s.Kind == graph.TermOuter && t.Kind == graph.TermOuter
	switch {
	case s.Width > 1 || t.Width > 1:
		c.whole = 1
		c.delta, c.deltaEnd = p.addPlaces(of.I, of.J, !outer || of.Gram)
	default:
		c.delta, c.deltaEnd = p.addDots(s.Delta, t.Delta)
		if outer {
			c.x, c.xEnd = p.addDots(s.X, t.X)
		}
	}
	p.pairs = append(p.pairs, c)
}

// addDots adds the pieces of an inner product of two buffers in lanes, if they are
// not there: weights and bias of a layer have the same.
func (p *program) addDots(x, y graph.Buf) (from, to int32) {
	at, ok := p.products[[2]graph.Buf{x, y}]
	if !ok {
		at[0] = int32(len(p.dots))
		for first := 0; first < p.size(x); first += dotPiece {
			d := dot{p: p.place[x] + int32(first), q: p.place[y] + int32(first), count: int32(min(dotPiece, p.size(x)-first)), kind: dotProduct}
			if d.count >= leastLong {
				d.kind = dotLong
				p.longDots++
			}
			p.dots = append(p.dots, d)
		}
		at[1] = int32(len(p.dots))
		p.products[[2]graph.Buf{x, y}] = at
	}
	return at[0], at[1]
}

// addPlaces adds the pieces of the inner product of terms i and j, whose parameters a
// record uses at several places: one piece for each place of i, or for each row of the
// elements; for a term with itself also its size.
func (p *program) addPlaces(i, j int, gram bool) (from, to int32) {
	from = int32(len(p.dots))
	t := &p.tape.Terms[i]
	kind, count := dotElements, t.Rows
	if gram {
		kind, count = dotGram, t.Width
	}
	for k := range count {
		p.dots = append(p.dots, dot{p: int32(i), q: int32(j), count: int32(k), kind: kind})
	}
	if i == j {
		p.dots = append(p.dots, dot{p: int32(i), q: int32(i), kind: dotSize})
	}
	return from, int32(len(p.dots))
}

// isPartition reports whether each parameter is in exactly one term. Then the first chunk
// writes the sum, and needs no zeros.
func (p *program) isPartition() bool {
	of := make([]bool, p.tape.P)
	for i := range p.tape.Terms {
		t := &p.tape.Terms[i]
		if t.Kind == graph.TermScatter {
			return false
		}
		for r := range t.Rows {
			for c := range t.Cols {
				at := t.Param + r*t.RowStride + c*t.ColStride
				if of[at] {
					return false
				}
				of[at] = true
			}
		}
	}
	return !slices.Contains(of, false)
}
