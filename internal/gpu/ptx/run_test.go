//go:build linux

package ptx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"d3p/internal/gpu/hostcc"
	"d3p/internal/stattest"
)

// compile translates PTX and compiles it for blocks of 64 threads; the function runs one
// of its kernels on memory and returns its standard error if it fails.
func compile(t *testing.T, source string, flags ...string) func(kernel string, blocks int, memory []uint64) string {
	t.Helper()
	if stattest.Race {
		t.Skip("Go's race detector does not see what happens in another program")
	}
	compiler, err := hostcc.Compiler()
	if err != nil && os.Getenv("KERNEL_COMPILER_REQUIRED") == "" {
		t.Skip("no C++ compiler for what PTX is translated to")
	}
	inputs, err := filepath.Glob("machine/*.h")
	if err != nil {
		t.Fatal(err)
	}
	inputs = append(inputs, "testdata/run.cpp", "../kernel/device.h", "../kernel/host.h", "../kernel/fibers.h")
	file, err := hostcc.Source(translate(t, source))
	if err != nil {
		t.Fatal(err)
	}
	program, err := hostcc.Build(compiler, append(Flags("..", file, 64), append(flags, "-rdynamic", "testdata/run.cpp", "-ldl")...), inputs)
	if err != nil {
		t.Fatal(err)
	}
	return func(kernel string, blocks int, memory []uint64) string {
		var in, complaint bytes.Buffer
		if err := binary.Write(&in, binary.LittleEndian, memory); err != nil {
			t.Fatal(err)
		}
		run := exec.Command(program, kernel, strconv.Itoa(blocks))
		run.Env = append(run.Environ(), "ASAN_OPTIONS=detect_leaks=0")
		run.Stdin, run.Stderr = &in, &complaint
		out, err := run.Output()
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			return complaint.String()
		} else if err != nil {
			t.Fatal(err)
		}
		if err := binary.Read(bytes.NewReader(out), binary.LittleEndian, memory); err != nil {
			t.Fatal(err)
		}
		return ""
	}
}

func translate(t *testing.T, source string) string {
	t.Helper()
	m, err := Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Translate(m, "kernels.ptx")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// kernel is the PTX of an entry whose one parameter, an address, is in %m.
func kernel(name, body string) string {
	return ".visible .entry " + name + "(\n.param .u64 " + name + "_p\n)\n.maxntid 64, 1, 1\n{\n" + `
	.reg .b64 %m, %rd<9>;
	.reg .b32 %r<9>;
	.reg .b16 %rs<9>;
	.reg .f32 %f<9>;
	.reg .f64 %fd<9>;
	.reg .pred %p<9>;
	ld.param.u64 %m, [` + name + `_p];
` + strings.ReplaceAll(body, ";", ";\n") + "\nret;\n}\n"
}

const header = ".version 7.0\n.target sm_70\n.address_size 64\n"
