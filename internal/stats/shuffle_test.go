package stats

import (
	"math/rand/v2"
	"testing"

	"d3p/internal/stattest"
)

type uniform struct{ *rand.Rand }

func (u uniform) Uniform() float64 { return u.Float64() }

// All six orders of three are equally frequent.
func TestShuffle(t *testing.T) {
	rng, counts := uniform{rand.New(rand.NewPCG(1, 2))}, map[[3]int]int{}
	for range 60000 {
		list := []int{0, 1, 2}
		Shuffle(list, rng)
		counts[[3]int(list)]++
	}
	var observed []int
	for _, n := range counts {
		observed = append(observed, n)
	}
	if len(observed) != 6 {
		t.Fatalf("%d orders, want 6", len(observed))
	}
	stattest.Require(t, "orders of a shuffled list", stattest.Uniform(observed))
}
