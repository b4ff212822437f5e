package sensitivity

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// canaries is the number of records in one table of Canary.
const canaries = 64

// Canary searches, among the records that the declarations of t admit, the one that moves
// the sum most at given parameters and C: at random, then by changing the best. Of records
// with equal effect it takes the one whose parts cancel most. It serves attacks on a fit
// with a known start; t needs an Encoding.
func Canary(t Target, theta []float64, clip privacy.Clip, rng *rand.Rand, rounds int) (Finding, error) {
	s := &search{
		Target: &t, rng: rng, domain: encoded(t.Encoding), machine: graph.NewMachine(t.Tape, 1),
		row: make([]float64, t.Tape.K0), g: make([]float64, t.Tape.P), zero: make([]float64, t.Tape.P),
	}
	if w := s.domain.width(); w != t.Tape.K0 {
		return Finding{}, fmt.Errorf("sensitivity: records of %d columns, the tape of %s reads %d", w, t.Name, t.Tape.K0)
	}
	best, cancelled := Finding{}, 0.0
	for range rounds {
		list, valid := make([][]float64, canaries), make([]bool, canaries)
		for i := range list {
			list[i], valid[i] = make([]float64, t.Tape.K0), true
			if i%2 == 0 || best.Record == nil {
				s.domain.draw(rng, list[i])
				continue
			}
			copy(list[i], best.Record)
			s.domain.mutate(rng, list[i])
		}
		b, err := t.bench(list, valid)
		if err != nil {
			return Finding{}, err
		}
		for i, record := range list {
			c := Case{Record: record, Theta: theta, Aux: make([]float64, t.Tape.AuxGlobal), Clip: clip}
			moved, allowed, err := b.moved(&c, nil, 0, uint32(i))
			if err != nil {
				b.worker.Close()
				return Finding{}, err
			}
			const alike = 1e-6
			if x := s.cancelled(&c); moved > best.Moved*(1+alike) || moved > best.Moved*(1-alike) && x > cancelled {
				c.Record = slices.Clone(record)
				best, cancelled = Finding{Case: c, Moved: moved, Allowed: allowed}, x
			}
		}
		if err := b.worker.Close(); err != nil {
			return Finding{}, err
		}
	}
	return best, nil
}
