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

// A record moves the sum of a step by at most C, whatever its values and λ; with a clip norm in
// reach of it, by that.
func TestDPVI2017Clips(t *testing.T) {
	d, err := newDPVI2017(drawnMixture(10))
	if err != nil {
		t.Fatal(err)
	}
	p := d.model.P
	lambda, with, without := make([]float64, 2*p), make([]float64, 2*p), make([]float64, 2*p)
	for k := range 20 {
		rng := noise.NewRandom(noise.Public(uint64(k)).Stream(noise.Simulation))
		for j := range lambda {
			lambda[j] = rng.Normal()
		}
		at := func(dst, batch []float64) {
			d.gradient(dst, lambda, batch, noise.NewRandom(noise.Public(uint64(k+100)).Stream(noise.Simulation)))
		}
		at(without, nil)
		at(with, []float64{6, -6})
		length := 0.0
		for j := range with {
			length += (with[j] - without[j]) * (with[j] - without[j])
		}
		if length = math.Sqrt(length) * mixtureRate; length > mixtureClip*(1+1e-12) || length < mixtureClip/10 {
			t.Errorf("λ %d: a record moves the sum by %g, the clip norm is %g", k, length, mixtureClip)
		}
	}
}

// Without noise the algorithm comes near the true mixture, and noise of 30 C takes it away.
func TestDPVI2017Fits(t *testing.T) {
	r := drawnMixture(2000)
	d, err := newDPVI2017(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ multiplier, least, most float64 }{{0, -4.1, gmmReferenceTruth}, {30, -20, -4.3}} {
		rng := noise.NewRandom(noise.Public(1).Stream(noise.Simulation))
		got, err := d.score(r, d.fit(c.multiplier, rng), rng)
		if err != nil || got < c.least || got > c.most {
			t.Errorf("noise %g: log density %g, %v; want within %g and %g", c.multiplier, got, err, c.least, c.most)
		}
	}
}
