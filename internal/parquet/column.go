package parquet

import (
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

// mode is the place of a page's values.
type mode uint8

const (
	plainValues mode = iota
	dictionaryIndices
	decodedValues
	deltaValues
	prefixedValues
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
	case p.mode != dictionaryIndices && int64(len(p.plain))+p.prefixed.left > int64(rest):
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
	case deltaValues:
		start := len(c.Ints)
		c.Ints = append(c.Ints, make([]int64, n)...)
		p.deltas.next(c.Ints[start:])
		if r.column.element.physical == physicalInt32 {
			for i, x := range c.Ints[start:] {
				c.Ints[start+i] = int64(int32(x))
			}
		}
		r.column.element.convert(r.column.Kind, start, c)
	case prefixedValues:
		for range n {
			r.column.element.bytes(r.column.Kind, p.prefixed.next(), c)
		}
	case decodedValues:
		c.Ints = append(c.Ints, p.decoded[p.consumed:p.consumed+n]...)
		p.consumed += n
	}
}
