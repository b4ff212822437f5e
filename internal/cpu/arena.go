package cpu

import (
	"slices"

	"d3p/internal/models/graph"
)

// newElements takes the next elements of the arena.
func (p *program) newElements(count int) int {
	at := p.lanes
	p.lanes += count
	return at
}

// newLanes places a buffer after all others.
func (p *program) newLanes(buf graph.Buf) {
	p.place[buf], p.lane[buf] = p.newElements(p.tape.Buffers[buf].Size), true
}

// placeBuffers gives every global and lane buffer its place.
func (p *program) placeBuffers() {
	t := p.tape
	inLanes := make([]bool, len(t.Buffers))
	mark := func(o graph.Operand) {
		if o.Buf != graph.NoBuf && t.Buffers[o.Buf].Kind == graph.KColumn {
			inLanes[o.Buf] = true
		}
	}
	for _, in := range needed(t) {
		for k, o := range in.Operands() {
			if !(k == 1 && readsRows(t, &in)) {
				mark(o)
			}
		}
	}
	for _, tm := range t.Terms {
		switch {
		case tm.Kind == graph.TermScatter:
			mark(graph.Operand{Buf: tm.Index})
		case tm.Kind == graph.TermOuter:
			if tm.XNorm2 != graph.NoBuf {
				mark(graph.Operand{Buf: tm.XNorm2})
			}
			if !termReadsRows(t, &tm) {
				mark(graph.Operand{Buf: tm.X})
			}
		}
		mark(graph.Operand{Buf: tm.Delta})
	}
	var copied []graph.Buf
	for i, b := range t.Buffers {
		switch b.Kind {
		case graph.KConst:
			p.place[i] = len(p.constants)
			p.constants = append(p.constants, b.Values...)
		case graph.KGlobal:
			p.place[i] = p.globals
			p.globals += b.Size
		case graph.KAuxRecord:
			p.noise = append(p.noise, graph.Buf(i))
			p.newLanes(graph.Buf(i))
		case graph.KColumn:
			if inLanes[i] {
				copied = append(copied, graph.Buf(i))
			}
		}
	}
	p.placeColumns(copied)
	p.placeResults()
	p.results = p.lanes
}

// columns are columns that are contiguous both in a row and in lanes.
type columns struct{ first, count, place int }

// placeColumns places columns in lanes in the order of the row, so that few pieces need
// copying.
func (p *program) placeColumns(list []graph.Buf) {
	slices.SortStableFunc(list, func(a, b graph.Buf) int {
		return p.tape.Buffers[a].Offset - p.tape.Buffers[b].Offset
	})
	for _, buf := range list {
		b := &p.tape.Buffers[buf]
		p.newLanes(buf)
		if n := len(p.columns); n > 0 && p.columns[n-1].first+p.columns[n-1].count == b.Offset {
			p.columns[n-1].count += b.Size
			continue
		}
		p.columns = append(p.columns, columns{b.Offset, b.Size, p.place[buf]})
	}
}

// overwritten is an operand that an instruction may overwrite with its result, because each
// element depends only on the operand's element at the same place. NoBuf without such an
// operand.
func overwritten(t *graph.Tape, in *graph.Instr) graph.Buf {
	list := in.Operands()
	read := list[:in.Op.Arity()]
	for _, o := range read {
		b := &t.Buffers[o.Buf]
		if b.Kind != graph.KRecord || b.Size != t.Buffers[in.Dst].Size {
			continue
		}
		if !slices.ContainsFunc(read, func(other graph.Operand) bool { return other.Buf == o.Buf && other.Map != nil }) {
			return o.Buf
		}
	}
	return graph.NoBuf
}

// placeResults places the results of the record stage. After its last use a result's lanes
// go to the result of that use, or to the next result of the same size, so that the arena
// stays in the cache.
func (p *program) placeResults() {
	t, list := p.tape, needed(p.tape)
	const toTheEnd = 1 << 30
	last := make([]int, len(t.Buffers)) // the last instruction that reads a buffer
	for i := range list {
		last[list[i].Dst] = toTheEnd // unless an instruction reads it
	}
	for i := range list {
		for _, o := range list[i].Operands() {
			if o.Buf != graph.NoBuf {
				last[o.Buf] = i
			}
		}
	}
	for _, tm := range t.Terms {
		last[tm.Delta] = toTheEnd
		switch tm.Kind {
		case graph.TermScatter:
			last[tm.Index] = toTheEnd
		case graph.TermOuter:
			last[tm.X] = toTheEnd // XNorm2 is a column
		}
	}
	for i := range list { // all others come after these
		if readsRows(t, &list[i]) {
			p.newLanes(list[i].Dst)
		}
	}
	free := map[int][]int{} // free places by size
	for i := range list {
		dst := list[i].Dst
		if size := t.Buffers[dst].Size; !p.lane[dst] {
			if over := overwritten(t, &list[i]); over != graph.NoBuf && last[over] == i {
				p.place[dst], p.lane[dst] = p.place[over], true
				last[over] = toTheEnd
			} else if places := free[size]; len(places) > 0 {
				p.place[dst], p.lane[dst] = places[len(places)-1], true
				free[size] = places[:len(places)-1]
			} else {
				p.newLanes(dst)
			}
		}
		for _, o := range list[i].Operands() {
			if o.Buf == graph.NoBuf || t.Buffers[o.Buf].Kind != graph.KRecord || last[o.Buf] != i {
				continue
			}
			last[o.Buf] = toTheEnd // once, even if the instruction has it as two operands
			free[t.Buffers[o.Buf].Size] = append(free[t.Buffers[o.Buf].Size], p.place[o.Buf])
		}
	}
}
