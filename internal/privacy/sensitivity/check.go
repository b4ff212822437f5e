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

// mostCases is the number of cases after which a search gives up that has not clipped one.
const mostCases = 2000

// Check hunts on every model in both precisions, each for a duration, and in a soak
// (D3P_SOAK) for as many times that, from a seed of its own. It fails at a fault, and where
// no record was clipped: such a search proves nothing.
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
				first := true // however slow
				result, err := Hunt(Target{Model: m, Engine: open(t), Precision: p}, rng, func(r Result) bool {
					more := first || time.Since(begun) < each || r.Clipped == 0 && r.Cases < mostCases
					first = false
					return more
				})
				if err != nil {
					t.Fatal(err)
				}
				if result.Worst.Fault() {
					t.Errorf("seed %d: %v", seed, result.Worst.String())
				}
				if result.Clipped == 0 {
					t.Errorf("seed %d: no record of %d cases was clipped", seed, result.Cases)
				}
				t.Logf("%d cases, %d of them clipped: at most %.17g C", result.Cases, result.Clipped, result.Worst.Moved)
			})
		}
	}
}
