package enginetest

import (
	"math"
	"slices"
	"testing"

	"d3p/internal/privacy"
)

// independence: a record's contribution depends on no other record of the batch, not even in
// its last bits. Otherwise one more record would change the contributions of many, and
// the noise does not cover that.
func (e *experiment) independence(t *testing.T) {
	clip := privacy.Clip{Kind: privacy.Flat, Norm: e.reference.medianNorm(e.everyone())}
	valid := slices.Clone(e.rows.Valid)
	defer copy(e.rows.Valid, valid)
	clear(e.rows.Valid)
	const i = 7
	e.rows.Valid[i] = true
	worker := e.open(t)
	contribution := func(w privacy.Worker, batch []uint32) []float64 {
		dst := make([]float64, len(e.in.Params))
		if _, err := w.ClippedSum(dst, e.in, batch, false, clip); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	alone := contribution(e.worker, []uint32{i}) // for tapes without invalid records
	others := append(e.everyone()[:i], e.everyone()[i+1:]...)
	for _, B := range []int{2, 17, 300} {
		batch := append([]uint32{i}, others[:B-1]...)
		places := []int{0}
		if e.reference.tape.AuxRecord == 0 { // otherwise its noise depends on its place
			places = append(places, B-1)
		}
		for _, place := range places {
			batch[0], batch[place] = batch[place], batch[0]
			for j, x := range contribution(worker, batch) {
				if !(math.Abs(x-alone[j]) <= 1e-14*clip.Norm) { // its own parts may be added up in another order
					t.Errorf("at place %d of %d: sum[%d] is %g, alone %g", place, B, j, x, alone[j])
					break
				}
			}
			batch[0], batch[place] = batch[place], batch[0]
		}
	}
}
