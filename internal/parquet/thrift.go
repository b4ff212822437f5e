package parquet

import "encoding/binary"

// Metadata of Parquet are structs in the compact protocol of Thrift:
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md

// The types of the compact protocol that Parquet has.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// thrift reads values one after the other. Damaged bytes panic with errDamaged, bytes
// that end too early with errShort.
type thrift struct {
	b     []byte
	at    int
	depth int
}

// maxDepth bounds how deep structs and lists are nested.
const maxDepth = 32

func (t *thrift) byte() byte {
	if t.at >= len(t.b) {
		panic(errShort)
	}
	t.at++
	return t.b[t.at-1]
}

func (t *thrift) uvarint() uint64 {
	x, n := binary.Uvarint(t.b[t.at:])
	switch {
	case n == 0:
		panic(errShort)
	case n < 0:
		panic(errDamaged)
	}
	t.at += n
	return x
}

func (t *thrift) int() int64 {
	x := t.uvarint()
	return int64(x>>1) ^ -int64(x&1)
}

func (t *thrift) bytes() []byte {
	n := t.uvarint()
	if n > uint64(len(t.b)-t.at) {
		panic(errShort)
	}
	t.at += int(n)
	return t.b[t.at-int(n) : t.at]
}

func (t *thrift) deeper() func() {
	if t.depth++; t.depth > maxDepth {
		panic(errDamaged)
	}
	return func() { t.depth-- }
}

// fields are the functions that read the fields of a struct, by number. Such a function
// reports whether it has read a field of this type.
type fields []func(kind byte) bool

// fields reads a struct. A field that is not read is skipped.
func (t *thrift) fields(read fields) {
	t.each(func(id int, kind byte) bool {
		return id >= 0 && id < len(read) && read[id] != nil && read[id](kind)
	})
}

// each calls read for each field of a struct, and skips the field if read reports false.
func (t *thrift) each(read func(id int, kind byte) bool) {
	defer t.deeper()()
	for id := 0; ; {
		head := t.byte()
		if head == 0 {
			return
		}
		if delta := head >> 4; delta != 0 {
			id += int(delta)
		} else {
			id = int(t.int())
		}
		if kind := head & 0xf; !read(id, kind) {
			t.skip(kind)
		}
	}
}

// list reads the head of a list, and calls read for each of its elements. An element
// takes at least a byte, so the length cannot exceed the number of bytes.
func (t *thrift) list(read func(kind byte)) {
	defer t.deeper()()
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	if n > uint64(len(t.b)-t.at) {
		panic(errShort)
	}
	for range n {
		read(head & 0xf)
	}
}

func (t *thrift) skip(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		t.byte()
	case thriftI16, thriftI32, thriftI64:
		t.uvarint()
	case thriftDouble:
		for range 8 {
			t.byte()
		}
	case thriftBinary:
		t.bytes()
	case thriftList, thriftSet:
		t.list(func(kind byte) {
			if kind == thriftTrue || kind == thriftFalse {
				kind = thriftByte
			}
			t.skip(kind)
		})
	case thriftStruct:
		t.fields(nil)
	default: // maps, which Parquet has not
		panic(errDamaged)
	}
}

// The functions that read fields into variables.

func (t *thrift) intTo(to *int64) func(kind byte) bool {
	return func(kind byte) bool {
		is := kind >= thriftI16 && kind <= thriftI64
		if is {
			*to = t.int()
		}
		return is
	}
}

// notTo sets the opposite of a bool.
func (t *thrift) notTo(to *bool) func(kind byte) bool {
	return func(kind byte) bool {
		*to = kind != thriftTrue
		return kind == thriftTrue || kind == thriftFalse
	}
}

func (t *thrift) textTo(to *string) func(kind byte) bool {
	return func(kind byte) bool {
		is := kind == thriftBinary
		if is {
			*to = string(t.bytes())
		}
		return is
	}
}

// isThere notes a field, and skips it.
func isThere(to *bool) func(kind byte) bool {
	return func(byte) bool { *to = true; return false }
}

func (t *thrift) structTo(read fields) func(kind byte) bool {
	return func(kind byte) bool {
		is := kind == thriftStruct
		if is {
			t.fields(read)
		}
		return is
	}
}

// unionTo sets the number of the field that a union has, and reads this field, a struct of
// some of the fields of its number.
func (t *thrift) unionTo(number *int, read []fields) func(kind byte) bool {
	return func(kind byte) bool {
		is := kind == thriftStruct
		if is {
			t.each(func(id int, kind byte) bool {
				*number = id
				return id >= 0 && id < len(read) && t.structTo(read[id])(kind)
			})
		}
		return is
	}
}

func (t *thrift) structsTo(next func() fields) func(kind byte) bool {
	return func(kind byte) bool {
		is := kind == thriftList
		if is {
			t.list(func(kind byte) {
				if kind != thriftStruct {
					panic(errDamaged)
				}
				t.fields(next())
			})
		}
		return is
	}
}
