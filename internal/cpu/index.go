package cpu

import (
	"math"

	"d3p/internal/models/graph"
)

// picks are the blocks that the chunk's records pick by an index: element w of
// record b picks blocks[w·n + b].
type picks struct {
	of      graph.Buf
	rows    int
	current bool  // of this chunk
	blocks  []int // -1 outside of 0..rows-1
	outside bool  // a block is -1
}

// blocks truncates an index, once in a chunk. It allocates at its first use.
func (f *frame) blocks(index graph.Buf, rows int) *picks {
	for _, p := range f.picks {
		if p.of == index && p.rows == rows {
			if !p.current {
				f.pick(p)
			}
			return p
		}
	}
	p := &picks{of: index, rows: rows, blocks: make([]int, f.p.chunk*f.p.tape.Buffers[index].Size)}
	f.picks = append(f.picks, p)
	f.pick(p)
	return p
}

func (f *frame) pick(p *picks) {
	width := f.p.tape.Buffers[p.of].Size
	p.current, p.outside, p.blocks = true, false, p.blocks[:width*f.n]
	for w := range width {
		x := f.element(graph.Operand{Buf: p.of}, w)
		for b := range f.n {
			k, v := -1, x.at(b)
			if v > -1 && v < float64(p.rows) { // NaN is outside
				k = int(v)
			} else {
				p.outside = true
			}
			p.blocks[w*f.n+b] = k
		}
	}
}

// forget drops what was picked, because the lanes are about to change.
func (f *frame) forget() {
	for _, p := range f.picks {
		p.current = false
	}
}

// gather sets Dst to block k of A, with k the record's index; NaN outside.
func (f *frame) gather(in *instr) {
	dst, table := f.block(in.Dst), f.block(in.A.Buf)
	p := f.blocks(in.B.Buf, in.Rows)
	step, lane := 1, 0 // from one element of the table to the next, and record
	if f.arena == nil || f.laned(in.A.Buf) {
		step, lane = f.n, 1
	}
	for i := range in.Cols {
		for w := range in.Width {
			to := dst[(i*in.Width+w)*f.n:][:f.n]
			for b, k := range p.blocks[w*f.n:][:len(to)] {
				to[b] = table[max(k*in.Cols+i, 0)*step+b*lane]
			}
		}
	}
	p.spoil(dst, len(p.blocks))
}

// spoil sets the lanes of records outside to NaN.
func (f *frame) spoil(dst []float64, p *picks) { p.spoil(dst, f.n) }

// spoil sets to NaN what a pick outside is for, of groups of n values each.
func (p *picks) spoil(dst []float64, n int) {
	if !p.outside {
		return
	}
	for i, k := range p.blocks {
		if k < 0 {
			for j := i % n; j < len(dst); j += n {
				dst[j] = math.NaN()
			}
		}
	}
}

// scatter puts A at block k of Dst, zero elsewhere; all NaN when k is outside.
func (f *frame) scatter(in *instr) {
	dst := f.block(in.Dst)
	clear(dst)
	p := f.blocks(in.B.Buf, in.Rows)
	for i := range in.Cols {
		for w := range in.Width {
			a := f.element(in.A, i*in.Width+w)
			for b, k := range p.blocks[w*f.n:][:f.n] {
				if k >= 0 {
					dst[(k*in.Cols+i)*f.n+b] += a.at(b)
				}
			}
		}
	}
	f.spoil(dst, p)
}
