package onnx

import (
	"encoding/binary"
	"math"
)

// message is a protobuf message in the making: fields one after the other, each with its
// number and its wire type. https://protobuf.dev/programming-guides/encoding
type message []byte

// Wire types.
const (
	wireVarint = 0
	wireBytes  = 2
	wireFixed4 = 5
)

func (m *message) key(field, wire int) {
	*m = binary.AppendUvarint(*m, uint64(field<<3|wire))
}

// number appends a whole number; a negative one takes ten bytes.
func (m *message) number(field int, x int64) {
	m.key(field, wireVarint)
	*m = binary.AppendUvarint(*m, uint64(x))
}

// float appends a real number.
func (m *message) float(field int, x float32) {
	m.key(field, wireFixed4)
	*m = binary.LittleEndian.AppendUint32(*m, math.Float32bits(x))
}

// bytes appends bytes, a text or a message.
func (m *message) bytes(field int, x []byte) {
	m.key(field, wireBytes)
	*m = binary.AppendUvarint(*m, uint64(len(x)))
	*m = append(*m, x...)
}

func (m *message) text(field int, x string) { m.bytes(field, []byte(x)) }

// numbers appends whole numbers side by side.
func (m *message) numbers(field int, list []int64) {
	var packed []byte
	for _, x := range list {
		packed = binary.AppendUvarint(packed, uint64(x))
	}
	m.bytes(field, packed)
}
