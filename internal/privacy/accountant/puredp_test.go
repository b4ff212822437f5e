package accountant

import (
	"errors"
	"testing"

	"d3p/internal/privacy/event"
)

// At delta 0 the largest losses add up, exactly where the scales are exact.
func TestPureMechanisms(t *testing.T) {
	t.Parallel()
	laplace := func(b float64, n int64) event.Event {
		return event.SelfComposed{Of: event.Laplace{NoiseMultiplier: b}, Count: n}
	}
	response := event.SelfComposed{Of: event.EpsilonDelta{Epsilon: 0.25}, Count: 3}
	for name, c := range map[string]struct {
		ev    event.Event
		rel   event.Relation
		group int
		want  float64
	}{
		"Laplace":             {laplace(10, 20), event.AddRemove, 1, 2},
		"Laplace, substitute": {laplace(10, 20), event.Substitute, 1, 4},
		"three records":       {laplace(10, 20), event.AddRemove, 3, 6},
		"randomised response": {response, event.AddRemove, 1, 0.75},
		"both":                {event.Composed{Events: []event.Event{laplace(8, 1), response}}, event.AddRemove, 1, 0.875},
		"a third":             {laplace(3, 1), event.AddRemove, 1, 1.0 / 3},
		"nothing":             {event.Composed{}, event.AddRemove, 1, 0},
	} {
		a, err := GroupEpsilon(c.ev, c.rel, c.group, 0)
		if err != nil || !a.Certified || a.Upper < c.want || a.Upper > c.want*(1+1e-14) || a.Lower > c.want {
			t.Errorf("%s: %+v, %v, want %v", name, a, err, c.want)
		}
		if c.group == 1 && c.want*3 != 1 && a.Upper != c.want {
			t.Errorf("%s: %v is not exactly %v", name, a.Upper, c.want)
		}
	}
	// 1/3 in floating point is below a third
	if a, _ := Epsilon(laplace(3, 1), event.AddRemove, 0); !(a.Upper > 1.0/3) {
		t.Errorf("a third is rounded down: %v", a.Upper)
	}
	for name, ev := range map[string]event.Event{
		"Gaussian": event.Gaussian{NoiseMultiplier: 2}, "a delta": event.EpsilonDelta{Epsilon: 1, Delta: 1e-9},
		"sampled":  event.PoissonSampled{Rate: 0.1, Of: event.Gaussian{NoiseMultiplier: 2}},
		"discrete": event.DiscreteGaussian{NoiseMultiplier: 2, Sensitivity: 1},
	} {
		var infeasible *InfeasibleError
		if a, err := Epsilon(ev, event.AddRemove, 0); !errors.As(err, &infeasible) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}
