package parquet

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// page is a data page.
type page struct {
	rows     int // not read yet; of lists their entries
	repeats  hybrid
	levels   hybrid
	leveled  bool // the levels mark null cells; otherwise none is null
	mode     mode
	plain    []byte  // values
	bit      int     // of truth values
	indices  hybrid  // into the dictionary
	decoded  []int64 // values that were decoded at once
	consumed int     // of them
	deltas   delta
	prefixed prefixed
}

// nextPage reads the next data page, with the dictionary before it; false at the end of
// the row groups.
func (r *ColumnReader) nextPage() bool {
	for {
		for r.rows == 0 {
			if r.group == r.last {
				return false
			}
			r.begin(r.file.meta.groups[r.group])
		}
		h := r.pageHeader()
		if h.size < 0 || h.size > math.MaxInt32 || h.compressed < 0 || h.compressed > r.end-r.at || h.values < 0 || h.values > r.mostCells() {
			panic(errDamaged)
		}
		if int64(cap(r.stored)) < h.compressed {
			r.stored = make([]byte, h.compressed)
		}
		stored := r.stored[:h.compressed]
		r.readAt(stored, r.at)
		r.at += h.compressed
		switch h.kind {
		case 0:
			r.dataPage(h, stored)
		case 2:
			r.dictionaryPage(h, stored)
			continue
		case 3:
			r.dataPage2(h, stored)
		default: // an index
			continue
		}
		if h.values > 0 {
			return true
		}
	}
}

// mostCells bounds the cells that a page may state. One list may have any number of missing entries,
// in a few bytes.
func (r *ColumnReader) mostCells() int64 {
	if r.column.levels.number > 0 {
		return math.MaxInt32
	}
	return r.file.mostCells()
}

// begin begins a row group.
func (r *ColumnReader) begin(g rowGroup) {
	c := g.columns[r.column.leaf]
	start := c.data
	if c.dictionary > 0 && c.dictionary < start {
		start = c.dictionary
	}
	lists := r.column.levels.number > 0
	if c.elsewhere || c.encrypted || c.physical != r.column.element.physical || c.values != g.rows && !(lists && c.values > g.rows) ||
		lists && r.given != r.due || start < 0 || c.compressed < 0 || start > r.file.size-c.compressed {
		panic(errDamaged)
	}
	r.group++
	r.due += g.rows
	r.rows, r.codec, r.at, r.end = c.values, c.codec, start, start+c.compressed
	r.dictionary.empty()
}

func (r *ColumnReader) readAt(b []byte, at int64) {
	if _, err := r.file.src.ReadAt(b, at); err != nil && !(errors.Is(err, io.EOF) && at+int64(len(b)) == r.file.size) {
		panic(errDamaged)
	}
}

// pageHeader reads a header, whose length is not stated.
func (r *ColumnReader) pageHeader() pageHeader {
	for {
		n := min(int64(len(r.header)), r.end-r.at)
		if n <= 0 {
			panic(errDamaged)
		}
		r.readAt(r.header[:n], r.at)
		if h, length, ok := tryPageHeader(r.header[:n]); ok {
			r.at += int64(length)
			return h
		}
		if n < int64(len(r.header)) {
			panic(errDamaged)
		}
		r.header = make([]byte, 4*len(r.header))
	}
}

// tryPageHeader reads a header; ok is false where b ends within it.
func tryPageHeader(b []byte) (h pageHeader, length int, ok bool) {
	defer func() {
		if x := recover(); x != nil && x != errShort {
			panic(x)
		}
	}()
	h, length = readPageHeader(b)
	return h, length, true
}

func (r *ColumnReader) dictionaryPage(h pageHeader, stored []byte) {
	b := r.compression.decompress(r.codec, stored, r.dictRoom, int(h.size))
	if r.codec != 0 {
		r.dictRoom = b
	}
	if h.encoding != encodingPlain && h.encoding != encodingPlainDictionary || r.column.element.physical == physicalBool {
		panic(errDamaged)
	}
	r.dictionary.empty()
	r.column.element.plain(r.column.Kind, b, int(h.values), &r.dictionary)
	r.longest = 0
	for i := range r.dictionary.Ends {
		r.longest = max(r.longest, len(r.dictionary.Text(i)))
	}
}

// dataPage begins a data page of version 1.
func (r *ColumnReader) dataPage(h pageHeader, stored []byte) {
	b := r.decompress(stored, int(h.size))
	r.start(h)
	if r.column.levels.number > 0 {
		r.page.repeats, b = pageLevels(b, h.repetition, 1)
	}
	if r.column.leveled() {
		r.page.leveled = true
		r.page.levels, b = pageLevels(b, h.levels, r.column.width())
	}
	r.begun(h, b)
}

// pageLevels are the levels that b starts with, of some bits each.
func pageLevels(b []byte, encoding int64, width int) (levels hybrid, rest []byte) {
	// the bits of BIT_PACKED come highest first: no writer of this century has them
	if encoding != encodingRLE || len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
		panic(errDamaged)
	}
	n := 4 + int(binary.LittleEndian.Uint32(b))
	return newHybrid(b[4:n], width), b[n:]
}

// dataPage2 begins a data page of version 2, whose levels are never compressed.
func (r *ColumnReader) dataPage2(h pageHeader, stored []byte) {
	all := h.repeats + h.levelBytes
	if h.repeats < 0 || h.repeats > 0 && r.column.levels.number == 0 || h.levelBytes < 0 || max(h.repeats, h.levelBytes) > h.size || all > int64(len(stored)) || all > h.size {
		panic(errDamaged)
	}
	repeats, levels, b := stored[:h.repeats], stored[h.repeats:all], stored[all:]
	if !h.plain {
		b = r.decompress(b, int(h.size-all))
	}
	r.start(h)
	if r.column.leveled() {
		r.page.leveled, r.page.levels = true, newHybrid(levels, r.column.width())
	}
	r.page.repeats = newHybrid(repeats, 1)
	r.begun(h, b)
}

func (r *ColumnReader) decompress(stored []byte, n int) []byte {
	b := r.compression.decompress(r.codec, stored, r.room, n)
	if r.codec != 0 {
		r.room = b
	}
	return b
}

func (r *ColumnReader) start(h pageHeader) {
	if h.values > r.rows {
		panic(errDamaged)
	}
	r.rows -= h.values
	r.page = page{rows: int(h.values), decoded: r.page.decoded[:0]}
}

// The encodings of values.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingDelta           = 5
	encodingDeltaLengths    = 6
	encodingDeltaStrings    = 7
	encodingDictionary      = 8
	encodingSplit           = 9
)

// begun takes the values of a page.
func (r *ColumnReader) begun(h pageHeader, b []byte) {
	p, e := &r.page, r.column.element
	text := e.physical == physicalBytes || e.uuid()
	switch {
	case h.encoding == encodingPlain:
		p.mode, p.plain = plainValues, b
		return
	case h.encoding == encodingSplit && e.width() > 0:
		p.mode, p.plain = plainValues, joined(b, e.width())
		return
	case h.encoding == encodingPlainDictionary || h.encoding == encodingDictionary:
		p.mode = dictionaryIndices
		if len(b) > 0 { // there may be nulls alone
			p.indices = newHybrid(b[1:], int(b[0]))
		}
		return
	case h.encoding == encodingRLE && e.physical == physicalBool:
		values := r.numbers(r.present(int(h.values)))
		if len(values) > 0 { // otherwise there may be no bytes
			bits := newHybrid(b[4:], 1)
			bits.next(values)
		}
		for _, x := range values {
			p.decoded = append(p.decoded, int64(x))
		}
	case h.encoding == encodingDelta && (e.physical == physicalInt32 || e.physical == physicalInt64):
		p.mode, p.deltas = deltaValues, newDelta(b, int(h.values))
		return
	case h.encoding == encodingDeltaLengths && text:
		p.mode, p.prefixed = prefixedValues, newLengths(b, int(h.values))
		return
	case h.encoding == encodingDeltaStrings && text:
		p.mode, p.prefixed = prefixedValues, newPrefixed(b, int(h.values))
		return
	default:
		panic(errDamaged)
	}
	p.mode = decodedValues
}

// joined is the plain form of values whose first bytes come first, then their second ones, and so on.
// Apache Parquet, "Byte Stream Split".
func joined(b []byte, width int) []byte {
	n := len(b) / width
	plain := make([]byte, n*width)
	for k := range width {
		for i, x := range b[k*n : (k+1)*n] {
			plain[i*width+k] = x
		}
	}
	return plain
}

// present is the number of values of a page with n cells, nulls aside.
func (r *ColumnReader) present(n int) int {
	if !r.page.leveled {
		return n
	}
	levels, count := r.page.levels, 0
	numbers := make([]uint32, n)
	levels.next(numbers)
	for _, x := range numbers {
		count += int(x)
	}
	return count
}
