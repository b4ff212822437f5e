// Package event describes private mechanisms as plain data. A run records events; an
// accountant interprets them, and a better accountant can interpret the same events
// later.
//
// The vocabulary follows dp_accounting.DpEvent (Google, Apache-2.0), so a
// ledger can be checked with that library; see MarshalDpEvent.
package event

import "slices"

// Event is one of the types of this package. All parameters are public.
type Event interface{ isEvent() }

// Gaussian is one release of a sum with independent normal noise. The L2 norm
// of one record's contribution is at most C.
type Gaussian struct {
	NoiseMultiplier float64 // noise standard deviation / C, positive
}

// Laplace is one release of a sum with independent Laplace noise of scale b.
// The L1 norm of one record's contribution is at most C.
type Laplace struct {
	NoiseMultiplier float64 // b / C, positive
}

// DiscreteGaussian is one release of a single integer with discrete Gaussian
// noise, P(k) proportional to exp(-k²/(2σ²)) with σ = NoiseMultiplier·Sensitivity.
// Canonne, Kamath, Steinke 2020, arXiv:2004.00010.
type DiscreteGaussian struct {
	NoiseMultiplier float64 // σ / Sensitivity, positive
	Sensitivity     int     // largest change of the integer by one record, at least 1
}

// EpsilonDelta is a step known only by its (ε, δ) guarantee, for the neighbouring
// relation of the ledger.
type EpsilonDelta struct {
	Epsilon float64 // >= 0
	Delta   float64 // in [0, 1)
}

// PoissonSampled applies Of to a sample that holds every record independently
// with probability Rate.
type PoissonSampled struct {
	Rate float64 // q in (0, 1]
	Of   Event
}

// FixedSizeSampled applies Of to a uniformly chosen subset of exactly Batch of
// Population records, drawn without replacement and independently of all else.
type FixedSizeSampled struct {
	Population, Batch int
	Of                Event
}

// BallsAndBins is one epoch of Batches steps: every record goes to one batch
// chosen uniformly and independently, and Of is applied to each batch.
// Chua et al. 2024, arXiv:2412.16802.
type BallsAndBins struct {
	Batches int // steps of one epoch, m >= 1
	Of      Event
}

// Shuffled is one epoch with every record in exactly one batch, at positions of a secret or
// public permutation. It claims no amplification.
type Shuffled struct {
	Of Event
}

// SelfComposed is Count adaptive repetitions of Of.
type SelfComposed struct {
	Of    Event
	Count int64 // >= 0
}

// Composed is the adaptive composition of Events.
type Composed struct {
	Events []Event
}

// Selected is the best of several trials. A trial is one of Of, chosen uniformly, and its
// output holds a score. After each trial the selection stops with probability Stop. Only
// the output with the highest score leaves; the number of trials and all other outputs
// stay secret. Liu and Talwar 2019, arXiv:1811.07971.
type Selected struct {
	Stop float64 // in (0, 1]; the mean number of trials is 1/Stop
	Of   []Event
}

// NonPrivate is a release without any guarantee.
type NonPrivate struct{}

func (Gaussian) isEvent()         {}
func (Laplace) isEvent()          {}
func (DiscreteGaussian) isEvent() {}
func (EpsilonDelta) isEvent()     {}
func (PoissonSampled) isEvent()   {}
func (FixedSizeSampled) isEvent() {}
func (BallsAndBins) isEvent()     {}
func (Shuffled) isEvent()         {}
func (SelfComposed) isEvent()     {}
func (Composed) isEvent()         {}
func (Selected) isEvent()         {}
func (NonPrivate) isEvent()       {}

// OfOneRelation reports whether ev has a step that is given by its guarantee alone: a
// statement about one neighbouring relation that implies none about another.
func OfOneRelation(ev Event) bool {
	_, ok := ev.(EpsilonDelta)
	return ok || slices.ContainsFunc(within(ev), OfOneRelation)
}

// Together is the composition of a list of events; a single event stays itself.
func Together(list []Event) Event {
	if len(list) == 1 {
		return list[0]
	}
	return Composed{Events: list}
}

// Flat is ev without compositions inside of compositions: the same events in the same order.
func Flat(ev Event) Event {
	whole, ok := ev.(Composed)
	if !ok {
		return ev
	}
	var list []Event
	for _, of := range whole.Events {
		if inner, ok := Flat(of).(Composed); ok {
			list = append(list, inner.Events...)
		} else {
			list = append(list, of)
		}
	}
	return Composed{Events: list}
}
