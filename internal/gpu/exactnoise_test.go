//go:build linux && !nogpu

package gpu

import (
	"sync"
	"testing"

	"d3p/internal/privacy/noise"
)

// Where double precision does not decide the rounding of noise the host adds it, and the
// run continues: here to a number of the sum, and to the count, whose radius of Box and
// Muller needs more bits than a word has.
func TestUncertainNoiseIsAddedOnTheHost(t *testing.T) {
	const N = 300
	tape, rows := plainRegression(t, 44, N)
	for name, key := range map[string]bool{"words": false, "words made on the device": true} {
		t.Run(name, func(t *testing.T) {
			d := newOneThread(t, 1<<30)
			e := newEngine("cuda:7", d, Options{})
			if key {
				e.mostWords = 0
			}
			w := openOn(t, e, tape, rows)
			post := analyst(t, tape.P)
			if err := w.Prepare(post); err != nil {
				t.Fatal(err)
			}
			in := stepsInput(5, tape.P, N, []int{50})
			for _, s := range []struct {
				stream *noise.Stream
				radii  int // words of the first group that are radii of the added noise
			}{{in.Sum, 8}, {in.Count, 1}} {
				in.First = sensitive(t, s.stream, s.radii) - 2
				in.State = make([]float64, tape.P+1)
				in.State[tape.P] = 1.25
				before := d.launches
				follow(t, w, post, in)
				if launches := d.launches - before - 2*in.N; launches != 2 {
					t.Errorf("%d launches of steps, want 2", launches)
				}
			}
		})
	}
}

// found are the steps that sensitive has found: it takes a second.
var found = struct {
	sync.Mutex
	steps map[any]int
}{steps: map[any]int{}}

// sensitive finds a step with one of the first words too near 0 or 1: there is one among
// 11 million words, so that 2^31 have none with probability below 1e-80.
func sensitive(t *testing.T, s *noise.Stream, radii int) int {
	t.Helper()
	type search struct {
		key   [32]byte
		radii int
	}
	found.Lock()
	defer found.Unlock()
	if step, ok := found.steps[search{s.Key(), radii}]; ok {
		return step
	}
	words := make([]uint64, radii)
	for step := 2; step < 1<<31/radii; step++ {
		s.Seek(uint64(step))
		s.Words64(words)
		for _, w := range words {
			if w < 1<<40 || w > 1<<64-1<<39 {
				found.steps[search{s.Key(), radii}] = step
				return step
			}
		}
	}
	t.Fatal("no such word")
	return 0
}
