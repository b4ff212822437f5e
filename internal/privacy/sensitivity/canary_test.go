package sensitivity

import (
	"math/rand/v2"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
)

// TestCanaryIsClipped: the search finds a record whose gradient is as long as C where
// the declarations admit one, and the longest where they do not.
func TestCanaryIsClipped(t *testing.T) {
	m := modelstest.Read(t, "../../../configs/logistic.yaml")
	target := Target{Model: Model{Name: "logistic", Tape: m.Likelihood, Encoding: &m.Encoding}, Engine: cpu.New(cpu.Options{Threads: 1})}
	theta := make([]float64, m.P)
	for norm, least := range map[float64]float64{0.1: 0.999999, 1000: 1e-4} {
		found, err := Canary(target, theta, privacy.Clip{Kind: privacy.Flat, Norm: norm}, rand.New(rand.NewPCG(1, 1)), 10)
		if err != nil {
			t.Fatal(err)
		}
		if found.Record == nil || found.Moved < least || found.Fault() {
			t.Errorf("C = %v: a record moves the sum by %v C, want at least %v", norm, found.Moved, least)
		}
	}
}
