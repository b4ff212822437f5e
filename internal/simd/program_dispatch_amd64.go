package simd

// interpreters lists the interpreters of programs that this machine can run, best first.
func interpreters() []*interpreter {
	var list []*interpreter
	for _, k := range implementations() {
		by := &interpreter{of: k}
		var codes [opcodes]uintptr
		switch k {
		case avx512:
			codesAVX512(&codes)
			by.codes = codes[:]
		case avx2:
			codesAVX2(&codes)
			by.codes = codes[:]
		}
		list = append(list, by)
	}
	return list
}

// enter runs instructions from the first on. The calls are direct, so that
// spaces stays on the stack.
func (by *interpreter) enter(first, spaces *byte, pitch int) {
	if by.of == avx512 {
		runAVX512(first, spaces, pitch)
	} else {
		runAVX2(first, spaces, pitch)
	}
}
