package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// A scope resolves the names of a function's body.
type scope struct {
	*translator
	of        *Function
	registers map[string]string   // their types
	memory    map[string]Variable // .local, .param and the parameters of calls
	places    map[string]int      // of an entry's parameters
	file      string
}

// ofCall is the space of a .func's arguments and results, which PTX calls .param, too.
const ofCall = "param of a call"

// signature is the C++ of a function that is no entry. A parameter that is an array
// is passed as its bytes, results likewise or by reference.
func signature(f *Function) string {
	params := []string{"const Thread& thread"}
	for _, v := range f.Results {
		if v.Count > 0 {
			params = append(params, "u8* m_"+name(v.Name))
		} else {
			params = append(params, v.Type+"& m_"+name(v.Name))
		}
	}
	for _, v := range f.Params {
		if v.Count > 0 {
			params = append(params, "const u8* m_"+name(v.Name))
		} else {
			params = append(params, v.Type+" m_"+name(v.Name))
		}
	}
	return "static void f_" + name(f.Name) + "(" + strings.Join(params, ", ") + ")"
}

func (t *translator) function(f *Function, file string) {
	s := &scope{translator: t, of: f, registers: map[string]string{}, memory: map[string]Variable{}, file: file}
	if f.Entry {
		s.places, _ = placeParams(f)
		t.printf("static void f_%s(const Thread& thread) {\n", f.Name)
	} else {
		t.printf("%s {\n", signature(f))
	}
	for _, v := range slices.Concat(f.Results, f.Params) {
		if !f.Entry {
			v.Space = ofCall
		}
		s.memory[v.Name] = v
	}
	if s.clocked {
		s.printf("u64& clock = clocks[grid.current];\n")
	}
	s.declare(f.Body)
	for _, st := range f.Body[1:] {
		s.statement(st)
	}
}

// declare declares registers and local memory at the function's beginning, because no goto
// may jump over a declaration. They start with garbage.
func (s *scope) declare(body []statement) {
	for _, st := range body {
		for _, r := range st.registers {
			if r.count == 0 {
				s.register(r.name, r.kind, st.line)
			}
			for k := range r.count {
				s.register(fmt.Sprint(r.name, k), r.kind, st.line)
			}
		}
		if v := st.variable; v != nil && v.Space == "local" {
			s.printf("alignas(%d) u8 d_%s[%d];\nstd::memset(d_%s, 255, %d);\nconst u64 m_%s = (u64)d_%s - (u64)thread.local + %d;\n",
				2*v.Align, name(v.Name), v.Align+v.Bytes(), name(v.Name), v.Align+v.Bytes(), name(v.Name), name(v.Name), leastAligned(0, v.Align))
			s.memory[v.Name] = *v
		}
	}
}

func (s *scope) register(text, kind string, line int) {
	if old, ok := s.registers[text]; ok {
		if old != kind {
			fail(line, "%s was declared as %s", text, old)
		}
		return
	}
	s.registers[text] = kind
	garbage := "as<" + kind + ">((u" + fmt.Sprint(8*sizes[kind]) + ")~0ull)"
	if kind == "pred" {
		garbage = "true"
	}
	s.printf("%s v_%s = %s;\n", kind, name(text), garbage)
	if s.clocked { // when the register is known
		s.printf("u64 t_%s = 0;\n", name(text))
	}
}

func (s *scope) statement(st statement) {
	switch {
	case st.label != "":
		s.printf("l_%s:;\n", name(st.label))
	case st.scope != "":
		s.printf("%s\n", st.scope)
	case st.variable != nil && st.variable.Space == "param":
		v := *st.variable
		v.Space = ofCall
		s.memory[v.Name] = v
		if v.Count > 0 {
			s.printf("alignas(%d) u8 m_%s[%d];\n", v.Align, name(v.Name), v.Bytes())
		} else {
			s.printf("%s m_%s;\n", v.Type, name(v.Name))
		}
	case st.instruction != nil:
		s.printf("#line %d \"%s\"\n", st.line, s.file)
		code := s.instruction(st.instruction, st.line)
		before, after := s.clock(st.instruction)
		code += after
		if g := st.instruction.guard; g != "" {
			code = fmt.Sprintf("if (%s%s) { %s }", map[bool]string{true: "!"}[st.instruction.unless], s.value(operand{name: g}, "pred", st.line), code)
		}
		s.printf("%s%s\n", before, code)
	}
}
