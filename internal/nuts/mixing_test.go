package nuts

import (
	"errors"
	"slices"
	"testing"
)

// chainOf has independent draws of two scalars, the second one drifting.
func chainOf(n int, drift float64, divergences int) *Chain {
	rng := seeded(3)
	c := &Chain{Energy: make([]float64, n), Divergences: divergences}
	for i := range n {
		c.Draws = append(c.Draws, rng.Normal(), rng.Normal()+drift*float64(i)/float64(n))
	}
	return c
}

// A chain runs until it mixes: by the same options, then by careful ones, and no more.
func TestChainsRunUntilTheyMix(t *testing.T) {
	good, drifting, divergent := chainOf(400, 0, 10), chainOf(400, 3, 0), chainOf(400, 0, 11)
	stuck := &Chain{Draws: make([]float64, 800), Energy: make([]float64, 400)}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		chains []*Chain // one a run; nil: an error
		runs   int
		tries  Tries
		err    error
	}{
		"good":      {[]*Chain{good}, 1, Tries{}, nil},
		"drifting":  {[]*Chain{drifting, good}, 2, Tries{Repeated: 1}, nil},
		"divergent": {[]*Chain{divergent, drifting, good}, 3, Tries{Repeated: 1}, nil},
		"stuck":     {[]*Chain{stuck, stuck, stuck}, 3, Tries{Repeated: 1, Unmixed: 1}, nil},
		"error":     {[]*Chain{nil}, 1, Tries{}, broken},
		"later":     {[]*Chain{stuck, nil}, 2, Tries{Repeated: 1}, broken},
	} {
		progress := 0
		var warmups []int
		var targets []float64
		chain, tries, err := UntilMixed(Options{Warmup: 150, Draws: 400, Progress: func(int) { progress++ }}, func(o Options) (*Chain, error) {
			if o.Progress != nil {
				o.Progress(1)
			}
			warmups, targets = append(warmups, o.Warmup), append(targets, o.Acceptance)
			if next := c.chains[len(warmups)-1]; next != nil {
				return next, nil
			}
			return nil, broken
		})
		last := c.chains[c.runs-1]
		if chain != last || tries != c.tries || !errors.Is(err, c.err) {
			t.Errorf("%s: the chain of run %d is %t, %+v and %v", name, c.runs, chain == last, tries, err)
		}
		if !slices.Equal(warmups, []int{150, 150, 300}[:c.runs]) || !slices.Equal(targets, []float64{0.8, 0.8, 0.95}[:c.runs]) || progress != 1 {
			t.Errorf("%s: warm-ups %v to %v, of which %d report progress", name, warmups, targets, progress)
		}
	}
}
