package attack

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/stattest"
)

// The accountant's delta is the mean of (1 - e^(epsilon - L))⁺ over simulated losses L of
// the dominating pair. The simulation shares nothing with the accountant's engines but
// the pair.
func TestSimulatedLosses(t *testing.T) {
	stattest.SkipNumerics(t)
	for _, c := range []struct {
		rate, noise float64
		steps       int
		delta       float64
	}{{0.3, 0.8, 4, 0.02}, {0.1, 0.6, 10, 0.01}, {0.7, 1.5, 5, 0.01}, {0.5, 3, 12, 0.05}} {
		of, T := event.Gaussian{NoiseMultiplier: c.noise}, int64(c.steps)
		poisson := event.SelfComposed{Of: event.PoissonSampled{Rate: c.rate, Of: of}, Count: T}
		fixed := event.SelfComposed{Of: event.FixedSizeSampled{Population: 1000, Batch: int(1000 * c.rate), Of: of}, Count: T}
		inEach := func(u []float64, rng *rand.Rand) {
			for i := range u {
				if rng.Float64() < c.rate {
					u[i]++
				}
			}
		}
		losses{c.steps, c.noise, c.rate, inEach, independent}.compare(t, poisson, event.AddRemove, c.delta)
		losses{c.steps, c.noise, c.rate, inEach, replaced}.compare(t, poisson, event.Substitute, c.delta)
		losses{c.steps, c.noise / 2, c.rate, inEach, independent}.compare(t, fixed, event.AddRemove, c.delta)
	}
	for _, c := range []struct {
		batches, epochs int
		noise, delta    float64
	}{{4, 2, 1.5, 0.02}, {2, 4, 2, 0.02}, {10, 3, 2, 0.01}} {
		inOne := func(u []float64, rng *rand.Rand) {
			for e := range c.epochs {
				u[e*c.batches+rng.IntN(c.batches)]++
			}
		}
		ev := event.SelfComposed{Of: event.BallsAndBins{Batches: c.batches, Of: event.Gaussian{NoiseMultiplier: c.noise}}, Count: int64(c.epochs)}
		losses{c.batches * c.epochs, c.noise, 1 / float64(c.batches), inOne, once}.compare(t, ev, event.AddRemove, c.delta)
	}
}

// losses are those of steps with noise s in units of a record's contribution, with the
// record in some of them.
type losses struct {
	steps   int
	s, rate float64
	put     func(u []float64, rng *rand.Rand)
	ratio   ratio
}

// compare simulates delta at the certified epsilon: the result is delta up to the width
// of the bracket.
func (l losses) compare(t *testing.T, ev event.Event, rel event.Relation, delta float64) {
	t.Helper()
	answer, err := accountant.Epsilon(ev, rel, delta)
	if err != nil {
		t.Fatal(err)
	}
	const draws = 60_000
	rng := rand.New(rand.NewPCG(3, uint64(l.steps)))
	u := make([]float64, l.steps)
	sum, squares := 0.0, 0.0
	for range draws {
		for i := range u {
			u[i] = l.s * rng.NormFloat64()
		}
		l.put(u, rng)
		x := math.Max(0, -math.Expm1(answer.Upper-l.ratio(u, l.s, l.rate)))
		sum, squares = sum+x, squares+x*x
	}
	mean := sum / draws
	sd := math.Sqrt((squares/draws - mean*mean) / draws)
	stattest.Require(t, fmt.Sprintf("%+v, %s: simulated delta %.5f at epsilon %.4f, claimed %g", ev, rel, mean, answer.Upper, delta), stattest.Normal((mean-delta)/sd))
}
