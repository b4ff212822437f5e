package records

import (
	"encoding/binary"
	"math"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/simd"
)

// A Packing is the layout of records whose columns take as few bytes as their declarations
// allow: levels, indicators and tokens one, whole numbers between bounds one or two. A
// record is Stride words of F32: first the bytes, then the numbers of two bytes, then
// float32, then derived columns.
type Packing struct {
	slots []slot // of the encoded columns
	words int    // before the derived columns
}

// A slot is the place of a packed column.
type slot struct {
	at, size int         // in bytes; of size 4 it is a float32
	numbers  *dictionary // the values of stored numbers; nil: the numbers themselves
}

// The largest numbers of one and two bytes.
const oneByte, twoBytes = 1<<8 - 1, 1<<16 - 1

// packingOf is the layout of the encoding's records; nil if it saves less than a quarter
// of a table with that many spare columns.
func packingOf(e encoding.Encoding, spare int) *Packing {
	slots := make([]slot, e.K)
	for i := range e.Fields {
		f := &e.Fields[i]
		for _, out := range f.Out {
			if out >= 0 {
				slots[out] = narrowest(f)
			}
		}
	}
	if width := e.Width(); width > e.K { // blocks of a row and whether it is there
		block := append(slots, slot{size: 1})
		slots = make([]slot, 0, width)
		for range e.RowsPerUnit {
			slots = append(slots, block...)
		}
	}
	p := &Packing{slots: slots}
	bytes := 0
	for _, size := range []int{1, 2, 4} {
		bytes = (bytes + size - 1) / size * size
		for j := range slots {
			if slots[j].size == size {
				slots[j].at = bytes
				bytes += size
			}
		}
	}
	p.words = (bytes + 3) / 4
	if 4*(p.words+spare) > 3*(len(slots)+spare) {
		return nil
	}
	return p
}

// RecordBytes is the size of one of n float32 records with that many spare columns, in a
// table that is packed from packFrom bytes on.
func RecordBytes(e encoding.Encoding, spare, n int, packFrom int64) int {
	words := padded(e.Width()+spare, 4)
	if p := packingOf(e, spare); p != nil && packFrom > 0 && int64(n) >= packFrom/int64(4*words) {
		words = padded(p.Words(e.Width()+spare), 4)
	}
	return 4 * words
}

// narrowest is the smallest slot for the output of a field, without its place.
func narrowest(f *encoding.Field) slot {
	most := twoBytes + 1
	switch f.Kind {
	case encoding.Numeric:
		if d := dictionaryOf(f); d != nil && len(d.numbers) <= oneByte+1 {
			return slot{size: 1, numbers: d}
		} else if d != nil {
			return slot{size: 2, numbers: d}
		}
	case encoding.OneHot, encoding.MissingIndicator:
		most = 1
	case encoding.LevelCode:
		if f.Impute == float64(int(f.Impute)) {
			most = len(f.Levels) - 1
		}
	case encoding.Tokens:
		most = f.TokenLevels() - 1
	}
	if most <= oneByte {
		return slot{size: 1}
	}
	return slot{size: 4}
}

// A dictionary has the numbers that a field of whole numbers between bounds can write, as a
// table of float32 holds them, at their codes. Code 0 is the zero of invalid records.
type dictionary struct {
	numbers      []float32
	codes        map[float32]uint16
	first, slope float64 // the code of x is about first + slope·x
}

// dictionaryOf is the dictionary of a field; nil if the field has none, or too many
// numbers.
func dictionaryOf(f *encoding.Field) *dictionary {
	if f.Type != data.Integer && f.Type != data.Date || f.Lower == nil || f.Upper == nil {
		return nil
	}
	low, high := *f.Lower, *f.Upper
	if low != math.Trunc(low) || high != math.Trunc(high) || max(-low, high) > 1<<53 || high-low > twoBytes-2 {
		return nil
	}
	r := resolve(*f)
	d := &dictionary{numbers: []float32{0}, codes: map[float32]uint16{}}
	for x := low; x <= high; x++ {
		d.numbers = append(d.numbers, float32(r.encode(x)))
	}
	if f.Missing == encoding.MissingImpute {
		d.numbers = append(d.numbers, float32(r.imputed))
	}
	for code, x := range d.numbers {
		if x-x != 0 { // the logarithm of zero: such a cell is missing
			x, d.numbers[code] = 0, 0
		}
		d.codes[x] = uint16(code)
	}
	if r.transform == nil {
		d.first, d.slope = 1-low+r.Center, r.scale
	}
	return d
}

// code is the code of a number.
func (d *dictionary) code(x float64) int {
	if guess := d.first + d.slope*x + 0.5; guess >= 0 && guess < float64(len(d.numbers)) {
		if code := int(guess); d.numbers[code] == float32(x) {
			return code
		}
	}
	return int(d.codes[float32(x)])
}

// slot is the slot of column j.
func (p *Packing) slot(j int) slot {
	if j >= len(p.slots) {
		return slot{at: 4 * (p.words + j - len(p.slots)), size: 4}
	}
	return p.slots[j]
}

// Words are the numbers of a record of k columns; every column is one if p is nil.
func (p *Packing) Words(k int) int {
	if p == nil {
		return k
	}
	return p.words + max(0, k-len(p.slots))
}

// get is column j of a record.
func (p *Packing) get(record []float32, j int) float64 {
	at := p.slot(j)
	code := 0
	switch at.size {
	case 4:
		return float64(record[at.at/4])
	case 2:
		code = int(binary.LittleEndian.Uint16(simd.Bytes(record)[at.at:]))
	case 1:
		code = int(simd.Bytes(record)[at.at])
	}
	if at.numbers == nil {
		return float64(code)
	}
	return float64(at.numbers.numbers[code])
}

// set stores column j of a record. Fields of bytes write whole numbers from 0 to oneByte
// only; a byte would hold no other number either.
func (p *Packing) set(record []float32, j int, x float64) {
	at := p.slot(j)
	if at.size == 4 {
		record[at.at/4] = float32(x)
		return
	}
	code := 0
	if at.numbers != nil {
		code = at.numbers.code(x)
	} else {
		code = int(max(0, min(x, oneByte)))
	}
	if at.size == 2 {
		binary.LittleEndian.PutUint16(simd.Bytes(record)[at.at:], uint16(code))
	} else {
		simd.Bytes(record)[at.at] = byte(code)
	}
}

// A PackedRun is Count columns from First on that are side by side in a packed record, from
// byte At on, each of Size bytes: 4 are a float32, fewer a whole number.
type PackedRun struct {
	First, Count, At, Size int
	// Numbers has, for the columns of the run in order, the values of their stored whole
	// numbers; nil: the numbers themselves.
	Numbers [][]float32
}

// Runs are the runs of columns that read picks of the first k. A number of two bytes is a
// run by itself.
func (p *Packing) Runs(k int, read func(column int) bool) (runs []PackedRun) {
	for j := range k {
		if !read(j) {
			continue
		}
		at := p.slot(j)
		var numbers []float32
		if at.numbers != nil {
			numbers = at.numbers.numbers
		}
		if n := len(runs); n > 0 && at.size != 2 {
			last := &runs[n-1]
			if last.Size == at.size && last.First+last.Count == j && last.At+last.Count*at.size == at.at {
				last.Count++
				last.Numbers = append(last.Numbers, numbers)
				continue
			}
		}
		runs = append(runs, PackedRun{First: j, Count: 1, At: at.at, Size: at.size, Numbers: [][]float32{numbers}})
	}
	return runs
}
