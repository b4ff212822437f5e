package gpu

import (
	"fmt"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// A script is a fit's postprocessing on the device: three programs of global
// instructions.
type script struct {
	propose, prior, absorb globalProgram

	inputs, states int // numbers per step
	clipNorm       int
	direct         bool // θ is the first numbers of the state
}

// A globalProgram is a program without records, with its arguments.
type globalProgram struct {
	*program
	args arguments
}

// mostScripted is the most parameters of a fit of small models that runs on the device
// alone: one block does all work that is not about records.
const mostScripted = 1 << 14

// largeVector is the least P from which chains of vectors take four elements at a
// time: each thread of a block has as many.
const largeVector = 4 * blockThreads

// newScript compiles a postprocessing for a tape of P parameters.
func newScript(P int, wide bool, of privacy.Postprocessing) (s *script, err error) {
	if P > mostScripted && !wide {
		return nil, fmt.Errorf("gpu: %d parameters are too many for many steps in one launch", P)
	}
	s = &script{inputs: of.Propose.AuxGlobal, states: of.Propose.P, clipNorm: of.ClipNorm, direct: isStart(of.Propose, P)}
	abreast := 1
	if wide || P >= largeVector {
		abreast = 4
	}
	for _, c := range []struct {
		program *globalProgram
		tape    *graph.Tape
		noisy   span
	}{{&s.propose, of.Propose, span{}}, {&s.prior, of.Prior, span{}}, {&s.absorb, of.Absorb, span{s.inputs, s.inputs + P + 1}}} {
		if c.program.program, err = compileGlobal(c.tape, abreast, c.noisy); err != nil {
			return nil, err
		}
	}
	if s.propose.outputs() != P || of.Prior.P != P || of.Absorb.P != s.states || s.absorb.outputs() != s.states ||
		of.Absorb.AuxGlobal != s.inputs+2*P+1 || s.clipNorm < 0 || s.clipNorm >= s.states {
		panic("gpu: the tapes of a postprocessing do not fit each other")
	}
	return s, nil
}

// isStart reports whether a tape's outputs are just its first P parameters.
func isStart(t *graph.Tape, P int) bool {
	if len(t.Global) != 1 || len(t.Outputs) != 1 {
		return false
	}
	in := &t.Global[0]
	from := &t.Buffers[in.A.Buf]
	return in.Op == graph.OpCopy && in.Dst == t.Outputs[0] && in.A.Map == nil && from.Kind == graph.KParam && from.Offset == 0 && from.Size == P
}

// A span is numbers [from, to) of aux.
type span struct{ from, to int }

// compileGlobal prepares a tape that depends on no record. Its outputs are the first
// of its globals; chains take `abreast` elements at a time. On one block, the `early`
// instructions that do not need the noisy numbers come first.
func compileGlobal(t *graph.Tape, abreast int, noisy span) (*program, error) {
	if len(t.Record) > 0 {
		return nil, fmt.Errorf("gpu: postprocessing depends on records")
	}
	t = withOwnOutputs(t)
	list := productSums(t, arranged(t, asked(t)), (&program{tape: t}).readElsewhere(nil))
	early := 0
	if abreast == 1 { // few numbers, on one block
		list, early = earlyFirst(t, list, noisy)
	}
	p, turns := codeGlobal(t, list, nil, early)
	if abreast == 1 {
		var strands []turn
		t, list, strands, early = p.inStrands(list, p.global, turns)
		p, turns = codeGlobal(t, list, strands, early)
	}
	isOutput := make([]bool, len(t.Buffers))
	for _, b := range t.Outputs {
		isOutput[b] = true
	}
	p.findChains(list, p.global, turns, abreast, p.readElsewhere(nil), isOutput)
	p.compact(list)
	settle(p.global)
	for i := range t.Terms {
		m := &t.Terms[i]
		if m.Kind != graph.TermDense || t.Buffers[m.Delta].Kind != graph.KGlobal {
			return nil, &UnsupportedError{"a prior with a structured gradient"}
		}
		p.terms = append(p.terms, term{
			kind: int32(m.Kind), parameter: int32(m.Param), rows: int32(m.Rows), cols: int32(m.Cols),
			rowStride: int32(m.RowStride), colStride: int32(m.ColStride), delta: p.place[m.Delta], width: 1, xNorm2: -1,
		})
	}
	for _, c := range t.Cross {
		p.pairs = append(p.pairs, pair{i: int32(c.I), j: int32(c.J)}) // no norm is asked for
	}
	return p, nil
}

// earlyFirst moves the instructions ahead that need none of the noisy numbers, and counts them.
func earlyFirst(t *graph.Tape, list []graph.Instr, noisy span) (all []graph.Instr, early int) {
	needs := make([]bool, len(t.Buffers))
	for i, b := range t.Buffers {
		needs[i] = b.Kind == graph.KAux && b.Offset < noisy.to && b.Offset+b.Size > noisy.from
	}
	var late []graph.Instr
	for _, in := range list {
		ops := operands(&in)
		if slices.ContainsFunc(ops[:], func(o graph.Operand) bool { return o.Buf != graph.NoBuf && needs[o.Buf] }) {
			needs[in.Dst] = true
			late = append(late, in)
		} else {
			all = append(all, in)
		}
	}
	return append(all, late...), len(all)
}

// codeGlobal encodes instructions that depend on no record, some of which are in strands.
func codeGlobal(t *graph.Tape, list []graph.Instr, strands []turn, early int) (*program, []turn) {
	p := &program{tape: t, early: early, place: make([]int32, len(t.Buffers)), inLanes: make([]bool, len(t.Buffers))}
	p.placeFixed()
	for i := range list {
		p.global = append(p.global, p.instruction(&list[i]))
	}
	turns := p.placeBarriers(list, p.global, strands)
	if early < len(list) {
		p.global[early].waits = 1 // no chain is early and late
	}
	return p, turns
}

// asked is the part of the global stage that the gradient and the outputs need. Nothing
// needs the value of a prior, whose sum would keep one thread busy.
func asked(t *graph.Tape) (list []graph.Instr) {
	reads := make([]bool, len(t.Buffers))
	for i := range t.Terms {
		reads[t.Terms[i].Delta] = true
	}
	for _, b := range t.Outputs {
		reads[b] = true
	}
	for i := range slices.Backward(t.Global) {
		in := &t.Global[i]
		if !reads[in.Dst] {
			continue
		}
		list = append(list, *in)
		for _, o := range operands(in) {
			if o.Buf != graph.NoBuf {
				reads[o.Buf] = true
			}
		}
	}
	slices.Reverse(list)
	return list
}

// outputs is how many numbers a tape's outputs are.
func (p *program) outputs() (count int) {
	for _, b := range p.tape.Outputs {
		count += p.size(b)
	}
	return count
}
