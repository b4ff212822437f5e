package enginetest

import (
	"math"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// reference computes clipped sums the slow way.
type reference struct {
	tape    *graph.Tape
	machine *graph.Machine // for one record
	rows    *privacy.Rows
	in      privacy.StepInput
	row     []float64
	drawn   []float64   // normals of the records of a batch, in order
	known   [][]float64 // gradients of records, for tapes without draws
}

func newReference(t *graph.Tape, rows *privacy.Rows, in privacy.StepInput) *reference {
	r := &reference{tape: t, machine: graph.NewMachine(t, 1), rows: rows, in: in, row: make([]float64, rows.K)}
	r.machine.Globals(in.Params, in.Aux)
	r.known = make([][]float64, rows.N)
	if t.AuxRecord > 0 {
		r.drawn = make([]float64, rows.N*t.AuxRecord)
		in.RecordNoise.Seek(uint64(in.Step))
		in.RecordNoise.Normals(r.drawn)
	}
	return r
}

// keep copies all gradients of r2, a reference with the same parameters, except those of the
// records `but`, whose rows differ.
func (r *reference) keep(r2 *reference, but []int) {
	copy(r.known, r2.known)
	for _, i := range but {
		r.known[i] = nil
	}
}

// gradient is the gradient of record i when it is at the given position of the
// batch; not to be changed.
func (r *reference) gradient(position, i int) []float64 {
	if r.known[i] != nil {
		return r.known[i]
	}
	r.rows.Row(i, r.row)
	aux := r.drawn[position*r.tape.AuxRecord:][:r.tape.AuxRecord]
	r.machine.Records(r.row, len(r.row), 1, aux)
	g := make([]float64, r.tape.P)
	r.machine.Gradient(0, g)
	if r.tape.AuxRecord == 0 {
		r.known[i] = g
	}
	return g
}

// clippedSum is Σ g·f(|g|) and Σ (1[|g| <= C] - 1/2), a record that is invalid
// or not finite being a zero gradient. scale is the size of the terms, for
// tolerances.
func (r *reference) clippedSum(batch []uint32, clip privacy.Clip) (sum []float64, count, scale float64) {
	sum = make([]float64, r.tape.P)
	zero := make([]float64, r.tape.P)
	for position, i := range batch {
		g := r.gradient(position, int(i))
		norm := length(g)
		if !r.rows.Valid[i] || math.IsNaN(norm) || math.IsInf(norm, 0) {
			g, norm = zero, 0
		}
		f := clip.Factor(norm)
		for k := range sum {
			sum[k] += f * g[k]
		}
		scale += f * norm
		if norm <= clip.Norm {
			count += 0.5
		} else {
			count -= 0.5
		}
	}
	return sum, count, max(scale, clip.Norm)
}

// length is the L2 norm, by the plain sum of squares; it is not finite if that overflows.
func length(g []float64) float64 {
	s := 0.0
	for _, x := range g {
		s += x * x
	}
	return math.Sqrt(s)
}

// medianNorm lies about the middle of the finite norms of a batch and clear of all of
// them, so that rounding does not decide on which side of it a record is.
func (r *reference) medianNorm(batch []uint32) float64 {
	var norms []float64
	for position, i := range batch {
		if n := length(r.gradient(position, int(i))); r.rows.Valid[i] && n > 0 && !math.IsInf(n, 0) {
			norms = append(norms, n)
		}
	}
	slices.Sort(norms)
	k := len(norms) / 2
	for k < len(norms)-1 && norms[k] < norms[k-1]*(1+1e-4) {
		k++
	}
	return (norms[k-1] + norms[k]) / 2
}
