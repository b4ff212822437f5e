package enginetest

import (
	"math"
	"slices"
	"testing"

	"d3p/internal/privacy"
)

// extremes: for any numbers of a record and any parameters, its contribution is finite
// and not longer than C, and does not change the others. Products of huge and tiny
// numbers overflow, underflow and cancel here.
func (e *experiment) extremes(t *testing.T) {
	whole, in := e.rows, e.in
	defer func() { e.rows, e.in = whole, in }()
	const records = 40
	relative := 1e-13 // error of a sum, of C for each record
	if privacy.Cancels(e.reference.tape) {
		relative = 1e-9 // parts may be a million C long before they cancel
	}
	dst, sum := make([]float64, len(in.Params)), make([]float64, len(in.Params))
	for _, reach := range []float64{3, 37, 150} {
		rows := e.wildRows(t, whole, records, reach)
		e.rows = rows
		worker := e.open(t)
		for _, scale := range []float64{1, 1e4} {
			e.in.Params = normals(e.rng, len(in.Params), scale)
			clip := privacy.Clip{Kind: privacy.Flat, Norm: math.Abs(e.wild(6))}
			batch := e.everyone()[:records]
			clear(sum)
			for i := range batch {
				if _, err := worker.ClippedSum(dst, e.in, batch[i:i+1], false, clip); err != nil {
					t.Fatal(err)
				}
				if l := length(dst); !(l <= clip.Norm*(1+e.tol.Overshoot)) {
					t.Errorf("record %d of numbers up to 1e%g, parameters about %g: its contribution is %g times C", i, reach, scale, l/clip.Norm)
				}
				for j, x := range dst {
					sum[j] += x
				}
			}
			if e.reference.tape.AuxRecord > 0 { // its noise depends on its place in the batch
				continue
			}
			if _, err := worker.ClippedSum(dst, e.in, batch, false, clip); err != nil {
				t.Fatal(err)
			}
			for j, x := range dst {
				if !(math.Abs(x-sum[j]) <= relative*records*clip.Norm) {
					t.Errorf("numbers up to 1e%g, parameters about %g: sum[%d] is %g times C, one by one %g", reach, scale, j, x/clip.Norm, sum[j]/clip.Norm)
					break
				}
			}
		}
	}
}

// wild is a number of either sign between 10^-reach and 10^reach.
func (e *experiment) wild(reach float64) float64 {
	x := math.Pow(10, reach*(2*e.rng.Float64()-1))
	if e.rng.IntN(2) == 0 {
		return -x
	}
	return x
}

// wildRows returns a copy of whole with wild numbers in most cells of the first records.
func (e *experiment) wildRows(t *testing.T, whole *privacy.Rows, records int, reach float64) *privacy.Rows {
	rows := *whole
	rows.F32, rows.F64 = slices.Clone(whole.F32), slices.Clone(whole.F64)
	if whole.F32 == nil {
		rows.F32 = nil
	} else {
		rows.F64 = nil
	}
	for i := range records {
		for j := range e.reference.tape.K0 {
			if e.rng.IntN(3) > 0 {
				rows.Set(i, j, []float64{e.wild(reach)})
			}
		}
	}
	if err := privacy.DeriveColumns(e.reference.tape, &rows, e.reference.tape.K0); err != nil {
		t.Fatal(err)
	}
	return &rows
}
