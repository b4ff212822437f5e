package accountant

import (
	"math"
	"testing"

	"d3p/internal/privacy/accountant/grids"
	"d3p/internal/privacy/event"
)

// The setting of d3p's paper: MNIST, batches of 128, 20 epochs. Each benchmark
// reports its time over that of the peers, as testdata has it from the reference
// file (their machine, two cores).

func BenchmarkAccountCertified(b *testing.B) {
	for b.Loop() {
		mustEpsilon(b, mnist(1.5), event.AddRemove, 1.0/60000)
	}
	reportPeers(b, find(b, loadReference(b).Epsilon, "P-AR-181"))
}

func BenchmarkSigma(b *testing.B) {
	for b.Loop() {
		if _, err := CalibrateNoise(Target{Epsilon: 0.5, Delta: 1.0 / 60000}, event.AddRemove, mnist); err != nil {
			b.Fatal(err)
		}
	}
	reportPeers(b, find(b, loadReference(b).Sigma, "C-000"))
}

func find(b *testing.B, runs []referenceRun, id string) referenceRun {
	for _, r := range runs {
		if r.ID == id {
			return r
		}
	}
	b.Fatalf("testdata has no %s", id)
	return referenceRun{}
}

// reportPeers reports the time of an operation over the seconds of every peer.
func reportPeers(b *testing.B, r referenceRun) {
	if len(r.PeerSeconds) == 0 {
		b.Fatalf("%s has no times of peers", r.ID)
	}
	own := b.Elapsed().Seconds() / float64(b.N)
	for peer, seconds := range r.PeerSeconds {
		b.ReportMetric(own/seconds, "times/"+peer)
	}
}

// The contour engine alone, one direction.
func BenchmarkContour(b *testing.B) {
	comp, err := compile(mnist(1.5), event.AddRemove)
	if err != nil {
		b.Fatal(err)
	}
	d := comp.directions[0]
	logDelta := math.Log(1.0 / 60000)
	for b.Loop() {
		d.prepare(1.0/60000, nil)
		tail := grids.TailShare / 60000 / d.Steps()
		c := d.Compose(tail, 1)
		theta, bound := c.ChernoffEpsilon(logDelta)
		if _, _, ok := d.contourEpsilon(c, tail, theta, bound, logDelta); !ok {
			b.Fatal("no convergence")
		}
	}
}

func BenchmarkCurve(b *testing.B) {
	for b.Loop() {
		mustCurve(b, mnist(1.5), event.AddRemove)
	}
}

// The slowest calibration of the reference file: rare events decide.
func BenchmarkWorstSigma(b *testing.B) {
	for b.Loop() {
		if _, err := CalibrateNoise(Target{Epsilon: 1, Delta: 1e-5}, event.AddRemove, func(sigma float64) event.Event {
			return event.SelfComposed{Of: event.PoissonSampled{Rate: 1e-5, Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: 1e6}
		}); err != nil {
			b.Fatal(err)
		}
	}
	reportPeers(b, find(b, loadReference(b).Sigma, "C-017"))
}

func BenchmarkBallsAndBins(b *testing.B) {
	ev := event.SelfComposed{Of: event.BallsAndBins{Batches: 469, Of: event.Gaussian{NoiseMultiplier: 1.5}}, Count: 20}
	for b.Loop() {
		mustEpsilon(b, ev, event.AddRemove, 1.0/60000)
	}
}
