package simd

// interpreters lists what this machine can run programs with, best first.
func interpreters() []*interpreter {
	var list []*interpreter
	for _, k := range implementations() {
		by := &interpreter{name: k.name}
		var codes [opcodes]uintptr
		switch k {
		case avx512:
			by.enter = runAVX512
			codesAVX512(&codes)
		case avx2:
			by.enter = runAVX2
			codesAVX2(&codes)
		}
		if by.enter != nil {
			by.codes = codes[:]
		}
		list = append(list, by)
	}
	return list
}
