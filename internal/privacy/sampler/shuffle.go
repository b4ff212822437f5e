package sampler

import (
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// shuffle cuts a fresh permutation of the records into equal batches, anew in
// every epoch. The records' number is public under the relations that it
// supports; fewer than declared are filled up with absent ones.
type shuffle struct {
	epoch
	population int
}

func newShuffle(cfg Config) (scheme, error) {
	if err := cfg.checkPublicN(); err != nil {
		return nil, err
	}
	e, err := newEpoch(cfg)
	return shuffle{e, cfg.PublicN}, err
}

func (s shuffle) Scheme() string { return Shuffle }

func (s shuffle) Rate() float64 { return 1 / float64(s.batches) }

func (s shuffle) Relations() []event.Relation {
	return []event.Relation{event.ZeroOut, event.Substitute}
}

func (s shuffle) Event(steps int, of event.Event) event.Event {
	return event.SelfComposed{Of: event.Shuffled{Of: of}, Count: s.epochs(steps)}
}

func (s shuffle) bind(n, first int, src *noise.Stream) drawer {
	population := max(n, s.population)
	return &shuffleDraw{
		epoch:       s.epoch,
		first:       first,
		n:           n,
		population:  population,
		permutation: newPermutation(population, src),
	}
}

type shuffleDraw struct {
	epoch
	first         int // step that is drawn here
	n, population int
	permutation   permutation
	current       uint64 // epoch + 1; 0 before the first
}

func (d *shuffleDraw) Draw(t int, dst []uint32) ([]uint32, bool) {
	number, batch := d.at(t)
	if d.torn(number, d.first) {
		return grown(dst, 0), false
	}
	if d.current != number+1 {
		d.permutation.renew(number)
		d.current = number + 1
	}
	lo, hi := batch*d.population/d.batches, (batch+1)*d.population/d.batches
	return present(d.permutation.outputs(grown(dst, d.population/d.batches+1), lo, hi), d.n, d.population), false
}
