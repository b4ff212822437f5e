package sampler

import (
	"cmp"
	"fmt"
	"math"

	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// fixedSize draws a subset of a fixed number of records, without replacement and
// independently in every step. If there are fewer records than declared, absent ones fill
// up the population; they can be drawn and contribute nothing. So the rate is never above
// the claimed one, and no error reveals the number of records.
//
// Hence a record that comes takes the place of an absent one, which is a null record. The pair
// that the accountant has under add_remove is of batches of all records, B of N and B of N-1, and
// none is known for null records. Under substitution one of two records may be null.
type fixedSize struct {
	population, batch int
	batches           string
}

func newFixedSize(cfg Config) (scheme, error) {
	if err := cfg.checkPublicN(); err != nil {
		return nil, err
	}
	q, err := cfg.rate()
	if err != nil {
		return nil, err
	}
	batch := cmp.Or(cfg.BatchSize, int(math.Round(q*float64(cfg.PublicN))))
	if batch < 1 {
		return nil, fmt.Errorf("sampler: rate %g of %d records is less than one record: raise the rate", q, cfg.PublicN)
	}
	return fixedSize{cfg.PublicN, batch, cfg.Batches}, nil
}

func (f fixedSize) Scheme() string { return FixedSize }

func (f fixedSize) Rate() float64 { return float64(f.batch) / float64(f.population) }

func (f fixedSize) Relations() []event.Relation { return []event.Relation{event.Substitute} }

func (f fixedSize) Event(steps int, of event.Event) event.Event {
	return event.SelfComposed{
		Of:    event.FixedSizeSampled{Population: f.population, Batch: f.batch, Of: of},
		Count: int64(steps),
	}
}

func (f fixedSize) bind(n, _ int, src *noise.Stream) drawer {
	population := max(n, f.population)
	return &fixedSizeDraw{n, population, f.batch, newSubsets(f.batches, population, src)}
}

type fixedSizeDraw struct {
	n, population, batch int
	subsets              subsets
}

func (d *fixedSizeDraw) Draw(t int, dst []uint32) ([]uint32, bool) {
	return present(d.subsets.draw(grown(dst, d.batch), step(t), d.batch), d.n, d.population), false
}

// network is nil if there are absent records, which a device cannot drop.
func (d *fixedSizeDraw) network() *Network {
	if d.n < d.population {
		return nil
	}
	return networkOf(d.subsets, func(int) int { return d.batch })
}

// present drops the indices of absent records, n to population-1, in place.
func present(batch []uint32, n, population int) []uint32 {
	if n == population {
		return batch
	}
	kept := batch[:0]
	for _, i := range batch {
		if int(i) < n {
			kept = append(kept, i)
		}
	}
	return kept
}
