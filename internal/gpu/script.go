package gpu

import (
	"fmt"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// A script is a fit's postprocessing on the device: three programs of global
// instructions, and where their results go.
type script struct {
	propose, prior, absorb globalProgram
	proposed, absorbed     []output

	inputs, states int // numbers per step
	clipNorm       int
}

// A globalProgram is a program without records, with its arguments.
type globalProgram struct {
	*program
	args arguments
}

// mostScripted is the most parameters of a fit in chunks of blocks of their own
// that is run on the device by itself: one block does what is not about records.
const mostScripted = 1 << 14

// newScript compiles a postprocessing for a tape of P parameters.
func newScript(P int, wide bool, of privacy.Postprocessing) (s *script, err error) {
	if P > mostScripted && !wide {
		return nil, fmt.Errorf("gpu: %d parameters are too many for many steps in one launch", P)
	}
	s = &script{inputs: of.Propose.AuxGlobal, states: of.Propose.P, clipNorm: of.ClipNorm}
	for _, c := range []struct {
		program *globalProgram
		tape    *graph.Tape
	}{{&s.propose, of.Propose}, {&s.prior, of.Prior}, {&s.absorb, of.Absorb}} {
		if c.program.program, err = compileGlobal(c.tape); err != nil {
			return nil, err
		}
	}
	var proposed, absorbed int
	s.proposed, proposed = s.propose.outputs()
	s.absorbed, absorbed = s.absorb.outputs()
	if proposed != P || of.Prior.P != P || of.Absorb.P != s.states || absorbed != s.states ||
		of.Absorb.AuxGlobal != s.inputs+2*P+1 || s.clipNorm < 0 || s.clipNorm >= s.states {
		panic("gpu: the tapes of a postprocessing do not fit each other")
	}
	return s, nil
}

// compileGlobal prepares a tape that depends on no record.
func compileGlobal(t *graph.Tape) (*program, error) {
	p := &program{tape: t, place: make([]int32, len(t.Buffers)), inLanes: make([]bool, len(t.Buffers))}
	if len(t.Record) > 0 {
		return nil, fmt.Errorf("gpu: postprocessing depends on records")
	}
	list := asked(t)
	if err := p.checkOperations(list); err != nil {
		return nil, err
	}
	p.placeFixed()
	for i := range list {
		p.global = append(p.global, p.instruction(&list[i]))
	}
	p.placeBarriers(list, p.global)
	p.findChains(list, p.global, p.readElsewhere(nil))
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

// asked is the part of the global stage that the gradient and the outputs need:
// the value of a prior is nobody's, and a sum of its terms is one thread's work.
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

// outputs lists where a tape's outputs are, and how many numbers they are.
func (p *program) outputs() (list []output, count int) {
	for _, b := range p.tape.Outputs {
		list = append(list, output{from: p.operand(graph.Operand{Buf: b}), size: int32(p.size(b)), to: int32(count)})
		count += p.size(b)
	}
	return list, count
}
