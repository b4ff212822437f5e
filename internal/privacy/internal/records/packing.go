package records

import (
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/simd"
)

// A Packing is the layout of records whose levels, indicators and tokens take a byte each.
// A record is Stride words of F32: first the bytes, then the encoded numbers of 4 bytes,
// then derived columns.
type Packing struct {
	// places has, for each encoded column, the byte b of the record as -1-b, or the word of
	// its float32.
	places []int32
	words  int // before the derived columns
}

// mostPacked is the largest number of a byte.
const mostPacked = 255

// packingOf is the layout of the encoding's records; nil if it saves less than a quarter
// of a table with that many spare columns.
func packingOf(e encoding.Encoding, spare int) *Packing {
	small := make([]bool, e.K)
	for i := range e.Fields {
		f := &e.Fields[i]
		for _, out := range f.Out {
			if out >= 0 {
				small[out] = fitsByte(f)
			}
		}
	}
	if width := e.Width(); width > e.K { // blocks of a row and whether it is there
		block := append(small, true)
		small = make([]bool, 0, width)
		for range e.RowsPerUnit {
			small = append(small, block...)
		}
	}
	p := &Packing{places: make([]int32, len(small))}
	bytes := 0
	for j, byteWide := range small {
		if byteWide {
			bytes++
			p.places[j] = int32(-bytes)
		}
	}
	p.words = (bytes + 3) / 4
	for j, byteWide := range small {
		if !byteWide {
			p.places[j] = int32(p.words)
			p.words++
		}
	}
	if 4*(p.words+spare) > 3*(len(small)+spare) {
		return nil
	}
	return p
}

// fitsByte reports whether all that a field writes are whole numbers of a byte.
func fitsByte(f *encoding.Field) bool {
	switch f.Kind {
	case encoding.OneHot, encoding.MissingIndicator:
		return true
	case encoding.LevelCode:
		return len(f.Levels) <= mostPacked+1 && f.Impute == float64(int(f.Impute))
	case encoding.Tokens:
		return f.Vocabulary != nil && data.Unknown+len(f.Vocabulary) <= mostPacked
	}
	return false
}

// word is the word of column j in a record, or -1-b if it is byte b.
func (p *Packing) word(j int) int {
	if j >= len(p.places) {
		return p.words + j - len(p.places)
	}
	return int(p.places[j])
}

// Words are the numbers of a record of k columns; every column is one if p is nil.
func (p *Packing) Words(k int) int {
	if p == nil {
		return k
	}
	return p.words + max(0, k-len(p.places))
}

// get is column j of a record.
func (p *Packing) get(record []float32, j int) float64 {
	at := p.word(j)
	if at >= 0 {
		return float64(record[at])
	}
	return float64(simd.Bytes(record)[-1-at])
}

// set stores column j of a record. Fields of bytes write whole numbers from 0 to
// mostPacked only; a byte would hold no other number either.
func (p *Packing) set(record []float32, j int, x float64) {
	at := p.word(j)
	if at >= 0 {
		record[at] = float32(x)
		return
	}
	simd.Bytes(record)[-1-at] = byte(max(0, min(x, mostPacked)))
}

// A PackedRun is Count columns from First on that are side by side in a packed record, from
// byte At on: in bytes, or as float32.
type PackedRun struct {
	First, Count, At int
	InBytes          bool
}

// Runs are the runs of columns that read picks of the first k.
func (p *Packing) Runs(k int, read func(column int) bool) (runs []PackedRun) {
	for j := range k {
		if !read(j) {
			continue
		}
		one := PackedRun{First: j, Count: 1, At: 4 * p.word(j)}
		if at := p.word(j); at < 0 {
			one.At, one.InBytes = -1-at, true
		}
		if n := len(runs); n > 0 {
			last, size := &runs[n-1], 4
			if one.InBytes {
				size = 1
			}
			if last.InBytes == one.InBytes && last.First+last.Count == j && last.At+last.Count*size == one.At {
				last.Count++
				continue
			}
		}
		runs = append(runs, one)
	}
	return runs
}
