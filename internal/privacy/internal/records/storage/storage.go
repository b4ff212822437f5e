// Package storage has the memory of large tables: outside the heap of Go, or a file.
package storage

import (
	"runtime"
	"unsafe"
)

// A Room is memory for the numbers of a table, outside the heap of Go: a collector that
// waits until the heap has doubled would wait for as much garbage as the table is large.
// It is given back when nobody holds it any more.
type Room struct {
	Bytes []byte
	file  *scratch // nil: memory
	later runtime.Cleanup
}

// smallRoom is the size in bytes below which a table is on the heap.
const smallRoom = 1 << 20

// New returns a room of size bytes, all 0, in a scratch file in folder, or in memory
// if folder is "". It is nil, without an error, where a plain slice does as well.
func New(folder string, size int) (*Room, error) {
	if size < smallRoom && folder == "" {
		return nil, nil
	}
	r := &Room{}
	var err error
	if folder != "" {
		if r.file, err = newScratch(folder, size); err != nil {
			return nil, &Error{err}
		}
	}
	if r.Bytes, err = mapped(r.file, size); err != nil {
		r.file.close()
		return nil, &Error{err}
	}
	if r.Bytes == nil {
		return nil, nil
	}
	r.later = runtime.AddCleanup(r, release, Room{Bytes: r.Bytes, file: r.file})
	return r, nil
}

// Free gives a room back that nobody reads any more.
func (r *Room) Free() {
	if r != nil {
		r.later.Stop()
		release(*r)
	}
}

func release(r Room) {
	unmap(r.Bytes)
	r.file.close()
}

// Numbers are the bytes of a room as numbers, none in use.
func Numbers[T float32 | float64](r *Room) []T {
	if len(r.Bytes) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&r.Bytes[0])), len(r.Bytes)/int(unsafe.Sizeof(T(0))))[:0]
}

// Error says that there is no room for a table.
type Error struct{ error }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.error }
