package accountant

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"d3p/internal/privacy/event"
)

// logUniformly draws between lo and hi.
func logUniformly(r *rand.Rand, lo, hi float64) float64 {
	return lo * math.Exp(r.Float64()*math.Log(hi/lo))
}

// oddLedger draws a ledger that mixes schemes, few and many steps, much and little noise.
func oddLedger(r *rand.Rand) event.Composed {
	var c event.Composed
	for range 1 + r.IntN(5) {
		g := event.Gaussian{NoiseMultiplier: logUniformly(r, 0.2, 60)}
		count := int64(logUniformly(r, 1, 1e5))
		var of event.Event
		switch r.IntN(10) {
		case 0:
			of = event.Laplace{NoiseMultiplier: logUniformly(r, 0.5, 100)}
			count = int64(logUniformly(r, 1, 1000))
		case 1:
			of = event.EpsilonDelta{Epsilon: logUniformly(r, 1e-4, 2), Delta: logUniformly(r, 1e-20, 1e-15)}
			count = int64(logUniformly(r, 1, 1000))
		case 2:
			of, count = g, int64(logUniformly(r, 1, 100))
		case 3, 4, 5:
			n := int(logUniformly(r, 100, 1e6))
			of = event.FixedSizeSampled{Population: n, Batch: 1 + int(float64(n-1)*logUniformly(r, 1e-5, 1)), Of: g}
		default:
			of = event.PoissonSampled{Rate: logUniformly(r, 1e-7, 1), Of: g}
		}
		c.Events = append(c.Events, event.SelfComposed{Of: of, Count: count})
	}
	return c
}

// oddQuestion draws a ledger and asks for its epsilon or its delta.
func oddQuestion(seed uint64) (name string, ask func() (Answer, error)) {
	r := rand.New(rand.NewPCG(seed, 15))
	rel := []event.Relation{event.AddRemove, event.Substitute}[r.IntN(2)]
	ledger := oddLedger(r)
	if r.IntN(2) == 0 {
		delta := logUniformly(r, 1e-15, 0.1)
		return fmt.Sprintf("%v %+v: epsilon at delta %v", rel, ledger, delta), func() (Answer, error) { return Epsilon(ledger, rel, delta) }
	}
	epsilon := logUniformly(r, 1e-4, 30)
	return fmt.Sprintf("%v %+v: delta at epsilon %v", rel, ledger, epsilon), func() (Answer, error) { return Delta(ledger, rel, epsilon) }
}

// fourSegments draws four sampled segments and asks for their delta at a small epsilon
// under substitution.
func fourSegments(seed uint64) (name string, ask func() (Answer, error)) {
	r := rand.New(rand.NewPCG(seed, 16))
	var ledger event.Composed
	for range 4 {
		of := event.PoissonSampled{Rate: logUniformly(r, 1e-8, 1), Of: event.Gaussian{NoiseMultiplier: logUniformly(r, 0.3, 1000)}}
		ledger.Events = append(ledger.Events, event.SelfComposed{Of: of, Count: int64(logUniformly(r, 1, 1e5))})
	}
	epsilon := logUniformly(r, 1e-5, 1e-2)
	return fmt.Sprintf("substitute %+v: delta at epsilon %v", ledger, epsilon), func() (Answer, error) { return Delta(ledger, event.Substitute, epsilon) }
}

// Random odd ledgers: the mean and the longest time of a question, and how many brackets
// are wide. A refused ledger is counted and its reason logged. D3P_SOAK=k asks k times as
// many and logs those that are slow or wide.
func BenchmarkOddLedgers(b *testing.B) {
	var slowest, total time.Duration
	asked, refused, wide := 0, 0, 0
	const odd = 20
	for b.Loop() {
		for i := range (odd + 2) * max(1, soak) {
			name, ask := oddQuestion(uint64(asked))
			if i%(odd+2) >= odd {
				name, ask = fourSegments(uint64(asked))
			}
			start := time.Now()
			a, err := ask()
			took := time.Since(start)
			var unsupported *UnsupportedError
			var infeasible *InfeasibleError
			if errors.As(err, &unsupported) || errors.As(err, &infeasible) {
				refused, asked = refused+1, asked+1
				b.Logf("%d: refused: %v: %s", asked-1, err, name)
				continue
			}
			if err != nil {
				b.Fatalf("%d: %v: %s", asked, err, name)
			}
			width := a.RelativeWidth()
			if soaking && (took > time.Second || width > 1e-3) {
				b.Logf("%d: %v, %.2g wide, %v: %s", asked, took, width, a.Upper, name)
			}
			if width > 1.2*usualWidth {
				wide++
			}
			asked, total, slowest = asked+1, total+took, max(slowest, took)
		}
	}
	answered := float64(asked - refused)
	b.ReportMetric(total.Seconds()/answered, "s/question")
	b.ReportMetric(slowest.Seconds(), "s/slowest")
	b.ReportMetric(float64(wide)/answered, "wide/question")
	b.ReportMetric(float64(refused)/float64(asked), "refused/question")
}
