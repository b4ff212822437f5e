package posterior

import (
	"math"
	"testing"

	"d3p/internal/models/guide"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// Draws follow N(m, s² + var_dp) in every coordinate.
func TestDrawsHaveTotalVariance(t *testing.T) {
	post := &Posterior{
		Guide: guide.NewMeanField(2), Lambda: []float64{1, -2, math.Log(0.3), math.Log(2)},
		LogSD: []float64{math.Log(0.3), math.Log(2)}, VarDP: []float64{0.16, 0},
	}
	post.Mean = post.Lambda[:2]
	sd, share := make([]float64, 2), make([]float64, 2)
	post.SD(sd)
	post.NoiseShare(share)
	for j, want := range [][2]float64{{0.5, 0.64}, {2, 0}} {
		if math.Abs(sd[j]-want[0]) > 1e-12 || math.Abs(share[j]-want[1]) > 1e-12 {
			t.Errorf("coordinate %d: sd %g, noise share %g, want %v", j, sd[j], share[j], want)
		}
	}

	const n = 20000
	draws := make([]float64, 2*n)
	post.Draws(draws, noise.Public(1).Stream(noise.PosteriorDraws))
	for j := range 2 {
		column := make([]float64, n)
		for i := range column {
			column[i] = draws[2*i+j]
		}
		p := stattest.KolmogorovSmirnov(column, func(x float64) float64 {
			return math.Erfc(-(x-post.Mean[j])/(sd[j]*math.Sqrt2)) / 2
		})
		stattest.Require(t, "draws", p)
	}
}
