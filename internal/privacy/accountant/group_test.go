package accountant

import (
	"errors"
	"math"
	"strings"
	"testing"

	"d3p/internal/privacy/accountant/pairs"
	"d3p/internal/privacy/event"
)

// poissonRun is T Poisson-sampled Gaussian steps.
func poissonRun(q, sigma float64, steps int64) event.Event {
	return event.SelfComposed{Of: event.PoissonSampled{Rate: q, Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: steps}
}

// A full batch moves by K for a group of K records, by 2K where they are replaced.
func TestGroupsOfGaussians(t *testing.T) {
	const steps, sigma, delta = 50, 30, 1e-6
	full := event.SelfComposed{Of: event.Gaussian{NoiseMultiplier: sigma}, Count: steps}
	for rel, moved := range map[event.Relation]float64{event.AddRemove: 1, event.ZeroOut: 1, event.Substitute: 2} {
		for _, size := range []int{1, 2, 7, MostGroup} {
			got, err := GroupEpsilon(full, rel, size, delta)
			if err != nil {
				t.Fatal(err)
			}
			want := gaussianEpsilon(moved*float64(size)*math.Sqrt(steps)/sigma, delta)
			if math.Abs(got.Upper-want) > 1e-9*want || !got.Certified {
				t.Errorf("%s, %d records: %+v, want %v", rel, size, got, want)
			}
		}
	}
	black := event.Composed{Events: []event.Event{event.EpsilonDelta{Epsilon: 0.1}, event.EpsilonDelta{Epsilon: 0.2, Delta: 1e-9}}}
	if got, err := GroupEpsilon(black, event.AddRemove, 3, 1e-7); err != nil || math.Abs(got.Upper-0.9) > 1e-5 {
		t.Errorf("(0.1, 0) and (0.2, 1e-9) for three records: %+v, %v", got, err)
	}
	if _, err := GroupEpsilon(event.EpsilonDelta{Epsilon: 1, Delta: 0.1}, event.AddRemove, 9, 0.5); err == nil {
		t.Error("a delta above 1 was accounted")
	}
}

// Two records of a group may move a sum in different directions, and one may move it
// by less: none of it is farther from a table without them than the pair, which has
// both in one direction. δ by brute force, of one step in the plane.
func TestGroupsInAllDirections(t *testing.T) {
	t.Parallel()
	const q, s = 0.3, 0.8
	half := q * (1 - q)
	for _, c := range []struct{ length, angle float64 }{{1, 0}, {1, 1}, {1, math.Pi}, {0.5, 0}, {0.7, 2}} {
		b := [2]float64{c.length * math.Cos(c.angle), c.length * math.Sin(c.angle)}
		shifts := []struct{ weight, x, y float64 }{
			{(1 - q) * (1 - q), 0, 0}, {half, 1, 0}, {half, b[0], b[1]}, {q * q, 1 + b[0], b[1]},
		}
		for _, epsilon := range []float64{0, 0.5, 2} {
			removed, added := 0.0, 0.0
			const step = 0.04
			for x := -7.; x < 9; x += step {
				for y := -7.; y < 9; y += step {
					none, mixed := 0.0, 0.0
					for i, m := range shifts {
						p := math.Exp(-((x-m.x)*(x-m.x)+(y-m.y)*(y-m.y))/(2*s*s)) / (2 * math.Pi * s * s)
						if mixed += m.weight * p; i == 0 {
							none = p
						}
					}
					removed += math.Max(0, mixed-math.Exp(epsilon)*none) * step * step
					added += math.Max(0, none-math.Exp(epsilon)*mixed) * step * step
				}
			}
			g := pairs.NewSampledGroup(s, q, 2)
			const slack = 1e-4 // of the brute force
			for add, got := range map[bool]float64{false: removed, true: added} {
				want := pairs.SingleDelta(g.Pair(add), epsilon)
				if got > want+slack || c == struct{ length, angle float64 }{1, 0} && got < want-slack {
					t.Errorf("second record %+v, epsilon %v, add %v: delta %v, of the pair %v", c, epsilon, add, got, want)
				}
			}
		}
	}
}

// The price of a group grows with it, is what it was for one record, and is below what
// the general lemma says.
func TestGroupsGrow(t *testing.T) {
	t.Parallel()
	const delta = 1e-5
	run := poissonRun(0.01, 5, 1000)
	one, err := Epsilon(run, event.AddRemove, delta)
	if err != nil {
		t.Fatal(err)
	}
	last := 0.0
	for _, size := range []int{1, 2, 8} {
		got, err := GroupEpsilon(run, event.AddRemove, size, delta)
		if err != nil {
			t.Fatal(err)
		}
		if size == 1 && got.Upper != one.Upper || got.Lower <= last || !got.Certified || got.RelativeWidth() > 1e-4 {
			t.Errorf("%d records: %+v after %v", size, got, last)
		}
		last = got.Upper
		if size == 1 {
			continue
		}
		loose, err := GroupLemma(run, event.AddRemove, size, delta)
		if err != nil || loose.Upper < got.Lower {
			t.Errorf("%d records: the lemma says %v (%v), below %v", size, loose.Upper, err, got.Lower)
		}
	}
}

// Where no pair of a group is known there is the lemma.
func TestGroupsByTheLemma(t *testing.T) {
	t.Parallel()
	const size, delta = 3, 1e-5
	var unsupported *UnsupportedError
	gaussian := event.Gaussian{NoiseMultiplier: 20}
	for name, c := range map[string]struct {
		of  event.Event
		rel event.Relation
	}{
		"fixed size":     {event.FixedSizeSampled{Population: 1000, Batch: 10, Of: gaussian}, event.AddRemove},
		"balls and bins": {event.BallsAndBins{Batches: 10, Of: gaussian}, event.AddRemove},
		"substitution":   {event.PoissonSampled{Rate: 0.01, Of: gaussian}, event.Substitute},
	} {
		run := event.SelfComposed{Of: c.of, Count: 20}
		if _, err := GroupEpsilon(run, c.rel, size, delta); !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "pair of 3 records is known") {
			t.Errorf("%s: %v", name, err)
		}
		got, err := GroupLemma(run, c.rel, size, delta)
		if err != nil {
			t.Fatal(name, err)
		}
		one, err := Delta(run, c.rel, got.Upper/size)
		if err != nil {
			t.Fatal(name, err)
		}
		if d := one.Upper * geometric(size, got.Upper/size); got.Certified || got.Engine != engineLemma || d > delta || d < 0.5*delta {
			t.Errorf("%s: %+v: delta %v by the lemma, want at most %v", name, got, d, delta)
		}
	}
}

func TestGroupsOutOfRange(t *testing.T) {
	var bad *InputError
	for name, bound := range map[string]func(event.Event, event.Relation, int, float64) (Answer, error){"pairs": GroupEpsilon, "lemma": GroupLemma} {
		for _, size := range []int{0, -1, MostGroup + 1} {
			if _, err := bound(poissonRun(0.1, 1, 1), event.AddRemove, size, 1e-5); !errors.As(err, &bad) {
				t.Errorf("%s, %d records: %v", name, size, err)
			}
		}
		for _, delta := range []float64{-1, 1, math.NaN()} {
			if _, err := bound(poissonRun(0.1, 1, 1), event.AddRemove, 2, delta); !errors.As(err, &bad) {
				t.Errorf("%s, delta %v: %v", name, delta, err)
			}
		}
		if _, err := bound(event.NonPrivate{}, event.AddRemove, 2, 1e-5); err == nil {
			t.Errorf("%s: a release without noise was accounted", name)
		}
	}
	var infeasible *InfeasibleError
	if _, err := GroupLemma(poissonRun(0.5, 0.05, 1000), event.AddRemove, MostGroup, 1e-5); !errors.As(err, &infeasible) {
		t.Errorf("a group without a bound: %v", err)
	}
}

// The inverse of a group's loss is one, over the whole range of the loss.
func TestGroupLossAndInverse(t *testing.T) {
	for _, c := range []struct {
		s, q float64
		size int
	}{{0.05, 0.5, 3}, {1, 1e-9, MostGroup}, {40, 0.2, 10}, {0.5, 0.99, 2}} {
		g := pairs.NewSampledGroup(c.s, c.q, c.size)
		for z := -10.; z < 40; z += 0.37 {
			x := z * c.s
			l := g.Loss(x)
			back := g.Inverse(l)
			if again := g.Loss(back); math.Abs(again-l) > 1e-12*math.Max(math.Abs(l), g.Some) {
				t.Errorf("%+v: loss %v at %v comes back as %v at %v", c, l, x, again, back)
			}
		}
		if !math.IsInf(g.Inverse(math.Log1p(-g.Some)-1), -1) {
			t.Errorf("%+v: a loss below all has an outcome", c)
		}
	}
}
