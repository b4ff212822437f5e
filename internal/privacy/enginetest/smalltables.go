package enginetest

import (
	"testing"

	"d3p/internal/privacy"
)

// smallTables: engines accept a table of one record or of none. Its size is not public,
// and an error would reveal it.
func (e *experiment) smallTables(t *testing.T) {
	whole, reference := e.rows, e.reference
	defer func() { e.rows, e.reference = whole, reference }()
	clip := privacy.Clip{Kind: privacy.Flat, Norm: reference.medianNorm(e.everyone())}
	for n := range 2 {
		small := *whole
		small.N, small.Valid = n, whole.Valid[:n]
		if small.F32 != nil {
			small.F32 = whole.F32[:n*whole.Stride]
		} else {
			small.F64 = whole.F64[:n*whole.Stride]
		}
		e.rows = &small
		e.reference = newReference(reference.tape, e.rows, e.in)
		large := e.worker
		e.worker = e.open(t)
		e.compare(t, "every record", nil, true, clip)
		e.compare(t, "no record", nil, false, clip)
		e.worker = large
	}
}
