package posterior

import (
	"slices"
	"testing"

	"d3p/internal/fit/plan"
)

func TestSampleIsReleasedDrawByDraw(t *testing.T) {
	draws := []float64{1, 10, 2, 20, 3, 30, 4, 40}
	p := OfSample(&plan.Plan{Latent: 2}, draws, 2)
	for s, want := range map[int][]float64{4: draws, 2: {1, 10, 3, 30}} {
		next, got := p.Sequence(s, nil), []float64{}
		for range s {
			theta := make([]float64, 2)
			next(theta)
			got = append(got, theta...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d draws: %v, want %v", s, got, want)
		}
	}
	if !slices.Equal(p.Mean, []float64{2.5, 25}) {
		t.Errorf("mean %v", p.Mean)
	}
}
