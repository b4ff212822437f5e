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

	"d3p/internal/stattest"
)

// compile translates PTX and compiles it for blocks of 64 threads; the function runs
// one of its kernels on memory and returns what it wrote to standard error, if it
// ended badly.
func compile(t *testing.T, source string, flags ...string) func(kernel string, blocks int, memory []uint64) string {
	t.Helper()
	if stattest.Race {
		t.Skip("Go's race detector does not see what happens in another program")
	}
	compiler, err := exec.LookPath("g++")
	if err != nil && os.Getenv("D3P_GPU_REQUIRED") == "" {
		t.Skip("no g++ to compile what PTX is translated to")
	}
	// go test must see that these files are read, else it takes old results
	read, _ := filepath.Glob("machine/*.h")
	for _, file := range append(read, "testdata/run.cpp", "../kernel/device.h", "../kernel/host.h", "../kernel/fibers.h") {
		if _, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	text := translate(t, source)
	file := filepath.Join(t.TempDir(), "kernels.cpp")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "run")
	all := append(Flags("..", file, 64), append(flags, "-rdynamic", "-o", program, "testdata/run.cpp", "-ldl")...)
	if out, err := exec.Command(compiler, all...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
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
