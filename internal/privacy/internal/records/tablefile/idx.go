package tablefile

import (
	"encoding/binary"
	"io"
	"math"
)

// An idx file is 0, 0, the type of its numbers, the count of its dims, each dim
// as a big-endian uint32, then the numbers, big-endian, the first dim slowest.
// http://yann.lecun.com/exdb/mnist/

// idxNumber decodes a number of an idx type; nil for an unknown type.
func idxNumber(kind byte) func(b []byte) float64 {
	switch kind {
	case 0x08:
		return func(b []byte) float64 { return float64(b[0]) }
	case 0x09:
		return func(b []byte) float64 { return float64(int8(b[0])) }
	case 0x0b:
		return func(b []byte) float64 { return float64(int16(binary.BigEndian.Uint16(b))) }
	case 0x0c:
		return func(b []byte) float64 { return float64(int32(binary.BigEndian.Uint32(b))) }
	case 0x0d:
		return func(b []byte) float64 { return float64(math.Float32frombits(binary.BigEndian.Uint32(b))) }
	case 0x0e:
		return func(b []byte) float64 { return math.Float64frombits(binary.BigEndian.Uint64(b)) }
	}
	return nil
}

// idxBytes is the length of a number of an idx type.
func idxBytes(kind byte) int {
	switch kind {
	case 0x08, 0x09:
		return 1
	case 0x0b:
		return 2
	case 0x0e:
		return 8
	}
	return 4
}

// idxHead reads the head of an idx file. Its first dim counts the records.
func idxHead(path string, src io.Reader) (Array, error) {
	var head [4]byte
	if _, err := io.ReadFull(src, head[:]); err != nil {
		return Array{}, ShortArray(path)
	}
	a := Array{Columns: 1, Bytes: idxBytes(head[2]), Number: idxNumber(head[2])}
	if head[0] != 0 || head[1] != 0 || a.Number == nil || head[3] == 0 {
		return Array{}, &FileError{File: path, Problem: "is no idx array", Hint: "an array of numpy.save ends in .npy"}
	}
	for i := range int(head[3]) {
		var dim [4]byte
		if _, err := io.ReadFull(src, dim[:]); err != nil {
			return Array{}, ShortArray(path)
		}
		n := int(binary.BigEndian.Uint32(dim[:]))
		if i == 0 {
			a.Records = n
			continue
		}
		if n == 0 || n > maxColumns || a.Columns > maxColumns/n {
			return Array{}, tooWide(path)
		}
		a.Columns *= n
	}
	return a, nil
}

// maxColumns bounds the numbers of a record, so that a damaged head cannot
// exhaust memory.
const maxColumns = 1 << 20

func tooWide(path string) error {
	return &FileError{File: path, Problem: "states records without numbers or with more than a million"}
}
