package sampler

import (
	"math"

	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// poisson puts every record into every batch independently with probability q.
// The batch is drawn as its size, exactly Binomial(n, q), and then a subset of that
// size.
type poisson struct {
	q       float64
	batches string
}

func newPoisson(cfg Config) (scheme, error) {
	q, err := cfg.rate()
	return poisson{q, cfg.Batches}, err
}

func (p poisson) Scheme() string { return Poisson }

func (p poisson) Rate() float64 { return p.q }

func (p poisson) Relations() []event.Relation {
	return []event.Relation{event.AddRemove, event.Substitute}
}

func (p poisson) Event(steps int, of event.Event) event.Event {
	return event.SelfComposed{Of: event.PoissonSampled{Rate: p.q, Of: of}, Count: int64(steps)}
}

func (p poisson) bind(n, _ int, src *noise.Stream) drawer {
	if p.q == 1 {
		return full{}
	}
	mean := float64(n) * p.q
	return &poissonDraw{
		size:    noise.NewBinomial(uint64(n), p.q),
		usual:   min(n, int(mean+8*math.Sqrt(mean)+32)),
		src:     src,
		subsets: newSubsets(p.batches, n, src),
	}
}

type poissonDraw struct {
	size    *noise.Binomial
	usual   int // a size that is practically never exceeded
	src     *noise.Stream
	subsets subsets
}

func (d *poissonDraw) Draw(t int, dst []uint32) ([]uint32, bool) {
	k := d.sizeOf(t)
	return d.subsets.draw(grown(dst, max(k, d.usual)), step(t), k), false
}

// sizeOf is the size of step t's batch.
func (d *poissonDraw) sizeOf(t int) int {
	d.src.Seek(step(t))
	return int(d.size.Draw(d.src))
}

func (d *poissonDraw) network() *Network { return networkOf(d.subsets, d.sizeOf) }
