//go:build linux

package ptx

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func bits(x float64) uint64       { return math.Float64bits(x) }
func bits32(x float32) uint64     { return uint64(math.Float32bits(x)) }
func minus(x int64) (bits uint64) { return uint64(-x) }

var inf, nan, zero = math.Inf(1), math.NaN(), math.Copysign(0, -1)

// The results of instructions by the PTX ISA, at the edges, where C++ gives others for
// the same sign.
var computed = []struct {
	opcode string
	want   uint64
	of     []uint64
}{
	{"add.s16", 0x8000, []uint64{0x7fff, 1}},
	{"add.u32", 1, []uint64{0xffffffff, 2}},
	{"sub.s64", 1 << 63, []uint64{1<<63 - 1, minus(1)}},
	{"mul.lo.s32", 0x80000000, []uint64{0x40000000, 2}},
	{"mul.hi.u32", 0xfffffffe, []uint64{0xffffffff, 0xffffffff}},
	{"mul.hi.s32", 0, []uint64{0xffffffff, 0xffffffff}},
	{"mul.hi.u64", 0xfffffffffffffffe, []uint64{minus(1), minus(1)}},
	{"mul.hi.s64", minus(1), []uint64{minus(1), 1}},
	{"mul.wide.s32", minus(1 << 31), []uint64{0x80000000, 1}},
	{"mul.wide.u32", 1 << 31, []uint64{0x80000000, 1}},
	{"mul.wide.s16", 0x40000000, []uint64{0x8000, 0x8000}},
	{"mul.wide.u16", 0xfffe0001, []uint64{0xffff, 0xffff}},
	{"mad.lo.s32", 0xffffffff, []uint64{0xffffffff, 3, 2}},
	{"mad.wide.s32", minus(5), []uint64{0xffffffff, 6, 1}},
	{"div.s32", 0xfffffffd, []uint64{7, 0xfffffffe}},
	{"rem.s32", 0xffffffff, []uint64{0xfffffff9, 2}},
	{"div.u32", 0x7ffffffc, []uint64{0xfffffff9, 2}},
	{"neg.s32", 0x80000000, []uint64{0x80000000}},
	{"abs.s64", 5, []uint64{minus(5)}},
	{"min.s32", 0xffffffff, []uint64{0xffffffff, 1}},
	{"min.u32", 1, []uint64{0xffffffff, 1}},
	{"max.s64", 1, []uint64{minus(1), 1}},
	{"add.rn.f32", bits32(1 << 24), []uint64{bits32(1 << 24), bits32(1)}},
	{"add.rn.f64", bits(1<<24 + 1), []uint64{bits(1 << 24), bits(1)}},
	{"mul.rn.f64", bits(5e-324), []uint64{bits(5e-324), bits(0.75)}},
	{"mul.rn.f32", 1, []uint64{1, bits32(0.75)}}, // no flush to zero
	{"fma.rn.f64", bits(0x1p-60), []uint64{bits(1 + 0x1p-30), bits(1 + 0x1p-30), bits(-(1 + 0x1p-29))}},
	{"fma.rn.f32", bits32(0x1p-24), []uint64{bits32(1 + 0x1p-12), bits32(1 + 0x1p-12), bits32(-(1 + 0x1p-11))}},
	{"rcp.rn.f64", bits(-inf), []uint64{bits(zero)}},
	{"sqrt.rn.f64", bits(zero), []uint64{bits(zero)}},
	{"min.f64", bits(zero), []uint64{bits(0), bits(zero)}},
	{"max.f64", bits(0), []uint64{bits(zero), bits(0)}},
	{"max.f64", bits(-1), []uint64{bits(nan), bits(-1)}},
	{"min.f64", bits(-1), []uint64{bits(-1), bits(nan)}},
	{"copysign.f64", bits(-2), []uint64{bits(-1), bits(2)}},
	{"not.b16", 0xff00, []uint64{0xff}},
	{"not.pred", 0, []uint64{1}},
	{"xor.pred", 1, []uint64{0, 1}},
	{"cnot.b32", 1, []uint64{0}},
	{"shl.b32", 0, []uint64{1, 32}},
	{"shl.b64", 1 << 32, []uint64{1, 32}},
	{"shl.b16", 0x8000, []uint64{3, 15}},
	{"shr.u32", 0, []uint64{0xffffffff, 33}},
	{"shr.s32", 0xffffffff, []uint64{0x80000000, 99}},
	{"shr.s16", 0xfff8, []uint64{0x8000, 12}},
	{"shr.b64", 1, []uint64{1 << 63, 63}},
	{"shf.l.wrap.b32", 0x22222211, []uint64{0x11111111, 0x22222222, 40}},
	{"shf.l.clamp.b32", 0x11111111, []uint64{0x11111111, 0x22222222, 40}},
	{"shf.r.wrap.b32", 0x22111111, []uint64{0x11111111, 0x22222222, 8}},
	{"shf.r.clamp.b32", 0x22222222, []uint64{0x11111111, 0x22222222, 32}},
	{"prmt.b32", 0x55ff2255, []uint64{0x80332211, 0x77665544, 0x5b15}},
	{"bfe.u32", 0x34, []uint64{0x123456, 8, 8}},
	{"bfe.s32", 0xffffff80, []uint64{0x8000, 8, 8}},
	{"bfe.s64", minus(1), []uint64{1 << 63, 63, 9}},
	{"bfe.u32", 0, []uint64{0xffffffff, 8, 0}},
	{"bfi.b32", 0x12ab5678, []uint64{0xffab, 0x12345678, 16, 8}},
	{"brev.b32", 0x80000000, []uint64{1}},
	{"popc.b64", 64, []uint64{minus(1)}},
	{"clz.b32", 32, []uint64{0}},
	{"clz.b64", 1, []uint64{1 << 62}},
	{"selp.f64", bits(1), []uint64{bits(1), bits(2), 1}},
	{"setp.ne.f64", 0, []uint64{bits(nan), bits(1)}},
	{"setp.neu.f64", 1, []uint64{bits(nan), bits(1)}},
	{"setp.ltu.f64", 1, []uint64{bits(1), bits(nan)}},
	{"setp.geu.f64", 0, []uint64{bits(1), bits(2)}},
	{"setp.num.f64", 1, []uint64{bits(inf), bits(2)}},
	{"setp.nan.f32", 1, []uint64{bits32(float32(nan)), bits32(2)}},
	{"setp.lt.s32", 1, []uint64{0xffffffff, 0}},
	{"setp.lt.u32", 0, []uint64{0xffffffff, 0}},
	{"setp.hi.u64", 1, []uint64{minus(1), 0}},
	{"cvt.s16.s8", 0xff80, []uint64{0x1280}},
	{"cvt.u32.u16", 0xffff, []uint64{0xffff}},
	{"cvt.s32.s16", 0xffffffff, []uint64{0xffff}},
	{"cvt.u32.u64", 5, []uint64{1<<32 + 5}},
	{"cvt.s64.s32", minus(2), []uint64{0xfffffffe}},
	{"cvt.rn.f64.u64", bits(0x1p64), []uint64{minus(1)}},
	{"cvt.rn.f32.s32", bits32(-16777216), []uint64{1<<32 - 16777217}},
	{"cvt.rn.f32.f64", bits32(float32(inf)), []uint64{bits(1e300)}},
	{"cvt.f64.f32", bits(0x1p-149), []uint64{1}},
	{"cvt.rzi.s32.f64", 0xfffffffe, []uint64{bits(-2.9)}},
	{"cvt.rzi.s32.f64", 0x7fffffff, []uint64{bits(1e10)}},
	{"cvt.rzi.s32.f64", 0x80000000, []uint64{bits(-inf)}},
	{"cvt.rzi.u32.f32", 0, []uint64{bits32(float32(nan))}},
	{"cvt.rzi.s64.f64", 1 << 63, []uint64{bits(nan)}},
	{"cvt.rzi.u64.f64", minus(1), []uint64{bits(0x1p64)}},
	{"cvt.rzi.u64.f64", 0, []uint64{bits(-0.5)}},
	{"cvt.rni.s32.f64", 2, []uint64{bits(2.5)}},
	{"cvt.rmi.f64.f64", bits(-3), []uint64{bits(-2.5)}},
	{"cvt.rpi.f64.f64", bits(zero), []uint64{bits(-0.5)}},
	{"cvt.rni.f64.f64", bits(4), []uint64{bits(3.5)}},
}

// registerOf is a register for a value of a type.
func registerOf(kind string, k int) string {
	prefix := map[int]string{1: "rs", 2: "rs", 4: "r", 8: "rd"}[sizes[kind]]
	switch kind {
	case "pred":
		prefix = "p"
	case "f32":
		prefix = "f"
	case "f64":
		prefix = "fd"
	}
	return "%" + prefix + strconv.Itoa(k)
}

// line is PTX that computes case k on memory.
func line(t *testing.T, k int, opcode string) string {
	types := formsByOpcode()[opcode].types
	if parts := strings.Split(opcode, "."); parts[0] == "cvt" {
		types = []string{parts[len(parts)-2], parts[len(parts)-1]}
	}
	if types == nil {
		t.Fatal(opcode)
	}
	at := 40 * k
	var b strings.Builder
	operands := []string{registerOf(types[0], 0)}
	for n, kind := range types[1:] {
		r := registerOf(kind, n+1)
		operands = append(operands, r)
		if kind == "pred" {
			fmt.Fprintf(&b, "ld.global.u32 %%r8, [%%m+%d]; setp.ne.s32 %s, %%r8, 0;", at+8+8*n, r)
		} else {
			load := kind
			if sizes[kind] == 1 {
				load = "u16" // more than the instruction may look at
			}
			fmt.Fprintf(&b, "ld.global.%s %s, [%%m+%d];", load, r, at+8+8*n)
		}
	}
	fmt.Fprintf(&b, "%s %s;", opcode, strings.Join(operands, ", "))
	if types[0] == "pred" {
		fmt.Fprintf(&b, "selp.u64 %%rd0, 1, 0, %%p0; st.global.u64 [%%m+%d], %%rd0;", at)
	} else {
		fmt.Fprintf(&b, "st.global.%s [%%m+%d], %s;", types[0], at, operands[0])
	}
	return b.String()
}

func TestArithmetic(t *testing.T) {
	var body strings.Builder
	memory := make([]uint64, 5*len(computed))
	for k, c := range computed {
		body.WriteString(line(t, k, c.opcode))
		copy(memory[5*k+1:], c.of)
	}
	run := compile(t, header+kernel("cases", body.String()))
	if text := run("cases", 1, memory); text != "" {
		t.Fatal(text)
	}
	for k, c := range computed {
		if got := memory[5*k]; got != c.want {
			t.Errorf("%s of %#x is %#x, want %#x", c.opcode, c.of, got, c.want)
		}
	}
}

// Every instruction of the table is translated to C++ that compiles and runs.
func TestEveryForm(t *testing.T) {
	var body strings.Builder
	var opcodes []string
	for opcode := range formsByOpcode() {
		opcodes = append(opcodes, opcode)
	}
	slices.Sort(opcodes)
	memory := make([]uint64, 5*len(opcodes))
	for k, opcode := range opcodes {
		body.WriteString(line(t, k, opcode))
		for n := range 4 {
			memory[5*k+1+n] = 1
		}
	}
	if text := compile(t, header+kernel("forms", body.String()))("forms", 1, memory); text != "" {
		t.Fatal(text)
	}
}
