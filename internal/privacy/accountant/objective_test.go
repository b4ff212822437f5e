package accountant

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The curve of the tilt, moved by the ratio, is nowhere above that of the whole, and μ is nearly
// as large as that allows.
func TestObjectiveMuCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for range 60 {
		total, shift := min(5, math.Exp(2*rng.NormFloat64()-1)), math.Exp(2*rng.NormFloat64()-3)
		mu := ObjectiveMu(total, math.Exp(shift))
		if mu == 0 {
			if shift < total {
				t.Errorf("total %g, shift %g: no mu", total, shift)
			}
			continue
		}
		for i := range 3000 {
			epsilon := float64(i) / 3000 * (shift + 6*mu + mu*mu)
			x := max(0, epsilon-shift)
			if have, want := gaussianDelta(mu, x/mu-mu/2), gaussianDelta(total, epsilon/total-total/2); have > want {
				t.Fatalf("total %g, shift %g: delta(%g) is %g, more than %g", total, shift, epsilon, have, want)
			}
		}
		if more := mu * 1.02; more < total && gaussianDelta(more, -more/2) < gaussianDelta(total, shift/total-total/2) {
			t.Errorf("total %g, shift %g: mu %g could be 2 %% larger", total, shift, mu)
		}
	}
}
