package tablefile

import "os"

// A file of CIFAR-10's binary version has no head. A record is a byte with the class and
// 3072 bytes with the red, green and blue numbers of 32 x 32 pixels, row by row.
// https://www.cs.toronto.edu/~kriz/cifar.html

// cifar10Numbers is the length of a record.
const cifar10Numbers = 1 + 3*32*32

// cifar10Head is the layout of a file: its length counts the records.
func cifar10Head(path string, info os.FileInfo) (Array, error) {
	switch size := info.Size(); {
	case !info.Mode().IsRegular():
		return Array{}, &FileError{File: path, Problem: "is no file with a length, which counts the images of CIFAR-10", Hint: "write it to a file first"}
	case size%cifar10Numbers != 0:
		return Array{}, &FileError{File: path, Problem: "is not made of images of CIFAR-10, 3073 bytes each", Hint: "unpack cifar-10-binary.tar.gz again; its files are data_batch_1.bin and so on"}
	default:
		return Array{Records: int(size / cifar10Numbers), Columns: cifar10Numbers, Bytes: 1, Number: func(b []byte) float64 { return float64(b[0]) }}, nil
	}
}
