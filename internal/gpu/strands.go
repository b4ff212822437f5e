package gpu

import (
	"slices"

	"d3p/internal/models/graph"
)

// A chain on few elements keeps few threads busy, one instruction after the other. Strands
// are parts of it that need nothing from each other: each has some of the chain's results
// and all instructions that these need, again if another strand has them, too. Every strand
// has warps of its own, so the longest one takes the time that the whole chain did.

// mostStrands is the number of warps of a block, as kernel/chain.h has it.
const mostStrands = blockThreads / 32

// inStrands is a tape and a list of instructions of its global stage with the chains in
// strands, whose turns differ, the turns of its instructions, anyTurn if in no strand, and how
// many of them are early.
func (p *program) inStrands(list []graph.Instr, coded []instr, turns []turn) (own *graph.Tape, all []graph.Instr, of []turn, early int) {
	own = new(*p.tape)
	own.Buffers = slices.Clone(own.Buffers)
	group := int32(0)
	for first, end := 0, 0; first < len(list); first = end {
		end = max(first+1, p.chainEnd(list, coded, turns, first))
		if first == p.early {
			early = len(all)
		}
		var strands [][]int
		if turns[first] == inTurn {
			strands = p.strands(list[first:end], p.readElsewhere(list[end:]))
		}
		if len(strands) < 2 {
			all, of = append(all, list[first:end]...), append(of, make([]turn, end-first)...)
			continue
		}
		group++
		taken := make([]bool, end-first)
		for k, strand := range strands {
			again := map[graph.Buf]graph.Buf{} // results that another strand has
			for _, i := range strand {
				in := renamed(list[first+i], again)
				if taken[i] {
					again[in.Dst] = graph.Buf(len(own.Buffers))
					own.Buffers = append(own.Buffers, own.Buffers[in.Dst])
					in.Dst = again[in.Dst]
				}
				taken[i] = true
				all, of = append(all, in), append(of, turn{-group, int32(k)})
			}
		}
	}
	if p.early == len(list) {
		early = len(all)
	}
	return own, all, of, early
}

// renamed is an instruction with operands in other buffers.
func renamed(in graph.Instr, to map[graph.Buf]graph.Buf) graph.Instr {
	for k, o := range operands(&in) {
		if b, ok := to[o.Buf]; ok && o.Buf != graph.NoBuf {
			[3]*graph.Operand{&in.A, &in.B, &in.C}[k].Buf = b
		}
	}
	return in
}

// strands are the links of each strand of a chain, in order; none if the chain is as fast in
// one piece. kept marks the results that are read after the chain. A strand takes the result
// that adds fewest links to it, and is no longer than the longest result needs, while there
// are warps for another one.
func (p *program) strands(chain []graph.Instr, kept []bool) (strands [][]int) {
	most := mostStrands / ((p.size(chain[0].Dst) + 31) / 32)
	var results [][]int // the links that each needs
	for i := range chain {
		if kept[chain[i].Dst] {
			results = append(results, neededBy(chain, i))
		}
	}
	if most < 2 || len(results) < 2 {
		return nil
	}
	slices.SortStableFunc(results, func(a, b []int) int { return len(b) - len(a) })
	longest, links := 0, 0
	for _, r := range results {
		best, least := -1, 0
		for k, s := range strands {
			n := len(union(s, r))
			if added := n - len(s); (n <= len(results[0]) || len(strands) == most) && (best < 0 || added < least) {
				best, least = k, added
			}
		}
		if best < 0 {
			best, strands = len(strands), append(strands, nil)
		}
		strands[best] = union(strands[best], r)
	}
	for _, s := range strands {
		longest, links = max(longest, len(s)), links+len(s)
	}
	if links > mostLinks || longest > len(chain)-2 {
		return nil
	}
	return strands
}

// neededBy are the links of a chain that link i needs, and i.
func neededBy(chain []graph.Instr, i int) (list []int) {
	reads := map[graph.Buf]bool{chain[i].Dst: true}
	for k := i; k >= 0; k-- {
		if !reads[chain[k].Dst] {
			continue
		}
		list = append(list, k)
		for _, o := range operands(&chain[k]) {
			if o.Buf != graph.NoBuf {
				reads[o.Buf] = true
			}
		}
	}
	slices.Reverse(list)
	return list
}

// union is the elements of two sorted lists.
func union(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
