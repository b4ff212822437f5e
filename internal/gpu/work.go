package gpu

import "d3p/internal/models/graph"

// Supports says whether the kernels can run a tape: nil, or an
// *UnsupportedError, or what else is wrong with it.
func Supports(t *graph.Tape) error {
	_, err := compile(t, wideProducts)
	return err
}

// Products is the number of multiplications that a tape's matrix products and
// gradients of weights take per record: what a device is faster at.
func Products(t *graph.Tape) (n int64) {
	for i := range needed(t) {
		if in := &t.Record[i]; in.Op == graph.OpMatVec || in.Op == graph.OpOuter {
			n += int64(in.Rows) * int64(in.Cols) * int64(max(in.Width, 1))
		}
	}
	for i := range t.Terms {
		if m := &t.Terms[i]; m.Kind == graph.TermOuter {
			n += int64(m.Rows) * int64(m.Cols) * int64(max(m.Width, 1))
		}
	}
	return n
}
