package ptx

import (
	"fmt"
	"strings"
)

// atomic is atom or red, relaxed and for the whole device by default.
func (s *scope) atomic(i *instruction, parts []string, line int) string {
	rest := parts[1:]
	took := map[string]bool{}
	for _, w := range []string{"relaxed", "acquire", "release", "acq_rel", "gpu", "sys", "global", "shared"} {
		if took[w] = len(rest) > 0 && rest[0] == w; took[w] {
			rest = rest[1:]
		}
	}
	space, strong := "", ""
	for _, w := range []string{"global", "shared"} {
		if took[w] {
			space = w
		}
	}
	for _, w := range []string{"acquire", "release", "acq_rel"} {
		if took[w] {
			strong = w
		}
	}
	if len(rest) != 2 {
		return unknown(i, line)
	}
	function, kind := rest[0], rest[1]
	allowed := map[string]string{
		"add": "u32 s32 u64 f32 f64", "exch": "b32 b64", "cas": "b32 b64", "and": "b32 b64", "or": "b32 b64", "xor": "b32 b64",
		"min": "u32 s32 u64 s64", "max": "u32 s32 u64 s64", "inc": "u32", "dec": "u32",
	}[function]
	if !strings.Contains(" "+allowed+" ", " "+kind+" ") {
		return unknown(i, line)
	}
	operands := i.operands
	if parts[0] == "red" {
		operands = append([]operand{{}}, operands...)
	}
	want := 3
	if function == "cas" {
		want = 4
	}
	if len(operands) != want {
		fail(line, "%s with %d operands", i.opcode, len(i.operands))
	}
	args := []string{"at"}
	for _, o := range operands[2:] {
		args = append(args, s.value(o, kind, line))
	}
	code := fmt.Sprintf("atom_%s<%s>(%s)", function, kind, strings.Join(args, ", "))
	if parts[0] == "atom" && operands[0].name != "_" {
		code = fmt.Sprintf("set(%s, %s)", s.target(operands[0], line), code)
	}
	if s.clocked && i.opcode == "red.release.gpu.add.u32" {
		code = fmt.Sprintf("u32 was = %s; arrives(was, was + %s)", code, args[1])
	}
	return fmt.Sprintf("{ auto* at = %s; %s%s; %s}", s.memoryAt(operands[1], space, kind, 1, line),
		order(strong, "release", "*at"), code, order(strong, "acquire", "*at"))
}
