package cpu

import (
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// term is a tape term and the method of its weighted sum over a chunk.
type term struct {
	graph.Term
	xInRows bool
	// alone is the term itself. together are the terms with one delta whose norms come from
	// Gram matrices, nil if an earlier term has them.
	alone, together []*term
	kept            bool   // elements serve norm and sum
	at              int    // their place among those of all kept terms
	parts           [2]int // of a kept term: its X and its Delta among keptParts
	// The sums of a summed term over the chunk's lanes stand in inNumbers from numbers on,
	// row by row or column by column.
	summed, byColumn bool
	numbers          int
	weighted         int // elements f_b·Delta in inWeighted, if needed
	// turned is the place of the right factor of a term that one matrix product sums, in
	// numbers of a record.
	turned int
}

// fewElements is the largest number of elements of a term that is summed element by element
// over lanes. Larger terms are summed by a matrix product or record by record.
const fewElements = 64

// run is a range of parameters whose sums are contiguous in inNumbers.
type run struct{ numbers, param, count int }

// prepareSums chooses how to sum each term, in the order of the parameters, so that the
// sums have the same order.
func (p *program) prepareSums() {
	order := make([]*term, len(p.terms))
	for i := range order {
		order[i] = &p.terms[i]
	}
	slices.SortStableFunc(order, func(s, t *term) int { return s.Param - t.Param })
	weights := assembler{p: p, record: true}
	for _, t := range order {
		p.prepareSum(&weights, t)
		if !t.inOrder() {
			continue
		}
		next := run{t.numbers, t.Param, t.Rows * t.Cols}
		if n := len(p.runs); n > 0 && p.runs[n-1].followedBy(next) {
			p.runs[n-1].count += next.count
		} else {
			p.runs = append(p.runs, next)
		}
	}
	if len(weights.open) > 0 {
		p.weights = simd.NewProgram(weights.open)
	}
}

func (r run) followedBy(next run) bool {
	return next.numbers == r.numbers+r.count && next.param == r.param+r.count
}

// prepareSum chooses how to sum a term. It adds a program's instructions to a.
func (p *program) prepareSum(a *assembler, t *term) {
	size := p.tape.Buffers[t.Delta].Size
	delta, factor := lanes(p.place[t.Delta]), lanes(p.factor)
	few := t.Rows*t.Cols <= fewElements && !t.wide()
	switch {
	case t.kept: // keepElements sums it
	case t.Kind == graph.TermDense:
		a.emit(simd.Instruction{Op: simd.OpDots, Count: size, Groups: 1, To: p.sums(t), A: delta, B: factor})
	case t.Kind == graph.TermScatter && few:
		a.emit(simd.Instruction{
			Op: simd.OpGroupDots, Count: t.Cols, Groups: t.Rows, To: p.sums(t),
			A: delta, B: factor, C: lanes(p.blocks[pick{t.Index, t.Rows}]),
		})
	case t.Kind == graph.TermScatter:
		if t.turns() {
			p.placeTurned(t)
		}
	case t.xInRows:
		p.weigh(a, t)
		p.longest = max(p.longest, t.Rows)
		p.work += t.Rows * t.Cols
	case few:
		x, weighted := lanes(p.place[t.X]), p.weigh(a, t)
		dots := simd.Instruction{Op: simd.OpDots, Count: t.Cols, Groups: t.Rows, To: p.sums(t), A: weighted, B: x}
		if t.byColumn = t.columnsFirst(); t.byColumn {
			dots.Count, dots.Groups, dots.A, dots.B = t.Rows, t.Cols, x, weighted
		}
		a.emit(dots)
	case t.outerProduct():
		p.placeTurned(t)
	default:
		p.weigh(a, t)
	}
	if t.Kind == graph.TermOuter && !t.xInRows && !t.wide() {
		p.work += t.Rows * t.Cols / productLanes
	}
}

// weigh sets elements of inWeighted to f_b·Delta.
func (p *program) weigh(a *assembler, t *term) simd.Place {
	size := p.tape.Buffers[t.Delta].Size
	t.weighted = p.weighted
	p.weighted += size
	to := simd.Place{Space: uint8(inWeighted), At: int32(t.weighted)}
	a.emit(simd.Instruction{Op: simd.OpScale, Count: size, To: to, A: lanes(p.place[t.Delta]), B: lanes(p.factor)})
	return to
}

// sums reserves memory for the sums of a term.
func (p *program) sums(t *term) simd.Place {
	t.summed, t.numbers = true, p.numbers
	p.numbers += t.Rows * t.Cols
	return simd.Place{Space: uint8(inNumbers), At: int32(t.numbers)}
}

// inOrder reports whether the sums of a term are in the order of its parameters.
func (t *term) inOrder() bool {
	return t.summed && t.contiguous() && (t.byColumn == t.columnsFirst() || t.Cols == 1)
}

// accumulate adds Σ_b f_b·g_b of the chunk to sum, length P.
func (c *context) accumulate(sum []float64) {
	c.weigh()
	for _, r := range c.p.runs {
		to := sum[r.param : r.param+r.count]
		simd.Add(to, to, c.in[inNumbers][r.numbers:])
	}
	for i := range c.p.terms {
		if t := &c.p.terms[i]; !t.inOrder() {
			c.turn(t)
			c.sumTerm(sum, t, 0, t.productRows())
		}
	}
}

// weigh runs the program of the sums.
func (c *context) weigh() {
	c.clearZeros()
	if c.p.weights != nil {
		c.p.weights.Run(&c.in, c.pitch)
	}
}

// sumTerm adds one term, after weigh and turn. Of a matrix product it adds rows low <= r <
// high.
func (c *context) sumTerm(sum []float64, t *term, low, high int) {
	switch {
	case t.kept:
		to := sum[t.Param:][:t.Rows*t.Cols]
		simd.Add(to, to, c.kept[t.at:])
	case t.summed:
		c.addNumbers(sum, t)
	case t.Kind == graph.TermScatter:
		c.sumScatter(sum, t)
	case t.xInRows:
		c.sumRows(sum, t)
	case t.outerProduct():
		c.sumProduct(sum, t, low, high)
	default:
		c.sumDots(sum, t)
	}
}

// clearZeros clears the factors of records that count as zero. They may be infinite, and
// 0·∞ is not 0.
func (c *context) clearZeros() {
	if c.zeros == 0 {
		return
	}
	for b, f := range c.lanesAt(c.p.factor, 1) {
		if f != 0 {
			continue
		}
		for i := range c.p.terms {
			t := &c.p.terms[i]
			c.clearLane(t.Delta, b)
			if t.Kind == graph.TermOuter && !t.xInRows {
				c.clearLane(t.X, b)
			}
		}
	}
}

func (c *context) clearLane(buf graph.Buf, b int) {
	lanes := c.block(buf)
	for j := b; j < len(lanes); j += c.pitch {
		lanes[j] = 0
	}
}

// addNumbers adds the sums that a program computed.
func (c *context) addNumbers(sum []float64, t *term) {
	row, col := t.Cols, 1
	if t.byColumn {
		row, col = 1, t.Rows
	}
	numbers := c.in[inNumbers][t.numbers:]
	for r := range t.Rows {
		for k := range t.Cols {
			sum[t.Param+r*t.RowStride+k*t.ColStride] += numbers[r*row+k*col]
		}
	}
}

func (c *context) sumScatter(sum []float64, t *term) {
	delta, factor, picked := c.block(t.Delta), c.one(c.p.factor), c.picked(t.Index, t.Rows)
	if t.turns() {
		rows := c.rights[t.turned*c.pitch:]
		for i, k := range picked[:t.Width*c.pitch] {
			if k < 0 || i%c.pitch >= len(factor) {
				continue
			}
			to := sum[t.Param+int(k)*t.RowStride:][:t.Cols]
			simd.Add(to, to, rows[i*t.Cols:])
		}
		return
	}
	for w := range t.Width {
		for b, f := range factor {
			k := picked[w*c.pitch+b]
			if k < 0 {
				continue
			}
			at := t.Param + int(k)*t.RowStride
			for j := w*c.pitch + b; j < len(delta); j += c.pitch * t.Width {
				sum[at] += f * delta[j]
				at += t.ColStride
			}
		}
	}
}

// sumRows reads X in place. It does not read records that count as zero.
func (c *context) sumRows(sum []float64, t *term) {
	offset := c.p.tape.Buffers[t.X].Offset
	weighted := c.in[inWeighted][t.weighted*c.pitch:]
	for col := range t.Cols {
		w, index := c.counted(weighted[col*c.pitch:][:c.n])
		at := t.Param + col*t.ColStride
		dst := sum[at:]
		if t.RowStride != 1 {
			dst = c.rowSum[:]
			clear(dst[:t.Rows])
		}
		if c.rows.F32 != nil {
			simd.RowSum32(dst[:t.Rows], w, c.rows.F32[offset:], c.rows.Stride, index)
		} else {
			simd.RowSum64(dst[:t.Rows], w, c.rows.F64[offset:], c.rows.Stride, index)
		}
		if t.RowStride != 1 {
			for _, x := range dst[:t.Rows] {
				sum[at] += x
				at += t.RowStride
			}
		}
	}
}

// counted is the list without the records that count as zero.
func (c *context) counted(w []float64) ([]float64, []uint32) {
	if c.zeros == 0 {
		return w, c.index[:c.n]
	}
	n := 0
	for b, f := range c.one(c.p.factor) {
		if f != 0 {
			c.some[n], w[n] = c.index[b], w[b]
			n++
		}
	}
	return w[:n], c.some[:n]
}
