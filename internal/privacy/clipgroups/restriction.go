package clipgroups

import (
	"fmt"

	"d3p/internal/models/graph"
)

// restrict is the tape of t whose gradient has only the terms of some parameters: elements
// of θ for which in is true, P of them. Parameters, columns, noise and global values stay;
// Record keeps what these terms need. The error names a parameter whose term has elements
// in and out.
func restrict(t *graph.Tape, in []bool) (*graph.Tape, error) {
	r := *t
	r.Loss, r.Outputs, r.Terms, r.Cross = graph.NoBuf, nil, nil, nil
	place := make([]int, len(t.Terms)) // in r.Terms; -1: left out
	needed := make([]bool, len(t.Buffers))
	for i := range t.Terms {
		m := &t.Terms[i]
		inside, outside := sides(m, in)
		if inside && outside {
			return nil, fmt.Errorf("one gradient has both elements of %s and other parameters", paramAt(t, m.Param))
		}
		if place[i] = -1; !inside {
			continue
		}
		place[i] = len(r.Terms)
		r.Terms = append(r.Terms, *m)
		needed[m.Delta] = true
		switch m.Kind {
		case graph.TermOuter:
			needed[m.X] = true
		case graph.TermScatter:
			needed[m.Index] = true
		}
	}
	for _, pair := range t.Cross {
		if i, j := place[pair.I], place[pair.J]; i >= 0 && j >= 0 {
			r.Cross = append(r.Cross, graph.Pair{I: i, J: j, Gram: pair.Gram})
		}
	}
	r.Record = neededOf(t.Record[:t.Gradient], needed)
	r.Gradient = len(r.Record)
	return &r, nil
}

// sides reports whether a term has elements for which in is true, and whether it has
// others.
func sides(m *graph.Term, in []bool) (inside, outside bool) {
	for row := range m.Rows {
		for col := range m.Cols {
			if in[m.Param+row*m.RowStride+col*m.ColStride] {
				inside = true
			} else {
				outside = true
			}
		}
	}
	return inside, outside
}

// paramAt is the name of the parameter with an element of θ.
func paramAt(t *graph.Tape, at int) string {
	name := ""
	for _, p := range t.Params {
		if p.Offset <= at {
			name = p.Name
		}
	}
	return name
}

// Moved are the elements of θ in which a record can have a gradient.
func Moved(t *graph.Tape) []bool {
	moved := make([]bool, t.P)
	for i := range t.Terms {
		m := &t.Terms[i]
		for row := range m.Rows {
			for col := range m.Cols {
				moved[m.Param+row*m.RowStride+col*m.ColStride] = true
			}
		}
	}
	return moved
}

// neededOf are the instructions with needed results, in their order. It marks their inputs
// as needed, too.
func neededOf(list []graph.Instr, needed []bool) []graph.Instr {
	keep := make([]bool, len(list))
	n := 0
	for i := len(list) - 1; i >= 0; i-- {
		in := &list[i]
		if !needed[in.Dst] {
			continue
		}
		keep[i] = true
		n++
		for _, o := range []graph.Operand{in.A, in.B, in.C} {
			if o.Buf != graph.NoBuf {
				needed[o.Buf] = true
			}
		}
	}
	kept := make([]graph.Instr, 0, n)
	for i := range list {
		if keep[i] {
			kept = append(kept, list[i])
		}
	}
	return kept
}
