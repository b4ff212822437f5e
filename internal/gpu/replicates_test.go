//go:build linux && !nogpu

package gpu

import (
	"math"
	"sync"
	"testing"

	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// Fits side by side, one of which ends early and one of which needs the host for its
// noise, compute the bits that each computes alone, in few launches, and share the table.
func TestReplicates(t *testing.T) {
	d := newOneThread(t, 1<<30)
	checkReplicates(t, newEngine("cuda:test", d, Options{}), newEngine("cuda:test", newOneThread(t, 1<<30), Options{}))
	if d.launches != 2*2 { // the second one resumes after noise of the host
		t.Errorf("%d launches", d.launches)
	}
}

// checkReplicates compares two and then five fits side by side on a device with
// the same ones on another, one after the other.
func checkReplicates(t *testing.T, device, alone *Engine) {
	const N, n = 120, 4
	tape, rows := plainRegression(t, 18, N)
	uncertain := sensitive(t, noise.Insecure(0).Stream(noise.GradientNoise), 8)
	for _, count := range []int{2, 5} {
		open := func(e *Engine, k int) (*worker, privacy.StepsInput) {
			opened, err := e.Open(tape, rows)
			if err != nil {
				t.Fatal(err)
			}
			w := opened.(*worker)
			post := analyst(t, tape.P)
			root := noise.Insecure(uint64(k))
			in := stepsInput(n, tape.P, N, []int{110 - 20*k, 0, 33, 119})
			in.Sum, in.Count = root.Stream(noise.GradientNoise), root.Stream(noise.CountNoise)
			if k > 2 {
				drawByNetwork(t, &in, N, uint64(k))
			}
			switch k {
			case 0:
				in.First = uncertain - 2
			case 1:
				post.Absorb = fragile(t, tape.P)
				in.Inputs[3*tape.P] = math.Inf(1)
			}
			if err := w.Prepare(post); err != nil {
				t.Fatal(err)
			}
			return w, in
		}
		var workers []*worker
		var inputs []privacy.StepsInput
		for k := range count {
			w, in := open(device, k)
			workers, inputs = append(workers, w), append(inputs, in)
		}
		if len(device.residents) != 1 {
			t.Errorf("%d copies of the table", len(device.residents))
		}
		done := make([]int, count)
		var wait sync.WaitGroup
		for k, w := range workers {
			wait.Go(func() {
				var err error
				if done[k], err = w.Steps(inputs[k]); err != nil {
					t.Error(err)
				}
				if err := w.Close(); err != nil { // so that no fit waits for it
					t.Error(err)
				}
			})
		}
		wait.Wait()
		for k := range count {
			w, in := open(alone, k)
			if steps, err := w.Steps(in); err != nil || steps != done[k] || (steps < n) != (k == 1) {
				t.Fatalf("%d of %d: %d steps, alone %d: %v", k, count, done[k], steps, err)
			}
			same(t, inputs[k].Kept, in.Kept)
			same(t, inputs[k].State, in.State)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(device.residents) != 0 || device.joint.workers != 0 || device.joint.expected != 0 {
		t.Errorf("%d tables and %d workers are left", len(device.residents), device.joint.workers)
	}
}
