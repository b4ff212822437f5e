package sampler

import (
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// full puts every record into every batch.
type full struct{}

func newFull(cfg Config) (scheme, error) { return full{}, nil }

func (full) Scheme() string { return Full }

func (full) Rate() float64 { return 1 }

func (full) Relations() []event.Relation {
	return []event.Relation{event.AddRemove, event.Substitute}
}

func (full) Event(steps int, of event.Event) event.Event {
	return event.SelfComposed{Of: of, Count: int64(steps)}
}

func (full) bind(int, int, *noise.Stream) drawer { return full{} }

func (full) Draw(int, []uint32) ([]uint32, bool) { return nil, true }
