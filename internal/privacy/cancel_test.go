package privacy_test

import (
	"math"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// As many records are added together as keep their parts below 4096, in whole
// units of sixteen, and at most 256.
func TestTogetherAtMost(t *testing.T) {
	for places, want := range map[int]int{0: 256, 1: 256, 16: 256, 17: 240, 64: 64, 200: 16, 1000: 16, 5000: 16} {
		tape := &graph.Tape{Terms: []graph.Term{{Width: 1}, {Width: places}}}
		if got := privacy.TogetherAtMost(tape); got != want {
			t.Errorf("%d places: %d records together, want %d", places, got, want)
		}
		if got := privacy.Cancels(tape); got != (places > 1) {
			t.Errorf("%d places: cancels %v", places, got)
		}
	}
}

// Where parts of a gradient can cancel, the noise is widened by what they may
// hide: with one pair of terms, batches of B = 2^20 records and 256 of them added
// together, two sums are off by 2·2·B·(256·2^20 + B)·2^-53 = 257/2048 of C.
func TestNoiseCoversCancellation(t *testing.T) {
	b := graph.NewBuilder()
	d := graph.Dim{Name: "d", Size: 2}
	w := b.Param("w", graph.Shape{d})
	tape, err := graph.Compile(b, b.Mul(b.Column(2), b.Sub(b.MatMul(b.Columns(0, d), w), b.MatMul(b.Columns(1, d), w))), nil, graph.Options{GradientOnly: true, Columns: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(tape.Cross) != 1 || !privacy.Cancels(tape) {
		t.Fatalf("%d pairs of terms, want 1: the test tests nothing", len(tape.Cross))
	}
	e := &fakeStepper{takes: 1}
	m := mechanism(t, 1)
	m.Tape = tape
	s := begin(t, newCurator(t, config(t, e)), m)
	if _, err := s.Steps([]float64{1}, nil, nil, 1); err != nil {
		t.Fatal(err)
	}
	if got, want := e.got.Widened, 1+privacy.RoundingAllowance(1<<20, 2)+257./2048; math.Abs(got-want) > 1e-15 {
		t.Errorf("the noise is widened by %g, want %g", got, want)
	}
}
