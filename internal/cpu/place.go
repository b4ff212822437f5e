package cpu

import "d3p/internal/models/graph"

// newLanes places a buffer behind all others.
func (p *program) newLanes(buf graph.Buf) {
	p.place[buf], p.lane[buf] = p.lanes, true
	p.lanes += p.tape.Buffers[buf].Size
}

// placeResults gives each result of the record stage lanes of its own. Lanes
// are not passed on to later results: where noise is drawn per record that
// gave wrong gradients, which TestVanillaGradients of package fit shows.
func (p *program) placeResults() {
	for _, in := range needed(p.tape) {
		if !p.lane[in.Dst] {
			p.newLanes(in.Dst)
		}
	}
}
