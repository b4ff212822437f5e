package report

import (
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// ZCDP is zero-concentrated differential privacy. Bun and Steinke 2016,
// arXiv:1605.02065.
type ZCDP struct {
	Rho float64 `json:"rho"`
}

// Variant is the epsilon of the claim on other grounds, at its delta.
type Variant struct {
	Label   string  `json:"label"`
	Epsilon float64 `json:"epsilon"`
}

// zcdp is the sum of s^2/(2 sigma^2) over Gaussian releases, where one unit moves a sum by
// s clip norms: 1, or 2 if it is substituted. nil for other events: a sampled Gaussian has
// no useful rho.
func zcdp(ev event.Event, rel event.Relation) *ZCDP {
	switch ev := ev.(type) {
	case event.Gaussian:
		shift := 1.0
		if rel == event.Substitute {
			shift = 2
		}
		return &ZCDP{shift * shift / (2 * ev.NoiseMultiplier * ev.NoiseMultiplier)}
	case event.SelfComposed:
		if one := zcdp(ev.Of, rel); one != nil {
			return &ZCDP{float64(ev.Count) * one.Rho}
		}
	case event.Composed:
		total := &ZCDP{}
		for _, part := range ev.Events {
			one := zcdp(part, rel)
			if one == nil {
				return nil
			}
			total.Rho += one.Rho
		}
		return total
	}
	return nil
}

// variants states how much of the claim depends on secret batches.
func variants(ev event.Event, rel event.Relation, delta float64) ([]Variant, error) {
	whole, sampled := unsampled(ev)
	if !sampled {
		return []Variant{}, nil
	}
	answer, err := accountant.Epsilon(whole, rel, delta)
	return []Variant{{"without amplification: if an attacker knew who is in which batch", answer.Upper}}, err
}

// unsampled is ev with all records in every batch. sampled reports Poisson or fixed-size
// batches in ev.
func unsampled(ev event.Event) (whole event.Event, sampled bool) {
	switch ev := ev.(type) {
	case event.PoissonSampled:
		return ev.Of, true
	case event.FixedSizeSampled: // a record still displaces another one
		return event.FixedSizeSampled{Population: ev.Batch, Batch: ev.Batch, Of: ev.Of}, true
	case event.SelfComposed:
		of, sampled := unsampled(ev.Of)
		return event.SelfComposed{Of: of, Count: ev.Count}, sampled
	case event.Composed:
		out := event.Composed{}
		for _, part := range ev.Events {
			of, one := unsampled(part)
			out.Events, sampled = append(out.Events, of), sampled || one
		}
		return out, sampled
	}
	return ev, false
}
