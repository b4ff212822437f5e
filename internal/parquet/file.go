// Package parquet reads columns of Parquet files, a batch of rows at a time:
// https://parquet.apache.org/docs/file-format/. Other libraries import network code,
// which must not be linked behind the records.
//
// No cell is an error: text is any bytes, and a number that does not fit its type has a
// value of that type. Errors are about damaged files and unsupported features, and quote
// nothing. Nested columns but lists of numbers, LZO and encryption are not supported.
package parquet

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"
)

// ErrDamaged is the only error about the content of a file.
var ErrDamaged = errors.New("parquet: the file is damaged or of a kind that is not read")

// Exported functions recover panics with these.
var (
	errDamaged = ErrDamaged
	errShort   = errors.New("parquet: the data end within a value")
)

// recovered turns a panic into an error; on damaged files an index may be out of
// range, too.
func recovered(err *error) {
	if recover() != nil {
		*err = ErrDamaged
	}
}

const magic = "PAR1"

// File is an open file. Its methods may be called at the same time.
type File struct {
	src     io.ReaderAt
	size    int64
	meta    metadata
	columns []Column

	mu    sync.Mutex
	spare []*scratch // of readers that are closed
}

// Open reads the metadata of a file of size bytes. Their length has no bound but the file's: some
// programs write the least and the most text of a column there, however long.
func Open(src io.ReaderAt, size int64) (f *File, err error) {
	defer recovered(&err)
	const tail = 4 + len(magic)
	var end [tail]byte
	if size < int64(len(magic)+tail) {
		return nil, ErrDamaged
	}
	if _, err := src.ReadAt(end[:], size-int64(tail)); err != nil {
		return nil, ErrDamaged
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != magic || n > size-int64(len(magic)+tail) {
		return nil, ErrDamaged
	}
	b := make([]byte, n)
	if _, err := src.ReadAt(b, size-int64(tail)-n); err != nil {
		return nil, ErrDamaged
	}
	f = &File{src: src, size: size, meta: readMetadata(b)}
	f.columns = columns(f.meta.schema)
	leaves, rows := 0, int64(0)
	for _, e := range f.meta.schema[1:] {
		if e.children == 0 {
			leaves++
		}
	}
	for _, g := range f.meta.groups {
		if len(g.columns) != leaves || g.rows < 0 {
			return nil, ErrDamaged
		}
		rows += g.rows
	}
	if f.meta.encrypted || rows != f.meta.rows {
		return nil, ErrDamaged
	}
	return f, nil
}

// Rows is the number of rows.
func (f *File) Rows() int64 { return f.meta.rows }

// Groups are the numbers of rows of the row groups, in order.
func (f *File) Groups() []int64 {
	rows := make([]int64, len(f.meta.groups))
	for i, g := range f.meta.groups {
		rows[i] = g.rows
	}
	return rows
}

// Columns are all columns in order.
func (f *File) Columns() []Column { return f.columns }

// mostCells bounds the values that a page of a file of its size may have.
func (f *File) mostCells() int64 { return 64<<20 + 1024*f.size }
