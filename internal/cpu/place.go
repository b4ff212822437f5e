package cpu

import "d3p/internal/models/graph"

// newLanes places a buffer behind all others.
func (p *program) newLanes(buf graph.Buf) {
	p.place[buf], p.lane[buf] = p.lanes, true
	p.lanes += p.tape.Buffers[buf].Size
}

// placeResults gives the results of the record stage their lanes. Those of a
// result that is not read again go to the next one of its size, so that the
// arena stays near the processor.
func (p *program) placeResults() {
	t, list := p.tape, needed(p.tape)
	const toTheEnd = 1 << 30
	last := make([]int, len(t.Buffers)) // instruction that reads a buffer last
	for i := range list {
		last[list[i].Dst] = toTheEnd // unless it is read
	}
	for i := range list {
		for _, o := range operands(&list[i]) {
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
			last[tm.X] = toTheEnd
			if tm.XNorm2 != graph.NoBuf {
				last[tm.XNorm2] = toTheEnd
			}
		}
	}
	for i := range list { // they are taken before all others
		if readsRows(t, &list[i]) {
			p.newLanes(list[i].Dst)
		}
	}
	free := map[int][]int{} // places by size
	for i := range list {
		dst := list[i].Dst
		if size := t.Buffers[dst].Size; !p.lane[dst] {
			if places := free[size]; len(places) > 0 {
				p.place[dst], p.lane[dst] = places[len(places)-1], true
				free[size] = places[:len(places)-1]
			} else {
				p.newLanes(dst)
			}
		}
		for _, o := range operands(&list[i]) {
			if o.Buf == graph.NoBuf || t.Buffers[o.Buf].Kind != graph.KRecord || last[o.Buf] != i {
				continue
			}
			last[o.Buf] = toTheEnd // once, also where it is two operands
			free[t.Buffers[o.Buf].Size] = append(free[t.Buffers[o.Buf].Size], p.place[o.Buf])
		}
	}
}
