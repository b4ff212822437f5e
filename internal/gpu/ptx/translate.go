package ptx

import (
	"fmt"
	"strings"
)

// Translate writes a module as C++, to be compiled with machine/ among the include
// directories and -DTHREADS=n: each kernel is a function that takes its parameters
// and a number of blocks. file is what messages call the source.
func Translate(m *Module, file string) (string, error) { return translateModule(m, file, false) }

func translateModule(m *Module, file string, clocked bool) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			failed, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = failed
		}
	}()
	t := &translator{module: m, clocked: clocked, forms: formsByOpcode(), variables: map[string]Variable{}, functions: map[string]*Function{}}
	t.translate(file)
	return t.out.String(), nil
}

type translator struct {
	clocked   bool // see TranslateClocked
	module    *Module
	forms     map[string]form
	variables map[string]Variable  // with module-wide memory
	functions map[string]*Function // with bodies, if they have one
	out       strings.Builder
}

func (t *translator) printf(format string, args ...any) { fmt.Fprintf(&t.out, format, args...) }

func (t *translator) translate(file string) {
	var constants, shared []Variable
	for _, v := range t.module.Variables {
		switch v.Space {
		case "const":
			constants = append(constants, v)
		case "shared":
			shared = append(shared, v)
		}
		t.variables[v.Name] = v
	}
	for _, f := range t.module.Functions {
		for _, s := range f.Body {
			if s.variable != nil && s.variable.Space == "shared" {
				shared = append(shared, *s.variable)
				t.variables[s.variable.Name] = *s.variable
			}
		}
		if old := t.functions[f.Name]; old == nil || old.Declared {
			t.functions[f.Name] = f
		}
	}
	t.printf("#include \"types.h\"\n\n")
	t.place("constants", constants)
	t.place("shared", shared)
	t.printf("#include \"convert.h\"\n#include \"threads.h\"\n#include \"arithmetic.h\"\n\n")
	for _, v := range t.module.Variables {
		if v.Space == "global" {
			t.printf("alignas(%d) static u8 d_%s[] = {%s};\nstatic const u64 m_%s = (u64)d_%s;\n", v.Align, name(v.Name), initial(v), name(v.Name), name(v.Name))
		}
	}
	for _, f := range t.module.Functions {
		if !f.Entry {
			t.printf("%s;\n", signature(f))
		}
	}
	for _, f := range t.module.Functions {
		if f.Declared {
			continue
		}
		t.function(f, file)
		if f.Entry {
			t.kernel(f)
		}
	}
}

// name is a PTX name as one of C++.
func name(text string) string {
	return strings.NewReplacer("%", "", "$", "_", ".", "_").Replace(text)
}

// kernel writes the function that a launch calls.
func (t *translator) kernel(f *Function) {
	if shared := t.sharedBy(f); shared > mostShared {
		fail(f.Line, "%s takes %d bytes of shared memory, a block has %d", f.Name, shared, mostShared)
	}
	_, bytes := placeParams(f)
	if bytes > mostParams {
		fail(f.Line, "%s has %d bytes of parameters, at most %d are possible", f.Name, bytes, mostParams)
	}
	t.printf("extern \"C\" void %s(const void* params, i64 blocks) {\n    static const Kernel kernel = {%d, %d, f_%s};\n    launch(kernel, params, blocks);\n}\n\n",
		f.Name, bytes, f.MaxThreads, f.Name)
}
