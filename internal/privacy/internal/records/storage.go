package records

import (
	"runtime"
	"unsafe"
)

// A room is memory for the numbers of a table, outside the heap of Go: a collector that
// waits until the heap has doubled would wait for as much garbage as the table is large.
// It is given back when nobody holds it any more.
type room struct {
	bytes []byte
	file  *scratch // nil: memory
	later runtime.Cleanup
}

// smallRoom is the size in bytes below which a table is on the heap.
const smallRoom = 1 << 20

// newRoom returns a room of size bytes, all 0, in a scratch file in folder, or in memory
// if folder is "". It is nil, without an error, where a plain slice does as well.
func newRoom(folder string, size int) (*room, error) {
	if size < smallRoom && folder == "" {
		return nil, nil
	}
	r := &room{}
	var err error
	if folder != "" {
		if r.file, err = newScratch(folder, size); err != nil {
			return nil, err
		}
	}
	if r.bytes, err = mapped(r.file, size); err != nil {
		r.file.close()
		return nil, err
	}
	if r.bytes == nil {
		return nil, nil
	}
	r.later = runtime.AddCleanup(r, release, room{bytes: r.bytes, file: r.file})
	return r, nil
}

// free gives a room back that nobody reads any more.
func (r *room) free() {
	if r != nil {
		r.later.Stop()
		release(*r)
	}
}

func release(r room) {
	unmap(r.bytes)
	r.file.close()
}

// numbers are the bytes of a room as numbers, none in use.
func numbers[T float32 | float64](r *room) []T {
	if len(r.bytes) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&r.bytes[0])), len(r.bytes)/int(unsafe.Sizeof(T(0))))[:0]
}

// makeRoom gives r room for n records, with what it has.
func (r *Rows) makeRoom(n int) error {
	has, width := cap(r.F64), 8
	if r.float32 {
		has, width = cap(r.F32), 4
	}
	if n*r.Stride <= has && has > 0 {
		return nil
	}
	if r.N > 0 {
		n = max(n, r.N+r.N/2)
	}
	to, err := newRoom(r.folder, n*r.Stride*width)
	if err != nil {
		return &storageError{err}
	}
	if r.float32 {
		r.F32 = moved(r.F32, to, n*r.Stride)
	} else {
		r.F64 = moved(r.F64, to, n*r.Stride)
	}
	r.room.free()
	r.room = to
	return nil
}

func moved[T float32 | float64](from []T, to *room, n int) []T {
	if to != nil {
		return append(numbers[T](to), from...)
	}
	return append(make([]T, 0, n), from...)
}

// storageError says that there is no room for the table.
type storageError struct{ error }

func (e *storageError) Unwrap() error { return e.error }
