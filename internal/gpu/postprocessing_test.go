//go:build linux && !nogpu

package gpu

import (
	"testing"

	"d3p/internal/models/graph"
)

// The prior's gradient is computed, but not its value, which is a sum of one term per
// parameter.
func TestOnlyGradientsAreAsked(t *testing.T) {
	s, err := newScript(50, false, analyst(t, 50))
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.prior.global {
		if in := &s.prior.global[i]; in.op == int32(graph.OpSum) || in.size != 50 {
			t.Errorf("instruction %d: operation %d of %d numbers", i, in.op, in.size)
		}
	}
	if n, all := len(s.prior.global), len(s.prior.tape.Global); n == 0 || n >= all {
		t.Errorf("%d of %d instructions", n, all)
	}
}
