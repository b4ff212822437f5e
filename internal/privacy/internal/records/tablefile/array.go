package tablefile

import (
	"io"
	"os"
)

// Array is the layout of a file that holds one array of numbers, record by
// record, without names: idx (MNIST), npy (NumPy) or CIFAR-10's.
type Array struct {
	Records int // as the file states it; the file may be wrong
	Columns int // numbers of a record
	Bytes   int // of one number
	Number  func(b []byte) float64
}

// maxRatio is the most that deflate can shrink a file: 1032 to 1.
const maxRatio = 1032

// OpenArray reads the head of an array file. A file cannot state more records than
// its length has room for.
func OpenArray(path string, f *os.File, is format) (io.Reader, Array, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, Array{}, err
	}
	if is.Kind == CIFAR10 {
		a, err := cifar10Head(path, info)
		return f, a, err
	}
	src, err := Plain(path, f, is.Gzipped)
	if err != nil {
		return nil, Array{}, err
	}
	room := info.Size()
	if is.Gzipped {
		room *= maxRatio
	}
	read := idxHead
	if is.Kind == NPY {
		read = npyHead
	}
	a, err := read(path, src)
	if err == nil && int64(a.Records) > room/int64(a.Columns*a.Bytes) {
		err = ShortArray(path)
	}
	return src, a, err
}

// ShortArray is the error for an array file at path that ends before its last number.
func ShortArray(path string) error {
	return &FileError{File: path, Problem: "is shorter than its head says", Hint: "write or download it again"}
}
