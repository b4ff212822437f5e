// Package safetensors reads and writes files of arrays that PyTorch, JAX, TensorFlow and
// NumPy open: the length of the head as a little-endian uint64, the head in JSON, and the
// numbers. https://huggingface.co/docs/safetensors, format 1.
package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"d3p/internal/jsonfile"
)

// Array is a named array, row-major.
type Array struct {
	Name   string
	Shape  []int
	Values []float64
}

// entry is the description of one array in the head.
type entry struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// metadataKey is the entry of the head that is no array.
const metadataKey = "__metadata__"

// Write writes the arrays as float64 in their order, and the metadata. The head is padded
// with spaces to 8 bytes. Two arrays of one name are an error.
func Write(w io.Writer, list []Array, metadata map[string]string) error {
	head := map[string]any{metadataKey: metadata}
	at := 0
	for _, a := range list {
		to := at + 8*len(a.Values)
		shape := a.Shape
		if shape == nil {
			shape = []int{}
		}
		if _, twice := head[a.Name]; twice {
			return fmt.Errorf("two arrays are called %s", a.Name)
		}
		head[a.Name] = entry{"F64", shape, [2]int{at, to}}
		at = to
	}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	if err := binary.Write(w, binary.LittleEndian, uint64(len(text))); err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	for _, a := range list {
		if err := binary.Write(w, binary.LittleEndian, a.Values); err != nil {
			return err
		}
	}
	return nil
}

// PrivacyKey is the entry of the metadata of d3p's files that has the claim.
const PrivacyKey = "d3p.privacy"

// errDamaged is the error for a file whose head does not fit its length.
var errDamaged = errors.New("damaged: its head does not fit its length")

// Read reads the arrays of a file, by name, and its metadata. Numbers are float64, float32,
// float16 or bfloat16. Arrays that overlap, a name that stands twice and numbers that are
// not finite are errors.
func Read(raw []byte) (arrays map[string]Array, metadata map[string]string, err error) {
	if len(raw) < 8 {
		return nil, nil, errDamaged
	}
	n, raw := binary.LittleEndian.Uint64(raw), raw[8:]
	if n > uint64(len(raw)) {
		return nil, nil, errDamaged
	}
	var head map[string]json.RawMessage
	if err := jsonfile.Strict(bytes.TrimRight(raw[:n], " "), &head); err != nil {
		return nil, nil, err
	}
	if text := head[metadataKey]; text != nil {
		if err := json.Unmarshal(text, &metadata); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", metadataKey, err)
		}
		delete(head, metadataKey)
	}
	data, used := raw[n:], 0
	arrays = make(map[string]Array)
	for name, text := range head {
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		width, number := element(e.DType)
		if number == nil {
			return nil, nil, fmt.Errorf("%s: its numbers are %q; want F64, F32, F16 or BF16", name, e.DType)
		}
		from, to := e.Offsets[0], e.Offsets[1]
		if from < 0 || to < from || to > len(data) || !fits(e.Shape, width, to-from) {
			return nil, nil, errDamaged
		}
		if used += to - from; used > len(data) {
			return nil, nil, errDamaged
		}
		a := Array{Name: name, Shape: e.Shape, Values: make([]float64, (to-from)/width)}
		for i := range a.Values {
			v := number(data[from+width*i:])
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, nil, fmt.Errorf("%s: number %d is not finite", name, i+1)
			}
			a.Values[i] = v
		}
		arrays[name] = a
	}
	return arrays, metadata, nil
}

// fits reports whether an array of the shape takes size bytes.
func fits(shape []int, width, size int) bool {
	numbers := size / width
	for _, d := range shape {
		if d < 0 || d > 0 && numbers%d != 0 {
			return false
		}
		if d == 0 {
			return size == 0
		}
		numbers /= d
	}
	return numbers == 1 && size%width == 0
}

// element is the width of a number in bytes, and how it is read.
func element(dtype string) (width int, number func(b []byte) float64) {
	order := binary.LittleEndian
	switch dtype {
	case "F64":
		return 8, func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }
	case "F32":
		return 4, func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) }
	case "BF16":
		return 2, func(b []byte) float64 { return float64(math.Float32frombits(uint32(order.Uint16(b)) << 16)) }
	case "F16":
		return 2, func(b []byte) float64 { return Half(order.Uint16(b)) }
	}
	return 1, nil
}

// Half is a number of IEEE 754 binary16.
func Half(x uint16) float64 {
	sign, exponent, fraction := 1-2*float64(x>>15), int(x>>10&31), float64(x&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction > 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
