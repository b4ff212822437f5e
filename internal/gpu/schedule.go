package gpu

import (
	"slices"

	"d3p/internal/models/graph"
)

// withOwnOutputs is a tape in which an element-wise instruction makes each output, and no
// two outputs are the same: there the kernel checks whether numbers are finite.
func withOwnOutputs(t *graph.Tape) *graph.Tape {
	own := *t
	own.Buffers, own.Global, own.Outputs = slices.Clone(t.Buffers), slices.Clone(t.Global), slices.Clone(t.Outputs)
	for k, b := range own.Outputs {
		made := slices.IndexFunc(own.Global, func(in graph.Instr) bool { return in.Dst == b })
		if isPlain(&own.Global[made]) && !slices.Contains(own.Outputs[:k], b) {
			continue
		}
		own.Outputs[k] = graph.Buf(len(own.Buffers))
		own.Buffers = append(own.Buffers, graph.Buffer{Kind: graph.KGlobal, Size: own.Buffers[b].Size})
		own.Global = append(own.Global, graph.Instr{Op: graph.OpCopy, Dst: own.Outputs[k], A: graph.Operand{Buf: b}})
	}
	return &own
}

// isPlain reports whether an instruction is element-wise and needs no list of places.
func isPlain(in *graph.Instr) bool {
	return arity(in.Op) > 0 && !slices.ContainsFunc([]graph.Operand{in.A, in.B, in.C}, func(o graph.Operand) bool {
		if o.Map == nil {
			return false
		}
		_, _, ok := evenly(o.Map)
		return !ok
	})
}

// withRecordArranged is a tape with the part of its record stage that is needed
// arranged.
func withRecordArranged(t *graph.Tape) *graph.Tape {
	own := *t
	own.Record = append(arranged(t, needed(t)), t.Record[t.Gradient:]...)
	return &own
}

// withProductSums is a tape with products joined to their sums: see productSums.
func withProductSums(t *graph.Tape) *graph.Tape {
	own, p := *t, &program{tape: t}
	own.Global = productSums(t, t.Global, p.readElsewhere(needed(t)))
	record := productSums(t, needed(t), p.readElsewhere(nil))
	own.Record, own.Gradient = append(record, t.Record[t.Gradient:]...), len(record)
	return &own
}

// productSums joins each product that only one sum reads, and nobody of the `kept` buffers'
// readers, to that sum: one link of a chain has the result of both, rounded twice as before.
// Of two products a sum takes the one that is known last.
func productSums(t *graph.Tape, list []graph.Instr, kept []bool) (all []graph.Instr) {
	made := make([]int, len(t.Buffers)) // 1 + the product that makes it
	reads, joined := make([]int, len(t.Buffers)), make([]bool, len(t.Buffers))
	for i := range list {
		in := &list[i]
		if (in.Op == graph.OpMul || in.Op == graph.OpSquare) && isPlain(in) && !kept[in.Dst] {
			made[in.Dst] = i + 1
		}
		for _, o := range operands(in) {
			if o.Buf != graph.NoBuf {
				reads[o.Buf]++
			}
		}
	}
	for _, in := range list {
		product, other := in.B, in.A
		joins := func(o graph.Operand) bool {
			return o.Map == nil && made[o.Buf] > 0 && reads[o.Buf] == 1 && t.Buffers[o.Buf].Size == t.Buffers[in.Dst].Size
		}
		if in.Op == graph.OpAdd && joins(in.A) && (!joins(in.B) || made[in.A.Buf] > made[in.B.Buf]) {
			product, other = in.A, in.B
		}
		op, isSum := map[graph.Op]graph.Op{graph.OpAdd: opProductSum, graph.OpSub: opProductLess}[in.Op]
		if isSum && isPlain(&in) && joins(product) {
			joined[product.Buf] = true
			x := list[made[product.Buf]-1]
			if x.Op == graph.OpSquare {
				x.B = x.A
			}
			in = graph.Instr{Op: op, Dst: in.Dst, A: x.A, B: x.B, C: other}
		}
		all = append(all, in)
	}
	return slices.DeleteFunc(all, func(in graph.Instr) bool { return joined[in.Dst] })
}

// arranged orders the instructions of a stage by size, small ones first, so that there
// are few chains and few barriers between them.
func arranged(t *graph.Tape, list []graph.Instr) []graph.Instr {
	writers := make([]int, len(t.Buffers)) // instructions that are still to write a buffer
	for i := range list {
		writers[list[i].Dst]++
	}
	ready := func(i int) bool {
		for _, o := range operands(&list[i]) {
			if o.Buf != graph.NoBuf && writers[o.Buf] > 0 {
				return false
			}
		}
		return true
	}
	done := make([]bool, len(list))
	var order []graph.Instr
	for size := 0; len(order) < len(list); {
		next := -1
		for i := range list {
			if done[i] || !ready(i) {
				continue
			}
			n := t.Buffers[list[i].Dst].Size
			if n == size {
				next = i
				break
			}
			if next < 0 || n < t.Buffers[list[next].Dst].Size {
				next = i
			}
		}
		done[next] = true
		writers[list[next].Dst]--
		size = t.Buffers[list[next].Dst].Size
		order = append(order, list[next])
	}
	return order
}

// compact places the outputs of a global stage, then what else of its results is in
// memory, without what chains keep.
func (p *program) compact(list []graph.Instr) {
	moved := map[int32]int32{}
	p.globals = 0
	move := func(b graph.Buf) {
		if _, ok := moved[p.place[b]]; !ok {
			moved[p.place[b]] = int32(p.globals)
			p.globals += p.size(b)
		}
	}
	for _, b := range p.tape.Outputs {
		move(b)
	}
	for i := range p.global {
		if p.global[i].dst >= 0 {
			move(list[i].Dst)
		}
	}
	for i := range p.global {
		c := &p.global[i]
		if c.dst >= 0 {
			c.dst = moved[c.dst]
		}
		for _, o := range []*operand{&c.a, &c.b, &c.c} {
			if o.space == inGlobals {
				o.at = moved[o.at]
			}
		}
	}
	for b := range p.place {
		if p.tape.Buffers[b].Kind == graph.KGlobal {
			p.place[b] = moved[p.place[b]]
		}
	}
}
