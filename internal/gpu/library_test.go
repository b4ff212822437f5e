//go:build linux && !nogpu

package gpu

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"d3p/internal/gpu/hostcc"

	"github.com/ebitengine/purego"
)

// oneThread is the driver that runs the kernels, compiled as plain C++, on one
// thread of this machine. It fills fresh memory with garbage, so that nothing
// rests on memory being zero.
type oneThread struct {
	functions                 [kernels]uintptr
	allocate, release_, copy_ uintptr
	memory                    int64 // bytes that it pretends to have
	used, most                int64
	sizes                     map[address]int64
	launches                  int
	args                      [3]uintptr
}

// compileKernels compiles the kernels, with more flags and sources.
func compileKernels(more ...string) (file string, err error) {
	compiler, err := hostcc.Compiler()
	if err != nil {
		return "", err
	}
	var inputs []string
	for _, folder := range []string{"kernel/*", "ptx/machine/*", "testdata/server.cpp"} {
		files, err := filepath.Glob(folder)
		if err != nil {
			return "", err
		}
		inputs = append(inputs, files...)
	}
	flags := []string{"-std=c++17", "-O2", "-Wall", "-Wextra", "-ffp-contract=off", "kernel/library.cpp"}
	if required() {
		flags = append(flags, "-Werror") // elsewhere another compiler may warn of more
	}
	if runtime.GOARCH == "amd64" {
		flags = append(flags, "-march=native") // for fma as an instruction; the bits are the same
	}
	return hostcc.Build(compiler, append(flags, more...), inputs)
}

// library is the kernels for one thread, opened once for all tests.
var library = sync.OnceValues(func() (uintptr, error) {
	file, err := compileKernels("-shared", "-fPIC")
	if err != nil {
		return 0, err
	}
	return purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
})

// required: a compiler must exist, as in CI, and must not warn.
func required() bool { return os.Getenv("KERNEL_COMPILER_REQUIRED") != "" }

// mustCompile skips the test without a C++ compiler, unless one is required.
func mustCompile(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, exec.ErrNotFound) && !required() {
		t.Skipf("the kernels need a C++ compiler to run without a device: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func newOneThread(t testing.TB, memory int64) *oneThread {
	t.Helper()
	lib, err := library()
	mustCompile(t, err)
	d := &oneThread{memory: memory, sizes: map[address]int64{}}
	for k, name := range kernelNames {
		d.functions[k] = symbol(t, lib, name)
	}
	d.allocate, d.release_, d.copy_ = symbol(t, lib, "d3p_alloc"), symbol(t, lib, "d3p_free"), symbol(t, lib, "d3p_copy")
	t.Cleanup(func() {
		if len(d.sizes) > 0 {
			t.Errorf("%d blocks of memory were not released", len(d.sizes))
		}
	})
	return d
}

func symbol(t testing.TB, lib uintptr, name string) uintptr {
	t.Helper()
	f, err := purego.Dlsym(lib, name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// call calls a function of the library. Callers keep what arguments point at.
func (d *oneThread) call(f uintptr, args ...uintptr) uintptr {
	n := copy(d.args[:], args)
	r, _, _ := purego.SyscallN(f, d.args[:n]...)
	return r
}

func (d *oneThread) enter() error         { return nil }
func (d *oneThread) leave()               {}
func (d *oneThread) free() (int64, error) { return d.memory - d.used, nil }

func (d *oneThread) alloc(bytes int64) (address, error) {
	if d.used+bytes > d.memory {
		return 0, errNoMemory
	}
	at := address(d.call(d.allocate, uintptr(bytes)))
	d.sizes[at] = bytes
	d.used += bytes
	d.most = max(d.most, d.used)
	for i, garbage := 0, hostMemory(uintptr(at), bytes); i < len(garbage); i++ {
		garbage[i] = 0xff // a NaN, or an index far outside
	}
	return at, nil
}

func (d *oneThread) release(at address) error {
	d.used -= d.sizes[at]
	delete(d.sizes, at)
	d.call(d.release_, uintptr(at))
	return nil
}

// hostMemory views memory that the library allocated.
func hostMemory(at uintptr, bytes int64) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), bytes)
}

func (d *oneThread) shared(bytes int64) (unsafe.Pointer, error) {
	at := d.call(d.allocate, uintptr(bytes))
	return unsafe.Pointer(&hostMemory(at, bytes)[0]), nil
}

func (d *oneThread) releaseShared(p unsafe.Pointer) { d.call(d.release_, uintptr(p)) }

func (d *oneThread) upload(to address, from unsafe.Pointer, bytes int64) error {
	d.call(d.copy_, uintptr(to), uintptr(from), uintptr(bytes))
	runtime.KeepAlive(from)
	return nil
}

func (d *oneThread) download(to unsafe.Pointer, from address, bytes int64) error {
	d.call(d.copy_, uintptr(to), uintptr(from), uintptr(bytes))
	runtime.KeepAlive(to)
	return nil
}

func (d *oneThread) launch(k kernel, blocks int, arguments unsafe.Pointer) error {
	d.launches++
	d.call(d.functions[k], uintptr(arguments), uintptr(blocks))
	runtime.KeepAlive(arguments)
	return nil
}

// One thread cannot wait for another.
func (d *oneThread) together(...kernel) (int, error) { return 1, nil }

func (d *oneThread) launchTogether(k kernel, blocks int, arguments unsafe.Pointer) error {
	if blocks != 1 {
		return errors.New("blocks that wait for each other need as many threads")
	}
	return d.launch(k, blocks, arguments)
}

func (d *oneThread) wait() error  { return nil }
func (d *oneThread) close() error { return nil }
