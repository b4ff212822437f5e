// Package records reads the sensitive table and encodes it for the engines. It is the only
// package that sees raw cells; Go's internal rule admits only internal/privacy to it.
//
// Errors are about files and declarations: a missing column, an unreadable file, a
// malformed line. The content of a cell is never an error: a declared rule handles a value
// that does not parse, is out of bounds or is not declared, without a message, and only the
// Check, which is private, counts it.
//
// Letters: N records, K encoded columns.
package records

import (
	"fmt"
	"slices"

	"d3p/internal/privacy/internal/records/storage"
)

// Precision is the width of the stored numbers.
type Precision uint8

// The precisions of Rows.
const (
	Float64 Precision = iota
	Float32
)

// Rows is the encoded table, row-major: record i is the K numbers from i*Stride.
// Exactly one of F64 and F32 is used. An invalid record holds zeros.
type Rows struct {
	F64    []float64
	F32    []float32
	N      int    // records, a secret
	K      int    // columns in use: encoded ones, then derived ones
	Stride int    // numbers from one record to the next, >= K
	Valid  []bool // length N
	Codes  *Codes // nil: the table is as engines read it
	// Packing is the layout of a record's columns in its Stride words of F32; nil: column j
	// is number j.
	Packing *Packing

	// Dealt is a digest of how the files were cut into blocks for the shares: the same in all
	// shares of a table.
	Dealt uint64

	float32 bool
	place   storage.Place // of the numbers
	room    *storage.Room // that has the numbers; nil: the heap
}

// ToHeap moves the numbers to the heap, so that a slice of them may outlive r.
func (r *Rows) ToHeap() {
	r.F64, r.F32 = slices.Clone(r.F64), slices.Clone(r.F32)
	r.room.Free()
	r.room = nil
}

// Precision states which of F64 and F32 holds the numbers.
func (r *Rows) Precision() Precision {
	if r.F32 != nil {
		return Float32
	}
	return Float64
}

// Format prints a fixed text for every verb: no log may show a record.
func (r *Rows) Format(f fmt.State, _ rune) { fmt.Fprint(f, "records.Rows(secret)") }

// newRows returns an empty table of a precision, without room.
func newRows(p Precision, k, stride int, at storage.Place) *Rows {
	r := &Rows{K: k, Stride: stride, place: at, float32: p == Float32}
	if r.float32 {
		r.F32 = []float32{}
	}
	return r
}

// padded is a stride for rows of k numbers of width bytes: whole cache lines if they cost
// at most a quarter more memory, so that no row shares a line with its neighbours.
func padded(k, width int) int {
	line := 64 / width
	if whole := (k + line - 1) / line * line; 4*whole <= 5*k {
		return whole
	}
	return k
}

// makeRoom gives r room for n records, with its fields.
func (r *Rows) makeRoom(n int) error {
	has, width := cap(r.F64), 8
	if r.float32 {
		has, width = cap(r.F32), 4
	}
	if n*r.Stride <= has && (has > 0 || r.Stride == 0) {
		return nil
	}
	if r.N > 0 {
		n = max(n, r.N+r.N/2)
	}
	to, err := storage.New(r.place, n*r.Stride*width)
	if err != nil {
		return err
	}
	if r.float32 {
		r.F32 = moved(r.F32, to, n*r.Stride)
	} else {
		r.F64 = moved(r.F64, to, n*r.Stride)
	}
	r.room.Free()
	r.room = to
	return nil
}

func moved[T float32 | float64](from []T, to *storage.Room, n int) []T {
	if to != nil {
		return append(storage.Numbers[T](to), from...)
	}
	return append(make([]T, 0, n), from...)
}

// push appends the record in row, length at most Stride; columns beyond it are zero.
func (r *Rows) push(row []float64, valid bool) error {
	if err := r.makeRoom(r.N + 1); err != nil {
		return err
	}
	at := r.N * r.Stride
	if r.Packing != nil {
		r.F32 = r.F32[:at+r.Stride]
		clear(r.F32[at:])
		for j, x := range row {
			r.Packing.set(r.F32[at:], j, x)
		}
	} else if r.F32 != nil {
		r.F32 = r.F32[:at+r.Stride]
		for j, x := range row {
			r.F32[at+j] = float32(x)
		}
		clear(r.F32[at+len(row):])
	} else {
		r.F64 = r.F64[:at+r.Stride]
		copy(r.F64[at:], row)
		clear(r.F64[at+len(row):])
	}
	r.Valid = append(r.Valid, valid)
	r.N++
	r.Codes.grow(1)
	return nil
}

// empty leaves no record, and the memory.
func (r *Rows) empty() {
	r.F64, r.F32, r.Valid, r.N = r.F64[:0], r.F32[:0], r.Valid[:0], 0
	if r.Codes != nil {
		r.Codes.bytes = r.Codes.bytes[:0]
	}
}

// append adds the records of other, which has the same precision and stride.
func (r *Rows) append(other *Rows) error {
	if err := r.makeRoom(r.N + other.N); err != nil {
		return err
	}
	r.F64, r.F32, r.Valid = append(r.F64, other.F64...), append(r.F32, other.F32...), append(r.Valid, other.Valid...)
	r.N += other.N
	if r.Codes != nil {
		r.Codes.bytes = append(r.Codes.bytes, other.Codes.bytes...)
	}
	return nil
}

// extend appends n valid records of zeros.
func (r *Rows) extend(n int) error {
	if err := r.makeRoom(r.N + n); err != nil {
		return err
	}
	if r.F32 != nil {
		r.F32 = r.F32[:(r.N+n)*r.Stride]
		clear(r.F32[r.N*r.Stride:])
	} else {
		r.F64 = r.F64[:(r.N+n)*r.Stride]
		clear(r.F64[r.N*r.Stride:])
	}
	for range n {
		r.Valid = append(r.Valid, true)
	}
	r.N += n
	r.Codes.grow(n)
	return nil
}

// clearInvalid sets the numbers of invalid records to zero, from record start on.
func (r *Rows) clearInvalid(start int) {
	for i := start; i < r.N; i++ {
		switch {
		case r.Valid[i]:
		case r.F32 != nil:
			clear(r.F32[i*r.Stride : (i+1)*r.Stride])
		default:
			clear(r.F64[i*r.Stride : (i+1)*r.Stride])
		}
	}
}

// set overwrites column j of record i.
func (r *Rows) set(i, j int, x float64) {
	switch {
	case r.Packing != nil:
		r.Packing.set(r.F32[i*r.Stride:(i+1)*r.Stride], j, x)
	case r.F32 != nil:
		r.F32[i*r.Stride+j] = float32(x)
	default:
		r.F64[i*r.Stride+j] = x
	}
}

// Number is column j of record i.
func (r *Rows) Number(i, j int) float64 {
	switch {
	case r.Packing != nil:
		return r.Packing.get(r.F32[i*r.Stride:(i+1)*r.Stride], j)
	case r.F32 != nil:
		return float64(r.F32[i*r.Stride+j])
	}
	return r.F64[i*r.Stride+j]
}

// Row copies record i, K numbers, to dst.
func (r *Rows) Row(i int, dst []float64) {
	at := i * r.Stride
	if r.Packing != nil {
		record := r.F32[at : at+r.Stride]
		for j := range r.K {
			dst[j] = r.Packing.get(record, j)
		}
		return
	}
	if r.F32 == nil {
		copy(dst[:r.K], r.F64[at:at+r.K])
		return
	}
	for j, x := range r.F32[at : at+r.K] {
		dst[j] = float64(x)
	}
}

// Set overwrites columns from..from+len(x) of record i.
func (r *Rows) Set(i, from int, x []float64) {
	if r.Packing != nil {
		record := r.F32[i*r.Stride : (i+1)*r.Stride]
		for j, v := range x {
			r.Packing.set(record, from+j, v)
		}
		return
	}
	at := i*r.Stride + from
	if r.F32 == nil {
		copy(r.F64[at:at+len(x)], x)
		return
	}
	for j, v := range x {
		r.F32[at+j] = float32(v)
	}
}

// Fetch asks for the records of a batch, of a table on disk, before they are read.
func (r *Rows) Fetch(batch []uint32) {
	width := 8 * r.Stride
	if r.F32 != nil {
		width = 4 * r.Stride
	}
	r.room.Fetch(batch, width)
}

// OnDisk reports whether the numbers are in a file.
func (r *Rows) OnDisk() bool { return r.room.OnDisk() }

// Widen makes room for k columns and sets K to k. The new columns are zero.
func (r *Rows) Widen(k int) error {
	words := r.Packing.Words(k)
	if words <= r.Stride {
		r.K = max(r.K, k)
		return nil
	}
	width := 8
	if r.F32 != nil {
		width = 4
	}
	wide := newRows(r.Precision(), k, padded(words, width), r.place)
	wide.Packing = r.Packing
	if err := wide.makeRoom(r.N); err != nil {
		return err
	}
	row := make([]float64, r.K)
	for i := range r.N {
		r.Row(i, row)
		if err := wide.push(row, r.Valid[i]); err != nil {
			return err
		}
	}
	wide.Codes = r.Codes
	r.room.Free()
	*r = *wide
	return nil
}
