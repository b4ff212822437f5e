//go:build linux && !nogpu && (amd64 || arm64)

package gpu

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The tests that need a device pass on a driver that has the prototypes of cuda.h, and
// runs the PTX in blocks of 256 fibers instead of a card: the calls, their order and
// their arguments are right. All models make the same calls.
func TestDriverCalls(t *testing.T) {
	t.Parallel()
	newOneThread(t, 0) // skips without a compiler
	dir := t.TempDir()
	kernels, err := compileKernels(append(ptxFlags(t, kernelsPTX), "-shared", "-fPIC")...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	driver := exec.Command("gcc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", filepath.Join(dir, "libcuda.so.1"), "testdata/standin.c", "-ldl")
	if out, err := driver.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(kernels string) (string, error) {
		c := exec.Command(self, "-test.run", "OnDeviceSameBits/^(operations|sums|logistic|steps|replicates)", "-test.v")
		c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, "STANDIN_KERNELS="+kernels, "GPU_TEST_SMALL=1")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := run(kernels); err != nil || strings.Contains(out, "SKIP") || !strings.Contains(out, "PASS: TestOnDeviceSameBits/replicates") {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := run("") // nothing to compile
	if want := "CUDA_ERROR_INVALID_PTX (refused by the stand-in): the driver cannot compile the kernels (update it) line 7: what ptxas says"; !strings.Contains(out, want) {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
}
