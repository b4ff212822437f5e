package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestSynthetic(t *testing.T) {
	// By hand: mean 3, Between 1, Within (0.25+0.25+1)/3 = 0.5, T = 4/3 - 0.5.
	got := CombineSynthetic([]Estimate{{2, 0.5}, {3, 0.5}, {4, 1}}, 1)
	want := Combined{Value: 3, Error: math.Sqrt(4.0/3 - 0.5), DF: 1, Between: 1, Within: 0.5}
	if math.Abs(got.Error-want.Error) > 1e-15 || math.Abs(got.DF-want.DF) > 1e-15 || math.Abs(got.Value-3) > 1e-15 || math.Abs(got.Between-1) > 1e-15 || math.Abs(got.Within-0.5) > 1e-15 || got.Floored {
		t.Errorf("%+v, want %+v", got, want)
	}
	// Of four: mean 3, Between (4+0.25+0+6.25)/3 = 3.5, Within 0.25.
	if got := CombineSynthetic([]Estimate{{1, 0.5}, {2.5, 0.5}, {3, 0.5}, {5.5, 0.5}}, 1); math.Abs(got.DF-3*math.Pow(1-0.25/(1.25*3.5), 2)) > 1e-12 {
		t.Errorf("%+v", got)
	}
	// Values that agree more than their errors let them: T would be negative.
	got = CombineSynthetic([]Estimate{{3, 2}, {3, 2}}, 0.25)
	if got.Error != 1 || got.DF != 1 || !got.Floored {
		t.Errorf("%+v, want error 1 with 1 degree of freedom", got)
	}
}

// Where the truth is a draw from the posterior N(0, v), and tables are as d3p twin
// --separate makes them, 90 % intervals hold nine times in ten.
func TestSyntheticIntervalsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const m, v, u, repeats = 30, 4.0, 1.0, 4000
	held, mean := 0, 0.0
	for range repeats {
		truth := math.Sqrt(v) * rng.NormFloat64()
		var estimates []Estimate
		for range m {
			parameter := math.Sqrt(v) * rng.NormFloat64()
			estimates = append(estimates, Estimate{parameter + math.Sqrt(u)*rng.NormFloat64(), math.Sqrt(u)})
		}
		c := CombineSynthetic(estimates, 1)
		mean += c.Error * c.Error / repeats
		if math.Abs(c.Value-truth) < c.Error*(distuv.StudentsT{Sigma: 1, Nu: c.DF}).Quantile(0.95) {
			held++
		}
	}
	// T has mean v + (v+u)/m, standard deviation 1.37: P(|mean| > 6.11 of its
	// standard errors) < 1e-9.
	if want := v + (v+u)/m; math.Abs(mean-want) > 6.11*1.37/math.Sqrt(repeats) {
		t.Errorf("the mean variance is %g, want %g", mean, want)
	}
	// The t distribution is an approximation: 1 % for it, and 6.11 standard errors.
	if share := float64(held) / repeats; math.Abs(share-0.9) > 0.01+6.11*math.Sqrt(0.09/repeats) {
		t.Errorf("%g of the 90 %% intervals held", share)
	}
}
