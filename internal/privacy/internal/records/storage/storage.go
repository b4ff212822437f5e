// Package storage has the memory of large tables: outside the heap of Go, or a file.
package storage

import (
	"os"
	"runtime"
	"unsafe"
)

// A Room is memory for the numbers of a table, outside Go's heap: a collector that waits
// until the heap has doubled would leave as much garbage as the table. It is freed when no
// one holds it any more.
type Room struct {
	Bytes  []byte
	file   *scratch // nil: memory
	later  runtime.Cleanup
	random bool // the kernel expects reads at random places
}

// smallRoom is the size in bytes below which a table is on the heap.
const smallRoom = 1 << 20

// Place states where rooms are: in memory, or in scratch files.
type Place struct {
	Folder   *os.Root // of the files; nil: all rooms are in memory
	InMemory int64    // a room of at most this size in bytes is in memory
}

// New returns a room of size bytes, all 0. It is nil, without an error, if a plain slice
// serves as well.
func New(at Place, size int) (*Room, error) {
	onDisk := at.Folder != nil && size > 0 && int64(size) > at.InMemory
	if size < smallRoom && !onDisk {
		return nil, nil
	}
	r := &Room{}
	var err error
	if onDisk {
		if r.file, err = newScratch(at.Folder, size); err != nil {
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

// Free frees a room that no one reads any more.
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

// OnDisk reports whether a room is a file.
func (r *Room) OnDisk() bool { return r != nil && r.file != nil }

// Numbers are the bytes of a room as numbers, none in use.
func Numbers[T float32 | float64](r *Room) []T {
	if len(r.Bytes) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&r.Bytes[0])), len(r.Bytes)/int(unsafe.Sizeof(T(0))))[:0]
}

// Error means that there is no room for a table.
type Error struct{ error }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.error }

// mostFetched is the most memory that Fetch asks for.
const mostFetched = 512 << 20

// sampled is the number of pieces that Fetch looks at: if the kernel has all of them in
// memory, it has nearly all of the others, and asking for each costs more than it gains.
const sampled = 64

// Fetch asks the system to read the pieces of a room on disk that start at from[i]*width
// and are width long, all at the same time. It is only advice. Fetch does nothing if the
// pieces are a large part of the room, or in memory already.
func (r *Room) Fetch(from []uint32, width int) {
	if !r.OnDisk() {
		return
	}
	page := os.Getpagesize()
	if bytes := len(from) * (width + page); bytes > len(r.Bytes)/4 || bytes > mostFetched || r.has(from, width, page) {
		return
	}
	if !r.random {
		r.random = true
		advise(r.Bytes, randomly)
	}
	first, last := 0, 0 // pages to ask for
	for _, i := range from {
		low, high := int(i)*width/page, ((int(i)+1)*width+page-1)/page
		if low < first || low > last {
			advise(r.Bytes[min(first*page, len(r.Bytes)):min(last*page, len(r.Bytes))], soon)
			first, last = low, high
		}
		last = max(last, high)
	}
	advise(r.Bytes[min(first*page, len(r.Bytes)):min(last*page, len(r.Bytes))], soon)
}

// has reports whether the first pages of a sample of pieces are in memory.
func (r *Room) has(from []uint32, width, page int) bool {
	every := max(1, len(from)/sampled)
	for k := 0; k < len(from); k += every {
		at := int(from[k]) * width / page * page
		if !resident(r.Bytes[at:min(at+page, len(r.Bytes))]) {
			return false
		}
	}
	return true
}
