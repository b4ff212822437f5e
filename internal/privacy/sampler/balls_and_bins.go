package sampler

import (
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// ballsAndBins puts, in every epoch, each record into one of the batches,
// uniformly and independently. Chua et al. 2024, arXiv:2412.16802.
type ballsAndBins struct{ epoch }

func newBallsAndBins(cfg Config) (scheme, error) {
	e, err := newEpoch(cfg)
	return ballsAndBins{e}, err
}

func (b ballsAndBins) Scheme() string { return BallsAndBins }

func (b ballsAndBins) Rate() float64 { return 1 / float64(b.batches) }

func (b ballsAndBins) Relations() []event.Relation { return []event.Relation{event.AddRemove} }

func (b ballsAndBins) Event(steps int, of event.Event) event.Event {
	return event.SelfComposed{Of: event.BallsAndBins{Batches: b.batches, Of: of}, Count: b.epochs(steps)}
}

func (b ballsAndBins) bind(n, first int, src *noise.Stream) drawer {
	return &ballsAndBinsDraw{
		epoch:   b.epoch,
		first:   first,
		numbers: newBounded(src),
		bins:    make([]uint32, n),
		records: make([]uint32, n),
		ends:    make([]uint32, b.batches+1),
	}
}

// ballsAndBinsDraw sorts the records by bin once per epoch.
type ballsAndBinsDraw struct {
	epoch
	first   int // step that is drawn here
	numbers bounded
	bins    []uint32 // of every record
	records []uint32 // in the order of their bins
	ends    []uint32 // bin b is records[ends[b]:ends[b+1]]
	largest int      // size of the largest bin
	current uint64   // epoch + 1; 0 before the first
}

func (d *ballsAndBinsDraw) Draw(t int, dst []uint32) ([]uint32, bool) {
	number, bin := d.at(t)
	if d.torn(number, d.first) {
		return grown(dst, 0), false
	}
	if d.current != number+1 {
		d.fill(number)
		d.current = number + 1
	}
	batch := d.records[d.ends[bin]:d.ends[bin+1]]
	return append(grown(dst, d.largest), batch...), false
}

func (d *ballsAndBinsDraw) fill(number uint64) {
	d.numbers.seek(number)
	clear(d.ends)
	for i := 0; i < len(d.bins); {
		numbers := d.numbers.next(min(len(d.bins)-i, len(d.numbers.words)), uint32(d.batches), 0)
		for _, bin := range numbers {
			d.ends[bin]++
		}
		i += copy(d.bins[i:], numbers)
	}
	// Counts become the starts of the bins, and starts become ends as the
	// records are put in, last record first.
	sum := uint32(0)
	d.largest = 0
	for b := range d.batches {
		d.largest = max(d.largest, int(d.ends[b]))
		sum += d.ends[b]
		d.ends[b] = sum
	}
	d.ends[d.batches] = sum
	for i := len(d.bins) - 1; i >= 0; i-- {
		bin := d.bins[i]
		d.ends[bin]--
		d.records[d.ends[bin]] = uint32(i)
	}
}
