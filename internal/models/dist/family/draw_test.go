package family

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

type random struct{ *rand.Rand }

func (r random) Normal() float64  { return r.NormFloat64() }
func (r random) Uniform() float64 { return r.Float64() }

// A draw ends whatever its parameters are: those of a record's prediction may be anything.
func TestDrawsEnd(t *testing.T) {
	values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e9, -1, 0, math.SmallestNonzeroFloat64, 1e-300, 0.5, 1, 16, 1e300, math.MaxFloat64}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		rng := random{rand.New(rand.NewPCG(1, 2))}
		for _, a := range values {
			if x := DrawGamma(a, rng); (x == x) != (a >= 0 && a-a == 0) {
				t.Errorf("a gamma of shape %g is %g", a, x)
			}
			DrawPoisson(a, rng)
			for _, b := range values {
				DrawBeta(a, b, rng)
				DrawBinomial(a, b, rng)
			}
		}
	}()
	select {
	case <-ended:
	case <-time.After(5 * time.Minute):
		t.Fatal("a draw has not ended after five minutes")
	}
}
