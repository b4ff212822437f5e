package report

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"d3p/internal/fit/plan"
	"d3p/internal/privacy/event"
)

// A printed bound may be larger than the bound, never smaller, and by at most
// one unit of the fourth digit.
func TestUpward(t *testing.T) {
	for x, want := range map[float64]string{0.99998: "1", 1: "1", 1.00001: "1.001", 12.344: "12.35", 0.25: "0.25"} {
		if got := Upward(x); got != want {
			t.Errorf("upward(%v) = %s, want %s", x, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1e-9, 1e9).Draw(t, "x")
		shown, err := strconv.ParseFloat(Upward(x), 64)
		if err != nil || shown < x || shown > x*1.0011 {
			t.Fatalf("upward(%v) = %s", x, Upward(x))
		}
	})
}

// Only add-or-remove neighbours differ in their number of records: a report must not
// promise to hide it under the others.
func TestSizeIsPrivateUnderAddRemoveOnly(t *testing.T) {
	for _, rel := range event.Relations() {
		want := "public"
		if rel == event.AddRemove {
			want = "private"
		}
		if n := (&Run{Plan: &plan.Plan{Neighbours: rel}}).neighbours(); n.DatasetSize != want {
			t.Errorf("%s: how many records there are is %s, want %s", rel, n.DatasetSize, want)
		}
	}
}

// Every bound that a report prints errs to the safe side, delta and the attacker's
// rates too.
func TestBoundsAreRoundedUp(t *testing.T) {
	delta := math.Pow(82_000, -1.1) // 3.9332e-06
	if line := ClaimLine(0.9999, delta, "person", event.AddRemove); !strings.HasPrefix(line, "(0.9999, 3.94e-06)-") {
		t.Errorf("the claim for delta %g is %s", delta, line)
	}
	for rate, want := range map[float64]string{0.019741: "1.98 %", 0.0198: "1.98 %", 1: "100 %", 0.99999: "100 %"} {
		if got := percentUp(rate); got != want {
			t.Errorf("%g is printed as %s, want %s", rate, got, want)
		}
	}
}
