package tablefile

import (
	"encoding/binary"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"d3p/internal/safetensors"
)

// An npy file is its magic, the version of the format, the length of the head,
// the head, which is a Python dict of descr, fortran_order and shape, and the
// numbers in C order. numpy.lib.format, versions 1.0 to 3.0.

const npyMagic = "\x93NUMPY"

// maxHead bounds the head of an npy file.
const maxHead = 1 << 16

var (
	npyDescr   = regexp.MustCompile(`'descr'\s*:\s*'([^']*)'`)
	npyFortran = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	npyShape   = regexp.MustCompile(`'shape'\s*:\s*\(([0-9, ]*)\)`)
)

// npyHead reads the head of an npy file. Its first dim counts the records.
func npyHead(path string, src io.Reader) (Array, error) {
	bad := &FileError{File: path, Problem: "is an npy array whose head cannot be read", Hint: "save a plain array of numbers with numpy.save"}
	start := make([]byte, len(npyMagic)+2)
	if _, err := io.ReadFull(src, start); err != nil {
		return Array{}, ShortArray(path)
	}
	if string(start[:len(npyMagic)]) != npyMagic {
		return Array{}, &FileError{File: path, Problem: "is no npy array", Hint: "save a plain array of numbers with numpy.save"}
	}
	length := make([]byte, 4)
	if start[len(npyMagic)] == 1 {
		length = length[:2]
	}
	if _, err := io.ReadFull(src, length); err != nil {
		return Array{}, ShortArray(path)
	}
	n := int(binary.LittleEndian.Uint32(append(length, 0, 0)))
	if n > maxHead {
		return Array{}, bad
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(src, head); err != nil {
		return Array{}, ShortArray(path)
	}
	descr, fortran, shape := npyDescr.FindSubmatch(head), npyFortran.FindSubmatch(head), npyShape.FindSubmatch(head)
	if descr == nil || fortran == nil || shape == nil {
		return Array{}, bad
	}
	a := Array{Columns: 1}
	a.Bytes, a.Number = npyNumber(string(descr[1]))
	switch {
	case a.Number == nil:
		return Array{}, &FileError{File: path, Problem: "has numbers of a type that is not read", Hint: "save float16, float32, float64, bool or integers, little-endian"}
	case string(fortran[1]) == "True":
		return Array{}, &FileError{File: path, Problem: "is in Fortran order", Hint: "save numpy.ascontiguousarray of it"}
	}
	for i, text := range strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(shape[1]), " ", ""), ","), ",") {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return Array{}, bad
		case i == 0:
			a.Records = n
		case n == 0 || n > maxColumns || a.Columns > maxColumns/n:
			return Array{}, tooWide(path)
		default:
			a.Columns *= n
		}
	}
	return a, nil
}

// npyNumber decodes a number of a NumPy type; nil for an unknown type.
func npyNumber(descr string) (bytes int, number func(b []byte) float64) {
	le := binary.LittleEndian
	switch descr {
	case "|u1", "|b1":
		return 1, func(b []byte) float64 { return float64(b[0]) }
	case "|i1":
		return 1, func(b []byte) float64 { return float64(int8(b[0])) }
	case "<u2":
		return 2, func(b []byte) float64 { return float64(le.Uint16(b)) }
	case "<i2":
		return 2, func(b []byte) float64 { return float64(int16(le.Uint16(b))) }
	case "<u4":
		return 4, func(b []byte) float64 { return float64(le.Uint32(b)) }
	case "<i4":
		return 4, func(b []byte) float64 { return float64(int32(le.Uint32(b))) }
	case "<u8":
		return 8, func(b []byte) float64 { return float64(le.Uint64(b)) }
	case "<i8":
		return 8, func(b []byte) float64 { return float64(int64(le.Uint64(b))) }
	case "<f2":
		return 2, func(b []byte) float64 { return safetensors.Half(le.Uint16(b)) }
	case "<f4":
		return 4, func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }
	case "<f8":
		return 8, func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }
	}
	return 0, nil
}
