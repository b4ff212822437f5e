package ptx

// sharedBy is the shared memory, in bytes, of a kernel and the functions that it calls. A
// recursive function ends the translation: a driver could not determine the size of a
// thread's stack.
func (t *translator) sharedBy(kernel *Function) int {
	variables := map[string]int{}
	open, done := map[string]bool{}, map[string]bool{}
	var visit func(f *Function)
	visit = func(f *Function) {
		if open[f.Name] {
			fail(f.Line, "%s calls itself", f.Name)
		}
		if done[f.Name] {
			return
		}
		open[f.Name] = true
		for _, s := range f.Body {
			if s.instruction == nil {
				continue
			}
			for _, name := range names(s.instruction.operands) {
				if v, ok := t.variables[name]; ok && v.Space == "shared" {
					variables[name] = v.Bytes() + v.Align - 1
				} else if called := t.functions[name]; called != nil {
					visit(called)
				}
			}
		}
		open[f.Name], done[f.Name] = false, true
	}
	visit(kernel)
	total := 0
	for _, bytes := range variables {
		total += bytes
	}
	return total
}

// names are those in operands.
func names(operands []operand) []string {
	var all []string
	for _, o := range operands {
		all = append(append(all, o.name), names(o.parts)...)
	}
	return all
}
