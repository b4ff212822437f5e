//go:build linux && !nogpu && (amd64 || arm64)

package gpu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"d3p/internal/stattest"
)

// standIn is a folder with a library that stands in for the driver's, and the library of
// kernels that it runs.
func standIn(t *testing.T) (dir, kernels string) {
	t.Helper()
	newOneThread(t, 0) // skips without a compiler
	dir = t.TempDir()
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
	return dir, kernels
}

// A driver that cannot compile the kernels says why.
func TestDriverRefusesKernels(t *testing.T) {
	t.Parallel()
	dir, _ := standIn(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "-test.run", "OnDeviceSameBits", "-test.v")
	c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, "STANDIN_KERNELS=")
	out, err := c.CombinedOutput()
	if want := "CUDA_ERROR_INVALID_PTX (refused by the stand-in): the driver cannot compile the kernels (update it) line 7: what ptxas says"; !strings.Contains(string(out), want) {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
}

// Every part of bench.sh runs to its end, with programs in place of NVIDIA's and of python3
// with JAX. The tests that need a device pass on a driver that has the prototypes of cuda.h
// and runs the PTX in blocks of 256 fibers instead of a card: the calls, their order and their
// arguments are right. All models make the same calls; TestPTX has the others.
func TestBench(t *testing.T) {
	if stattest.Race {
		t.Skip("Go's race detector does not see what happens in another program")
	}
	t.Parallel()
	dir, kernels := standIn(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"nvidia-smi":        `echo "stand-in, 0"`,
		"compute-sanitizer": `shift 2; "$@/^sums$" && echo "========= ERROR SUMMARY: 0 findings"`,
		"python3":           `[ "$1" = -c ] || printf '| autoencoder B=128%s | 128 | %s |\n' "" 10.0 ", JAX float32" 25.0`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("sh", "bench.sh")
	c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, "STANDIN_KERNELS="+kernels, "GPU_TEST_SMALL=1", "GPU_TEST="+self,
		"PATH="+dir+":"+os.Getenv("PATH"), "OUT="+dir)
	out, err := c.CombinedOutput()
	text := string(out)
	if written, _ := os.ReadFile(filepath.Join(dir, "bench.md")); err != nil || string(written) != text {
		t.Errorf("%v: bench.md has\n%s", err, written)
	}
	if wrong := regexp.MustCompile("NaN|SKIP|FAIL|panic|rror:|not found|[1-9][0-9]* failed| 0 passed").FindString(text); wrong != "" {
		t.Errorf("%q in the output", wrong)
	}
	want := map[string]int{
		"stand-in, 0": 1, "--- PASS: TestOnDeviceSameBits (": 1, "--- PASS: TestOnDeviceSameBits/replicates (": 1, "--- PASS: TestOnDeviceConformance (": 1, " 0 failed, 0 skipped": 2,
		"ERROR SUMMARY: 0 findings": 3, "JAX float32 at B=128, in times of d3p: 2.50": 1,
	}
	for _, w := range timings(true) {
		want["| "+w.name+" |"] = 1
	}
	for line, times := range want {
		if n := strings.Count(text, line); n != times {
			t.Errorf("%q stands %d times, want %d", line, n, times)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// A card that fails ends a fit with what it cannot do, before a step is charged, or goes on
// on the processor where it was asked to; a card that fails in the middle keeps the steps
// that were charged.
func TestCardsThatFail(t *testing.T) {
	t.Parallel()
	dir, kernels := standIn(t)
	program := filepath.Join(dir, "d3p")
	if out, err := exec.Command("go", "build", "-o", program, "d3p/cmd/d3p").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	model := `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 300}
  columns:
    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    y: {type: binary}
model: {formula: y ~ x, family: bernoulli}
`
	text := "x,y\n" + strings.Repeat("0.5,1\n-0.5,0\n1,0\n", 100)
	for name, content := range map[string]string{"m.yaml": model, "t.csv": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(fail, kernels string, arguments ...string) (string, int) {
		c := exec.Command(program, arguments...)
		c.Dir = dir
		ours := func(variable string) bool { return strings.HasPrefix(variable, "D3P_") }
		c.Env = append(slices.DeleteFunc(os.Environ(), ours), "LD_LIBRARY_PATH="+dir, "STANDIN_KERNELS="+kernels, "STANDIN_FAIL="+fail, "STANDIN_COUNT="+filepath.Join(dir, "launches"))
		out, err := c.CombinedOutput()
		if err != nil && c.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), c.ProcessState.ExitCode()
	}
	fit := func(device, out, steps string) []string {
		return []string{"fit", "t.csv", "--model", "m.yaml", "--epsilon", "1", "--steps", steps, "--table1", "none", "--device", device, "--out", out}
	}
	if out, code := run("", kernels, fit("cuda", "right", "16")...); code != 0 {
		t.Fatalf("status %d: %s", code, out)
	}
	count, err := os.ReadFile(filepath.Join(dir, "launches"))
	if err != nil {
		t.Fatal(err)
	}
	launches, _ := strconv.Atoi(string(count))
	late := fmt.Sprintf("launch 214 %d", launches+1) // the first call has 16 steps
	for _, c := range []struct {
		name, device, fail, kernels string
		code                        int
		want                        string
	}{
		{"too old a driver", "cuda", "", "", 8, "the driver cannot compile the kernels (update it)"},
		{"too old a driver, then the processor", "cuda,cpu", "", "", 0, "running on cpu: "},
		{"too small a card", "cuda", "alloc 2 1", kernels, 8, "memory"},
		{"too small a card, then the processor", "cuda,cpu", "alloc 2 1", kernels, 0, "running on cpu: "},
		{"a launch that fails at once", "cuda", "launch 719 1", kernels, 8, "CUDA_ERROR_LAUNCH_FAILED"},
		{"an error of memory in the middle", "cuda", late, kernels, 6, "CUDA_ERROR_ECC_UNCORRECTABLE"},
		{"an error of memory in the middle, then the processor", "cuda,cpu", late, kernels, 0, "going on on cpu"},
	} {
		folder := strings.ReplaceAll(c.name, " ", "-")
		out, code := run(c.fail, c.kernels, fit(c.device, folder, "40")...)
		if code != c.code || !strings.Contains(out, c.want) || strings.Contains(out, "wrong sums") {
			t.Errorf("%s: status %d, want %d and %q:\n%s", c.name, code, c.code, c.want, out)
		}
		if n := strings.Count(out, "CUDA_ERROR_"); n > 1 {
			t.Errorf("%s: the error stands %d times in\n%s", c.name, n, out)
		}
	}
	if out, code := run(late, kernels, "resume", "an-error-of-memory-in-the-middle", "--device", "cpu"); code != 0 {
		t.Errorf("resume on the processor: status %d: %s", code, out)
	}
}
