package parquet

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
)

// A ColumnReader reads the cells of one column in some row groups, in order. It is for one
// goroutine.
type ColumnReader struct {
	file    *File
	column  Column
	group   int   // behind the row group that was begun
	last    int   // row groups end before it
	all     int64 // rows of the row groups
	at, end int64 // of the chunk, in the file
	codec   int64
	rows    int64 // of the row group, not read yet; of lists their entries
	given   int64 // rows given out, of nulls alone and of lists
	due     int64 // of lists: rows of the row groups that were begun

	page    page
	entries entries
	*scratch
}

// scratch is the memory that a reader leaves to the next one: megabytes.
type scratch struct {
	dictionary  Cells
	longest     int // bytes of a text of the dictionary
	header      []byte
	stored      []byte // of a page, as in the file
	room        []byte // of a page, decompressed
	dictRoom    []byte
	indices     []uint32
	compression decompressor
}

// page is a data page.
type page struct {
	rows     int // not read yet; of lists their entries
	repeats  hybrid
	levels   hybrid
	leveled  bool // the levels mark null cells; otherwise none is null
	mode     mode
	plain    []byte // values
	bit      int    // of truth values
	indices  hybrid // into the dictionary
	decoded  Cells  // values that were decoded at once
	consumed int    // of them
}

// mode is the place of a page's values.
type mode uint8

const (
	plainValues mode = iota
	dictionaryIndices
	decodedValues
)

// Reader returns a reader of column i of Columns, in all rows.
func (f *File) Reader(i int) (*ColumnReader, error) { return f.GroupReader(i, 0, len(f.meta.groups)) }

// GroupReader returns a reader of column i of Columns, in the row groups from first to
// before end.
func (f *File) GroupReader(i, first, end int) (*ColumnReader, error) {
	if f.columns[i].Kind == Other {
		return nil, ErrDamaged
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &ColumnReader{file: f, column: f.columns[i], group: first, last: end}
	if r.column.levels.number > 0 {
		r.column.Kind = r.column.levels.kind
	}
	for _, g := range f.meta.groups[first:end] {
		r.all += g.rows
	}
	if n := len(f.spare); n > 0 {
		r.scratch, f.spare = f.spare[n-1], f.spare[:n-1]
	} else {
		r.scratch = &scratch{header: make([]byte, 1<<10)}
	}
	return r, nil
}

// Close ends the reader, whose memory the next one reuses.
func (r *ColumnReader) Close() {
	r.file.mu.Lock()
	defer r.file.mu.Unlock()
	r.file.spare, r.scratch = append(r.file.spare, r.scratch), nil
}

// Read reads the cells of the next n rows into c, fewer at the end of the row groups only.
func (r *ColumnReader) Read(c *Cells, n int) (err error) {
	c.empty()
	return r.fill(c, n, math.MaxInt)
}

// fullText is the number of bytes of text that Fill holds before it ends.
const fullText = 16 << 20

// Fill adds cells to c until it has those of n rows, no row groups are left, or its texts
// do not fit in memory for all of n rows. It adds at least one to an empty c, unless the
// row groups end.
func (r *ColumnReader) Fill(c *Cells, n int) error { return r.fill(c, n, fullText) }

func (r *ColumnReader) fill(c *Cells, n, full int) (err error) {
	defer recovered(&err)
	if c.Null == nil {
		c.Null = slices.Grow(c.room[:0], c.N)[:c.N]
		clear(c.Null)
	}
	if r.column.levels.number > 0 {
		r.fillLists(c, n, full)
		return nil
	}
	if r.column.Kind == Nothing {
		more := int(min(int64(n-c.N), r.all-r.given))
		for range more {
			c.Null = append(c.Null, true)
			c.Ints = append(c.Ints, 0)
		}
		c.N, r.given = c.N+more, r.given+int64(more)
		return nil
	}
	nulls := slices.Contains(c.Null, true)
	for c.N < n && (c.N == 0 || len(c.Bytes) < full) {
		if r.page.rows == 0 && !r.nextPage() {
			break
		}
		m := min(n-c.N, r.page.rows, r.atOnce(full-len(c.Bytes)))
		if r.cells(c, m) {
			nulls = true
		}
		r.page.rows -= m
		c.N += m
	}
	if n := map[storage]int{ints: len(c.Ints), floats: len(c.Floats), texts: len(c.Ends)}[r.column.Kind.storage()]; n != c.N {
		return ErrDamaged
	}
	if c.room = c.Null; !nulls {
		c.Null = nil
	}
	return nil
}

// atOnce is the number of cells of the page that have together at most `rest` bytes of
// text, or 1: a page may name a long text of its dictionary many times.
func (r *ColumnReader) atOnce(rest int) int {
	switch p := &r.page; {
	case r.column.Kind.storage() != texts:
	case p.mode == dictionaryIndices && r.longest > 0:
		return max(1, rest/r.longest)
	case p.mode != dictionaryIndices && len(p.plain)+len(p.decoded.Bytes) > rest:
		return 1
	}
	return math.MaxInt
}

// cells adds the next m cells of the page, and reports whether some are null.
func (r *ColumnReader) cells(c *Cells, m int) (nulls bool) {
	present := m
	start := len(c.Null)
	c.Null = slices.Grow(c.Null, m)[:start+m]
	clear(c.Null[start:])
	if r.page.leveled {
		levels := r.numbers(m)
		r.page.levels.next(levels)
		for i, level := range levels {
			if level == 0 {
				c.Null[start+i] = true
				present--
			}
		}
	}
	if present == m {
		r.values(c, m)
		return false
	}
	switch null := c.Null[start:]; r.column.Kind.storage() {
	case ints:
		from := len(c.Ints)
		r.values(c, present)
		c.Ints = spread(c.Ints, from, null)
	case floats:
		from := len(c.Floats)
		r.values(c, present)
		c.Floats = spread(c.Floats, from, null)
	case texts:
		from := len(c.Ends)
		r.values(c, present)
		c.Ends = spread(c.Ends, from, null)
		end := 0
		if from > 0 {
			end = c.Ends[from-1]
		}
		for i := range null {
			if null[i] {
				c.Ends[from+i] = end
			}
			end = c.Ends[from+i]
		}
	}
	return true
}

// spread moves the values from a place on apart, so that there is one for every cell.
func spread[T any](values []T, from int, null []bool) []T {
	k := len(values)
	values = append(values, make([]T, from+len(null)-k)...)
	for i := len(null) - 1; i >= 0; i-- {
		if !null[i] {
			k--
			values[from+i] = values[k]
		}
	}
	return values
}

// numbers is room for n numbers.
func (r *ColumnReader) numbers(n int) []uint32 {
	if len(r.indices) < n {
		r.indices = make([]uint32, n)
	}
	return r.indices[:n]
}

// values adds the next n values, nulls aside, to c.
func (r *ColumnReader) values(c *Cells, n int) {
	p := &r.page
	switch p.mode {
	case plainValues:
		if r.column.element.physical == physicalBool {
			unpackBits(p.plain, p.bit, 1, n, func(_ int, x uint64) { c.Ints = append(c.Ints, int64(x)) })
			p.bit += n
			return
		}
		p.plain = r.column.element.plain(r.column.Kind, p.plain, n, c)
	case dictionaryIndices:
		indices := r.numbers(n)
		p.indices.next(indices)
		switch r.column.Kind.storage() {
		case ints:
			for _, i := range indices {
				c.Ints = append(c.Ints, r.dictionary.Ints[i])
			}
		case floats:
			for _, i := range indices {
				c.Floats = append(c.Floats, r.dictionary.Floats[i])
			}
		case texts:
			for _, i := range indices {
				c.addText(r.dictionary.Text(int(i)))
			}
		}
	case decodedValues:
		from, to := p.consumed, p.consumed+n
		p.consumed = to
		switch r.column.Kind.storage() {
		case ints:
			c.Ints = append(c.Ints, p.decoded.Ints[from:to]...)
		case floats:
			c.Floats = append(c.Floats, p.decoded.Floats[from:to]...)
		case texts:
			for i := from; i < to; i++ {
				c.addText(p.decoded.Text(i))
			}
		}
	}
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
		if h.size < 0 || h.size > math.MaxInt32 || h.compressed < 0 || h.compressed > r.end-r.at || h.values < 0 || h.values > r.file.mostCells() {
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
	r.page = page{rows: int(h.values), decoded: r.page.decoded}
	r.page.decoded.empty()
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
	p, e, kind := &r.page, r.column.element, r.column.Kind
	d, n := &p.decoded, int(h.values)
	text := e.physical == physicalBytes
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
		if len(b) < 4 {
			panic(errDamaged)
		}
		bits, values := newHybrid(b[4:], 1), r.numbers(r.present(n))
		bits.next(values)
		for _, x := range values {
			d.Ints = append(d.Ints, int64(x))
		}
	case h.encoding == encodingDelta && (e.physical == physicalInt32 || e.physical == physicalInt64):
		d.Ints, _ = deltas(b, n, d.Ints)
		if e.physical == physicalInt32 {
			for i, x := range d.Ints {
				d.Ints[i] = int64(int32(x))
			}
		}
		e.convert(kind, 0, d)
	case h.encoding == encodingDeltaLengths && text:
		bytes, ends := deltaLengths(b, n)
		e.split(kind, bytes, ends, d)
	case h.encoding == encodingDeltaStrings && text:
		bytes, ends := deltaStrings(b, n, math.MaxInt32)
		e.split(kind, bytes, ends, d)
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

// split adds values given one behind the other.
func (e element) split(k Kind, b []byte, ends []int, c *Cells) {
	start := 0
	for _, end := range ends {
		e.bytes(k, b[start:end], c)
		start = end
	}
}
