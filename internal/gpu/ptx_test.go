//go:build linux && !nogpu && (amd64 || arm64)

package gpu

import (
	"testing"
	"unsafe"

	"d3p/internal/fit/plan"
	"d3p/internal/gpu/hostcc"
	"d3p/internal/gpu/ptx"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
	"d3p/internal/stattest"
)

// ptxFlags are what compiles PTX, translated to C++, in place of the kernels' source.
func ptxFlags(t testing.TB, source string, flags ...string) []string {
	t.Helper()
	return translated(t, ptx.Translate, source, flags...)
}

func translated(t testing.TB, translate func(*ptx.Module, string) (string, error), source string, flags ...string) []string {
	t.Helper()
	module, err := ptx.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	text, err := translate(module, "kernels.ptx")
	if err != nil {
		t.Fatal(err)
	}
	file, err := hostcc.Source(text)
	if err != nil {
		t.Fatal(err)
	}
	return append(ptx.Flags(".", file, blockThreads), flags...)
}

// The driver's PTX, run by the rules of the PTX ISA in blocks of 256 threads, computes
// the bits of its source on one thread, and does nothing that a card forbids.
func TestPTX(t *testing.T) {
	if stattest.Race {
		t.Skip("Go's race detector does not see what happens in another program")
	}
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		d := newServed(t, ptxFlags(t, kernelsPTX, "-fsanitize=address", "-fno-sanitize-address-use-after-scope")...)
		t.Run("operations", func(t *testing.T) { checkOperations(t, d, newOneThread(t, 1<<30)) })
		checkBlocks(t, d, wideProducts)
		t.Run("fits", func(t *testing.T) { checkFits(t, d) })
	})
	t.Run("races", func(t *testing.T) {
		t.Parallel()
		checkBlocks(t, newServed(t, ptxFlags(t, kernelsPTX, "-fsanitize=thread")...), 0)
	})
}

// checkFits compares whole fits, of many steps in a launch and of one.
func checkFits(t *testing.T, d driver) {
	m := cohort(t)
	for guide, batches := range map[string]string{"mean_field": sampler.Feistel, "full_rank": sampler.Exact} {
		plan, err := plan.New(m, plan.Config{Epsilon: 1, Delta: 1e-5, Steps: 8, SamplingRate: 0.1, Batches: batches, Guide: guide})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := runFit(t, plan, newEngine("cuda:test", d, Options{}), cohortTable(m), noise.Insecure(3), nil)
		want, _ := runFit(t, plan, newEngine("cuda:test", newOneThread(t, 1<<30), Options{}), cohortTable(m), noise.Insecure(3), nil)
		same(t, got.Mean, want.Mean)
		same(t, got.VarDP, want.VarDP)
		same(t, got.Trace.Mean, want.Trace.Mean)
	}
}

// The arguments of a launch are the parameters of the kernels.
func TestPTXParameters(t *testing.T) {
	module, err := ptx.Parse(kernelsPTX)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]uintptr{
		kernelNames[globalsKernel]: unsafe.Sizeof(arguments{}), kernelNames[recordsKernel]: unsafe.Sizeof(arguments{}),
		kernelNames[finishKernel]: unsafe.Sizeof(arguments{}), kernelNames[stepsKernel]: unsafe.Sizeof(runs{}),
		kernelNames[elementsKernel]: unsafe.Sizeof(elements{}),
	}
	for _, f := range module.Functions {
		if !f.Entry {
			continue
		}
		if f.ParamBytes() != int(want[f.Name]) || f.MaxThreads != blockThreads {
			t.Errorf("%s takes %d bytes in blocks of at most %d threads, launches pass %d to blocks of %d", f.Name, f.ParamBytes(), f.MaxThreads, want[f.Name], blockThreads)
		}
		delete(want, f.Name)
	}
	if len(want) > 0 || module.Target != "sm_70" {
		t.Errorf("no entries %v, target %s", want, module.Target)
	}
}
