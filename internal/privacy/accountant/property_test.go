package accountant

import (
	"errors"
	"math"
	"os"
	"testing"

	"d3p/internal/privacy/event"
	"pgregory.net/rapid"
)

// soak multiplies the number of random cases when D3P_SOAK is set (make soak).
func soak(t *testing.T) {
	if os.Getenv("D3P_SOAK") == "" && testing.Short() {
		t.Skip("random search: run without -short")
	}
}

func logUniform(t *rapid.T, name string, lo, hi float64) float64 {
	return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(t, name))
}

// sampledRun draws a valid run from the whole range that the accountant
// promises to answer.
type sampledRun struct {
	scheme string
	q      float64
	sigma  float64
	steps  int64
	delta  float64
	rel    event.Relation
}

func anyRun() *rapid.Generator[sampledRun] {
	return rapid.Custom(func(t *rapid.T) sampledRun {
		r := sampledRun{
			scheme: rapid.SampledFrom([]string{"poisson", "poisson", "fixed_size"}).Draw(t, "scheme"),
			q:      logUniform(t, "q", 1e-9, 1),
			sigma:  logUniform(t, "sigma", 0.1, 1000),
			steps:  int64(logUniform(t, "steps", 1, 1e8)),
			delta:  logUniform(t, "delta", 1e-15, 0.1),
			rel:    rapid.SampledFrom([]event.Relation{event.AddRemove, event.Substitute}).Draw(t, "relation"),
		}
		if rapid.IntRange(0, 9).Draw(t, "full") == 0 {
			r.q = 1
		}
		return r
	})
}

func (r sampledRun) event() event.Event {
	var step event.Event = event.Gaussian{NoiseMultiplier: r.sigma}
	if r.scheme == "poisson" {
		step = event.PoissonSampled{Rate: r.q, Of: step}
	} else {
		const n = 1e9
		step = event.FixedSizeSampled{Population: n, Batch: max(1, int(r.q*n)), Of: step}
	}
	return event.SelfComposed{Of: step, Count: r.steps}
}

func (r sampledRun) epsilon(t *rapid.T) Answer {
	a, err := Epsilon(r.event(), r.rel, r.delta)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	if !(a.Lower >= 0 && a.Lower <= a.Estimate && a.Estimate <= a.Upper && a.Upper < math.Inf(1)) {
		t.Fatalf("%+v: not an ordered finite bracket: %+v", r, a)
	}
	if !a.Certified {
		t.Logf("%+v: only a Rényi bound: %+v", r, a)
	}
	return a
}

// Every valid input has an ordered, certified, non-negative answer, and the
// Rényi accountant is never below it.
func TestEveryInputHasAnAnswer(t *testing.T) {
	soak(t)
	rapid.Check(t, func(t *rapid.T) {
		r := anyRun().Draw(t, "run")
		a := r.epsilon(t)
		if !a.Certified {
			t.Errorf("%+v: not certified: %+v", r, a)
		}
		var unsupported *UnsupportedError
		loose, err := Renyi(r.event(), r.rel, r.delta)
		switch {
		case errors.As(err, &unsupported):
		case err != nil:
			t.Fatal(err)
		case loose.Epsilon < a.Lower*(1-1e-9):
			t.Errorf("%+v: Rényi %v is below the certified lower %v", r, loose.Epsilon, a.Lower)
		}
	})
}
