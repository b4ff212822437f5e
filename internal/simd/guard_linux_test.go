package simd

import (
	"syscall"
	"testing"
	"unsafe"
)

// atEnd copies x to memory that ends with it: the page after may not be touched.
func atEnd[T float32 | float64](t *testing.T, x []T) []T {
	t.Helper()
	page := syscall.Getpagesize()
	bytes := len(x) * int(unsafe.Sizeof(T(0)))
	size := (bytes + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(m) })
	if err := syscall.Mprotect(m[size:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	if len(x) == 0 {
		return nil
	}
	y := unsafe.Slice((*T)(unsafe.Pointer(&m[size-bytes])), len(x))
	copy(y, x)
	return y
}
