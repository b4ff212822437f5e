package cpu

import "d3p/internal/models/graph"

// execute runs items over the frame's lanes.
func (f *frame) execute(items []item) {
	for i := range items {
		switch it := &items[i]; {
		case it.program != nil:
			it.program.Run(&f.in, f.pitch)
		case it.step != nil:
			f.apply(it.step)
		default:
			f.instruct(it.instr)
		}
	}
}

// instruct executes an instruction that was not cut into steps.
func (f *frame) instruct(in *instr) {
	switch in.Op {
	case graph.OpMatVec:
		f.matVec(in)
	case graph.OpOuter:
		f.outer(in)
	case graph.OpGather:
		f.gather(in)
	case graph.OpScatter:
		f.scatter(in)
	}
}
