package gpu

import "d3p/internal/models/graph"

// Lanes are memory of a chunk: one number per record. Another buffer of the same size
// takes a place when the old one has no further readers.
type lanes struct {
	count int             // in all
	idle  map[int][]int32 // places, by size
}

func (l *lanes) take(size int) int32 {
	if idle := l.idle[size]; len(idle) > 0 {
		l.idle[size] = idle[:len(idle)-1]
		return idle[len(idle)-1]
	}
	at := l.count
	l.count += size
	return int32(at)
}

func (l *lanes) give(at int32, size int) {
	if l.idle == nil {
		l.idle = map[int][]int32{}
	}
	l.idle[size] = append(l.idle[size], at)
}

// placeFixed places constants and values that are computed once per step.
func (p *program) placeFixed() {
	for i, b := range p.tape.Buffers {
		switch b.Kind {
		case graph.KConst:
			p.place[i] = int32(len(p.constants))
			p.constants = append(p.constants, b.Values...)
		case graph.KGlobal:
			p.place[i] = int32(p.globals)
			p.globals += b.Size
		}
	}
}

// placeColumns gives lanes to the blocks of columns, and of noise per record,
// that are not only read from the table in place.
func (p *program) placeColumns() {
	read := make([]bool, len(p.tape.Buffers))
	for i := range needed(p.tape) {
		in := &p.tape.Record[i]
		for k, o := range operands(in) {
			if o.Buf != graph.NoBuf && !(k == 1 && p.readsTable(in)) {
				read[o.Buf] = true
			}
		}
	}
	for i := range p.tape.Terms {
		for _, b := range p.termReads(i) {
			read[b] = true
		}
	}
	for i, b := range p.tape.Buffers {
		if read[i] && (b.Kind == graph.KColumn || b.Kind == graph.KAuxRecord) {
			p.place[i], p.inLanes[i] = p.lanes.take(b.Size), true
			drawn := int32(0)
			if b.Kind == graph.KAuxRecord {
				drawn = 1
			}
			p.columns = append(p.columns, column{offset: int32(b.Offset), size: int32(b.Size), at: p.place[i], drawn: drawn})
		}
	}
}

// readsTable reports whether an instruction of the record stage is a product that reads
// columns from the table in place.
func (p *program) readsTable(in *graph.Instr) bool {
	return in.Op == graph.OpMatVec && in.Width == 1 && in.Rows <= inPlace && p.tape.Buffers[in.B.Buf].Kind == graph.KColumn
}

// placeResults gives lanes to the results of the record stage, from the
// instruction that writes them to the last one that reads them; what terms read
// keeps its lanes.
func (p *program) placeResults() {
	list := needed(p.tape)
	last := make([]int, len(p.tape.Buffers))
	for i := range list {
		for _, o := range operands(&list[i]) {
			if o.Buf != graph.NoBuf {
				last[o.Buf] = i
			}
		}
		last[list[i].Dst] = i
	}
	for i := range p.tape.Terms {
		for _, b := range p.termReads(i) {
			last[b] = len(list)
		}
	}
	for i := range list {
		dst := list[i].Dst
		if !p.inLanes[dst] {
			p.place[dst], p.inLanes[dst] = p.lanes.take(p.size(dst)), true
		}
		o := operands(&list[i])
		for _, b := range []graph.Buf{dst, o[0].Buf, o[1].Buf, o[2].Buf} {
			if b != graph.NoBuf && p.inLanes[b] && last[b] == i {
				last[b] = -1 // freed once
				p.lanes.give(p.place[b], p.size(b))
			}
		}
	}
}
