package sensitivity

import (
	"d3p/internal/stattest"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDrawnRecordsHaveGradients: a search would prove nothing of a model if the records
// that it draws had no gradient, because they count as zero.
func TestDrawnRecordsHaveGradients(t *testing.T) {
	stattest.SkipNumerics(t)
	rng := rand.New(rand.NewPCG(6, 6))
	for _, m := range slices.Concat(Configs(t, "../../../configs"), generated(t, 1), sequences(t, 28)) {
		if m.Tape.P > largeTape {
			continue
		}
		s, err := (&Target{Model: m}).search(rng)
		if err != nil {
			t.Fatal(err)
		}
		const draws, least = 40, 4
		n := 0
		for range draws {
			c := s.draw(false)
			for i := range c.Theta {
				c.Theta[i] = 0.1 * rng.NormFloat64()
			}
			if norm, _ := s.sizes(&c); norm > 0 && norm < 1e100 {
				n++
			}
		}
		if n < least {
			t.Errorf("%s: %d of %d drawn records have a gradient", m.Name, n, draws)
		}
	}
}
