package stepspercall

import (
	"slices"
	"testing"
	"time"
)

// A call takes half a second at most, so that a fit on a slow device can be stopped; the
// first one, or a single step, takes what it takes. A fast device has long calls.
func TestCallsEndInTime(t *testing.T) {
	for step, want := range map[time.Duration][]int{
		time.Microsecond:       {16, 128, 1024, 4096, 4096},
		200 * time.Microsecond: {16, 128, 1024, 2048, 2048},
		time.Millisecond:       {16, 128, 256, 256, 256},
		40 * time.Millisecond:  {16, 8, 8, 8, 8},
		2 * time.Second:        {16, 1, 1, 1, 1},
	} {
		var now time.Time
		p, calls := New(func() time.Time { return now }), []int(nil)
		for range want {
			calls = append(calls, p.Steps())
			p.Begin()
			now = now.Add(time.Duration(p.Steps()) * step)
			p.End(p.Steps())
		}
		if !slices.Equal(calls, want) {
			t.Errorf("%v a step: calls of %d steps, want %d", step, calls, want)
		}
	}
}
