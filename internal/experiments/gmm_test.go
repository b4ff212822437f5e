package main

import (
	"math"
	"testing"

	"d3p/internal/privacy/noise"
)

// drawnMixture is a replicate with points of the true mixture, without files.
func drawnMixture(n int) replicate {
	rng := noise.NewRandom(noise.Public(7).Stream(noise.Simulation))
	r := replicate{model: gmmModel}
	for i := range 2 * n {
		m := gmmMeans[int(rng.Uniform()*gmmComponents)]
		row := []float64{m[0] + math.Sqrt(gmmVariance)*rng.Normal(), m[1] + math.Sqrt(gmmVariance)*rng.Normal()}
		if i < n {
			r.train.rows = append(r.train.rows, row)
		} else {
			r.test.rows = append(r.test.rows, row)
		}
	}
	return r
}

// Without noise the algorithm comes near the true mixture, and noise of 30 C takes it away.
func TestDPVI2017Fits(t *testing.T) {
	r := drawnMixture(2000)
	for _, c := range []struct{ multiplier, least, most float64 }{{0, -4.1, gmmReferenceTruth}, {30, -20, -4.3}} {
		rng := noise.NewRandom(noise.Public(1).Stream(noise.Simulation))
		got, err := scoreDPVI2017(r, c.multiplier, rng)
		if err != nil || got < c.least || got > c.most {
			t.Errorf("noise %g: log density %g, %v; want within %g and %g", c.multiplier, got, err, c.least, c.most)
		}
	}
}
