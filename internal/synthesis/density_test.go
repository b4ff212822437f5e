package synthesis

import (
	"math"
	"testing"

	"d3p/internal/privacy/noise"
)

// skewed are distributions whose tails have few records, under bounds that are wide.
var skewed = []struct {
	name  string
	upper float64
	whole bool
	draw  func(r *noise.Random) float64
}{
	{"normal", 400, false, func(r *noise.Random) float64 { return 120 + 15*r.Normal() }},
	{"lognormal", 1e6, false, func(r *noise.Random) float64 { return math.Exp(10 + 0.7*r.Normal()) }},
	{"count", 100, true, func(r *noise.Random) float64 { return math.Floor(-3 * math.Log(r.Uniform())) }},
	{"spike and lognormal", 50000, true, func(r *noise.Random) float64 {
		if r.Uniform() < 0.6 {
			return 0
		}
		return math.Round(math.Exp(6 + r.Normal()))
	}},
}

// The standard deviation of a column is that of its records although the noise of its tail,
// which has hardly any records, is as large as the counts of some bins.
func TestTailsKeepTheirSpread(t *testing.T) {
	const records, fineNoise, binNoise = 5000, 60, 40
	for _, s := range skewed {
		mean := 0.0
		const repeats = 10
		for seed := range uint64(repeats) {
			r := noise.NewRandom(noise.Public(seed).Stream(noise.Twin))
			c := Column{Whole: s.whole, Upper: s.upper, Cuts: cuts(0, s.upper, s.whole)}
			var values, ones []float64
			for range records {
				values, ones = append(values, min(max(0, s.draw(r)), s.upper)), append(ones, 1)
			}
			got := fitted(&c, values, fineNoise, binNoise, r)
			var at, weights []float64
			const points = 100
			for b, y := range got {
				for i := range points {
					at, weights = append(at, c.value(b, (float64(i)+0.5)/points)), append(weights, y)
				}
			}
			mean += spread(at, weights) / spread(values, ones) / repeats
		}
		if mean < 0.85 || mean > 1.15 {
			t.Errorf("%s: the standard deviation is %.2f times that of the records", s.name, mean)
		}
	}
}

// Counts that are noisy become closer to the smooth distribution they come from, and those of
// spikes stay.
func TestSmoothCountsAreCloser(t *testing.T) {
	const records, fineNoise, binNoise = 10000, 60, 40
	raw, got := 0.0, 0.0
	for seed := range uint64(5) {
		r := noise.NewRandom(noise.Public(seed).Stream(noise.Twin))
		c := Column{Upper: 400, Cuts: cuts(0, 400, false)}
		var values []float64
		for i := range records {
			x := 120 + 20*r.Normal()
			if i%10 == 0 {
				x = 150 // a spike
			}
			values = append(values, x)
		}
		fine := make([]float64, c.fine())
		for _, x := range values {
			fine[c.cell(x)]++
		}
		counts := fitted(&c, values, fineNoise, binNoise, r)
		spike := 0.0
		for b, y := range counts {
			truth := 0.0
			for i := c.Bins[b]; i < c.next(b); i++ {
				truth += fine[i]
			}
			got += math.Abs(y - truth)
			raw += 0.8 * binNoise // the mean of |N(0, 1)|
			if b+1 < len(c.Bins) && c.Cuts[c.Bins[b]-min(c.Bins[b], 1)] == 150 {
				spike = y
			}
		}
		if spike < records/10 {
			t.Errorf("seed %d: the spike of %d has %.0f", seed, records/10, spike)
		}
	}
	if got > 0.75*raw {
		t.Errorf("counts are off by %.2f of their noise", got/raw)
	}
}

// Without records, or with noise far above them, a column still has a shape.
func TestDensityOfNoise(t *testing.T) {
	for _, s := range skewed {
		for _, sd := range []float64{0.1, 1e3, 1e6} {
			r := noise.NewRandom(noise.Public(1).Stream(noise.Twin))
			c := Column{Whole: s.whole, Upper: s.upper, Cuts: cuts(0, s.upper, s.whole)}
			counts := fitted(&c, nil, sd, sd, r)
			for b, y := range counts {
				sum := 0.0
				for i := c.Bins[b]; i < c.next(b); i++ {
					sum += c.Shape[i]
				}
				if !(y >= 0) || !(sum > 0) || math.IsInf(y+sum, 0) {
					t.Fatalf("%s, noise %g: bin %d has the count %g and the shape %g", s.name, sd, b, y, sum)
				}
			}
		}
	}
}

// fitted makes bins of a column from noisy counts and returns its counts.
func fitted(c *Column, values []float64, fineNoise, binNoise float64, r *noise.Random) []float64 {
	fine := make([]float64, c.fine())
	for _, x := range values {
		fine[c.cell(x)]++
	}
	counts := make([]float64, c.fine())
	for i, y := range fine {
		counts[i] = y + fineNoise*r.Normal()
	}
	c.bin(counts, fineNoise)
	bins := make([]float64, c.bins())
	for b := range bins {
		for i := c.Bins[b]; i < c.next(b); i++ {
			bins[b] += fine[i]
		}
		bins[b] += binNoise * r.Normal()
	}
	c.shape(bins, binNoise*binNoise, counts, fineNoise)
	return c.estimated(bins, binNoise*binNoise)
}

// cell is the fine cell of a value.
func (c *Column) cell(x float64) int {
	i := 0
	for i < len(c.Cuts) && x >= c.Cuts[i] {
		i++
	}
	return i
}

// spread is the standard deviation of weighted values.
func spread(values, weights []float64) float64 {
	n, sum, squares := 0.0, 0.0, 0.0
	for i, x := range values {
		n += weights[i]
		sum += weights[i] * x
		squares += weights[i] * x * x
	}
	return math.Sqrt(squares/n - sum/n*sum/n)
}
