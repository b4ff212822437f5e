package accountant

import (
	"testing"

	"d3p/internal/privacy/event"
)

// A report asks for one curve and its dominating mu.
func BenchmarkDominatingMu(b *testing.B) {
	for name, ev := range map[string]event.Event{
		"gaussian": event.Gaussian{NoiseMultiplier: 3.73},
		"poisson":  event.SelfComposed{Of: event.PoissonSampled{Rate: 0.1, Of: event.Gaussian{NoiseMultiplier: 12}}, Count: 1000},
	} {
		curve, err := NewCurve(ev, event.AddRemove)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				curve.DominatingMu()
			}
		})
	}
}
