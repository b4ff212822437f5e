package accountant

import (
	"testing"

	"d3p/internal/privacy/event"
)

func TestReferenceBallsAndBins(t *testing.T) {
	for _, r := range loadReference(t).BallsAndBins {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			ev := event.SelfComposed{Of: event.BallsAndBins{Batches: r.Batches, Of: event.Gaussian{NoiseMultiplier: r.Sigma}}, Count: r.Epochs}
			a, err := Epsilon(ev, event.AddRemove, r.Delta)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v want %v in %.3fs", a.Directions, r.Extrapolated, a.Seconds)
			// The extrapolated value is good to about 1e-4 (reference meta).
			checkBracket(t, a.Lower, a.Upper, r.Extrapolated*(1-1e-4), r.EpsilonUpper)
			if a.Lower > r.Extrapolated*(1+1e-4) {
				t.Errorf("lower %v is above the extrapolated %v", a.Lower, r.Extrapolated)
			}
		})
	}
}
