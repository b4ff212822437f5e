package ptx

import "strings"

// forms are the instructions that compute a result from operands alone: the opcode with
// the modifiers it must have, the types it may have, and the types of result and
// operands: T is the instruction's type, W twice as wide, p a predicate, n a 32-bit
// number. Each is a function of machine/arithmetic.h, whose name has _ for a dot.
//
// Floating-point arithmetic without a rounding is left out, because the ISA lets it be
// contracted to fma; so are approximate instructions.
const forms = `
add sub             | u16 s16 u32 s32 u64 s64          | T T T
add.rn sub.rn       | f32 f64                          | T T T
mul.lo mul.hi       | u16 s16 u32 s32 u64 s64          | T T T
mul.wide            | u16 s16 u32 s32                  | W T T
mul.rn              | f32 f64                          | T T T
mad.lo mad.hi       | u16 s16 u32 s32 u64 s64          | T T T T
mad.wide            | u16 s16 u32 s32                  | W T T W
fma.rn              | f32 f64                          | T T T T
div rem             | u16 s16 u32 s32 u64 s64          | T T T
div.rn              | f32 f64                          | T T T
rcp.rn sqrt.rn      | f32 f64                          | T T
neg abs             | s16 s32 s64 f32 f64              | T T
min max             | u16 s16 u32 s32 u64 s64 f32 f64  | T T T
copysign            | f32 f64                          | T T T
and or xor          | pred b16 b32 b64                 | T T T
not                 | pred b16 b32 b64                 | T T
cnot                | b16 b32 b64                      | T T
shl                 | b16 b32 b64                      | T T n
shr                 | b16 b32 b64 u16 u32 u64 s16 s32 s64 | T T n
shf.l.wrap shf.l.clamp shf.r.wrap shf.r.clamp | b32    | T T T n
prmt                | b32                              | T T T T
bfe                 | u32 s32 u64 s64                  | T T n n
bfi                 | b32 b64                          | T T T n n
brev                | b32 b64                          | T T
popc clz            | b32 b64                          | n T
selp                | b16 u16 s16 b32 u32 s32 b64 u64 s64 f32 f64 | T T T p
setp.eq setp.ne     | b16 u16 s16 b32 u32 s32 b64 u64 s64 f32 f64 | p T T
setp.lt setp.le setp.gt setp.ge | u16 s16 u32 s32 u64 s64 f32 f64 | p T T
setp.lo setp.ls setp.hi setp.hs | u16 u32 u64          | p T T
setp.equ setp.neu setp.ltu setp.leu setp.gtu setp.geu setp.num setp.nan | f32 f64 | p T T
`

// A form is the function of an opcode.
type form struct {
	function string   // in C++, with its template argument
	types    []string // of the result, then of the operands
}

// wider are the types of twice the width.
var wider = map[string]string{"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}

// formsByOpcode lays the table out.
func formsByOpcode() map[string]form {
	all := map[string]form{}
	for _, row := range strings.Split(strings.TrimSpace(forms), "\n") {
		columns := strings.Split(row, "|")
		for _, opcode := range strings.Fields(columns[0]) {
			for _, kind := range strings.Fields(columns[1]) {
				f := form{function: strings.ReplaceAll(opcode, ".", "_") + "<" + kind + ">"}
				for _, letter := range strings.Fields(columns[2]) {
					f.types = append(f.types, map[string]string{"T": kind, "W": wider[kind], "p": "pred", "n": "u32"}[letter])
				}
				all[opcode+"."+kind] = f
			}
		}
	}
	return all
}
