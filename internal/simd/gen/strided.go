package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A strided addresses up to 14 rows from two pointers, to rows 0 and 5, and the
// multiples 1, 3 and 5 of the distance from row to row in bytes.
type strided struct {
	bases   []GPVirtual
	strides map[int]GPVirtual
}

// newStrided has row 0 at p, which it takes.
func newStrided(p GPVirtual, rows int, stride GPVirtual) strided {
	s := strided{[]GPVirtual{p}, map[int]GPVirtual{1: stride}}
	if rows > 3 {
		s.strides[3] = GP64()
		LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, s.strides[3])
	}
	if rows > 5 {
		s.strides[5] = GP64()
		LEAQ(Mem{Base: stride, Index: stride, Scale: 4}, s.strides[5])
		p5 := GP64()
		LEAQ(Mem{Base: p, Index: s.strides[5], Scale: 1}, p5)
		s.bases = append(s.bases, p5)
	}
	return s
}

// at is where a row is.
func (s strided) at(row int) Mem {
	for k, base := range s.bases {
		if row == 5*k {
			return Mem{Base: base}
		}
		for _, multiple := range []int{1, 3, 5} {
			for _, scale := range []uint8{1, 2, 4, 8} {
				if stride, ok := s.strides[multiple]; ok && row == 5*k+multiple*int(scale) {
					return Mem{Base: base, Index: stride, Scale: scale}
				}
			}
		}
	}
	panic(fmt.Sprintf("no address for row %d", row))
}

// start moves row 0 to p.
func (s strided) start(p GPVirtual) {
	MOVQ(p, s.bases[0])
	if len(s.bases) > 1 {
		LEAQ(Mem{Base: p, Index: s.strides[5], Scale: 1}, s.bases[1])
	}
}

// advance moves row 0 to where row 1, 2, 4 or 8 is.
func (s strided) advance(rows int) {
	for _, base := range s.bases {
		LEAQ(Mem{Base: base, Index: s.strides[1], Scale: uint8(rows)}, base)
	}
}

// add moves all rows by bytes.
func (s strided) add(bytes int) {
	for _, base := range s.bases {
		ADDQ(Imm(uint64(bytes)), base)
	}
}
