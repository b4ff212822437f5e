package sensitivity

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"d3p/internal/privacy"
)

// A search that clipped fewer cases than leastClipped shows nothing, so it continues beyond
// its time. It fails if it still has fewer after mostCases.
const (
	leastClipped = 10
	mostCases    = 2000
)

// Check attacks every model in both precisions, for a duration each, and in a soak
// (D3P_SOAK) for that many times the duration, with its own seed. It fails at a fault, and
// if hardly a case was clipped.
func Check(t *testing.T, list []Model, open func(t *testing.T) privacy.Engine, each time.Duration) {
	seed := uint64(20240917)
	if s := os.Getenv("D3P_SOAK"); s != "" {
		factor, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatalf("D3P_SOAK: %v", err)
		}
		each, seed = time.Duration(float64(each)*factor), rand.Uint64()
	}
	for k, m := range list {
		for _, p := range []privacy.Precision{privacy.Float32, privacy.Float64} {
			t.Run(fmt.Sprintf("%s, %d bits", m.Name, map[privacy.Precision]int{privacy.Float32: 32, privacy.Float64: 64}[p]), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(seed, uint64(2*k)+uint64(p)))
				begun := time.Now()
				result, err := Attack(Target{Model: m, Engine: open(t), Precision: p}, rng, func(r Result) bool {
					return time.Since(begun) < each || r.Clipped < leastClipped && r.Cases < mostCases
				})
				if err != nil {
					t.Fatal(err)
				}
				if result.Worst.Fault() {
					t.Errorf("seed %d: %v", seed, result.Worst.String())
				}
				if result.Clipped < leastClipped {
					t.Errorf("seed %d: %d of %d cases were clipped, want %d", seed, result.Clipped, result.Cases, leastClipped)
				}
				t.Logf("%d cases, %d of them clipped: at most %.17g C", result.Cases, result.Clipped, result.Worst.Moved)
			})
		}
	}
}
