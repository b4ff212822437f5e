package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// loop runs body for every eight elements, and once more with masks for the rest of n.
// off is the offset of a vector of float64 in bytes. advance moves the pointers by eight
// elements; n is consumed and may be zero.
func loop(i isa, n GPVirtual, body func(i isa, off int), advance func()) {
	top, tail, done := label("loop"), label("tail"), label("done")
	rest := GP64()
	MOVQ(n, rest)
	ANDQ(Imm(7), rest)
	SHRQ(Imm(3), n)
	JZ(LabelRef(tail))
	Label(top)
	for k := 0; k < 8; k += i.lanes() {
		body(i, 8*k)
	}
	advance()
	DECQ(n)
	JNZ(LabelRef(top))
	Label(tail)
	TESTQ(rest, rest)
	JZ(LabelRef(done))
	for k, confined := range i.masked(rest, 8/i.lanes()) {
		body(confined, 8*k*i.lanes())
	}
	Label(done)
}

// advance moves pointers by eight float64.
func advance(pointers ...Register) func() {
	return func() {
		for _, p := range pointers {
			ADDQ(Imm(64), p)
		}
	}
}

// label makes a name that is unique in the file.
func label(name string) string {
	labels++
	return fmt.Sprintf("%s%d", name, labels)
}

var labels int

// base and length load the parts of a slice argument.
func base(name string) GPVirtual   { return Load(Param(name).Base(), GP64()).(GPVirtual) }
func length(name string) GPVirtual { return Load(Param(name).Len(), GP64()).(GPVirtual) }

// scalar spreads a float64 argument.
func scalar(i isa, name string) VecVirtual {
	c, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return i.spread(c.Addr)
}

// end returns to Go.
func end() {
	VZEROUPPER()
	RET()
}
