//go:build linux && !nogpu && (amd64 || arm64)

package gpu

import (
	"testing"
	"unsafe"

	"d3p/internal/fit/plan"
	"d3p/internal/gpu/ptx"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// counted is a driver that adds up the estimated cycles of launches that take steps.
type counted struct {
	*served
	cycles *uint64
}

func (d counted) launch(k kernel, blocks int, args unsafe.Pointer) error {
	err := d.served.launch(k, blocks, args)
	if err == nil && k == stepsKernel {
		var n uint64
		n, err = d.number([3]uint64{serveCycles})
		*d.cycles += n
	}
	return err
}

func (d counted) launchTogether(k kernel, blocks int, args unsafe.Pointer) error {
	return d.launch(k, blocks, args)
}

// A step of a small model is a chain of instructions that wait for each other: by the clock
// of ptx.TranslateClocked it takes no more cycles than this. docs/results/gpu.txt compares
// estimates with times of a card.
func TestCyclesOfStep(t *testing.T) {
	if stattest.Race {
		t.Skip("Go's race detector does not see what happens in another program")
	}
	t.Parallel()
	d := newServed(t, translated(t, ptx.TranslateClocked, kernelsPTX, "-DCLOCK", "-DBLOCKS=5", "-Og")...)
	for name, most := range map[string]uint64{"logistic N=200 D=8 B=67": 37_000, "hierarchical N=500": 170_000, "mixture K=5 D=2": 101_000} {
		t.Run(name, func(t *testing.T) {
			var cycles [2]uint64
			for k, steps := range []int{2, 6} {
				fitOfTiming(t, name, steps, newEngine("cuda:test", counted{d, &cycles[k]}, Options{}))
			}
			step := (cycles[1] - cycles[0]) / 4
			t.Logf("%d cycles a step", step)
			if step > most {
				t.Errorf("at most %d are expected", most)
			}
		})
	}
}

// fitOfTiming takes a few steps of a workload.
func fitOfTiming(t *testing.T, name string, steps int, e privacy.Engine) {
	for _, w := range timings(true) {
		if w.name != name {
			continue
		}
		m := w.compile(t)
		w.config.Steps = steps
		p, err := plan.New(m, w.config)
		if err != nil {
			t.Fatal(err)
		}
		table := privacy.NewTable(privacy.TableConfig{
			Data: w.data(t), Encoding: m.Encoding, Spare: m.Likelihood.K - m.Likelihood.K0, Precision: privacy.Float32, Root: noise.Insecure(1),
		})
		runFit(t, p, e, table, noise.Insecure(3), nil)
		return
	}
	t.Fatalf("no workload %s", name)
}
