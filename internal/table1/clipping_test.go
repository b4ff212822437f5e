package table1

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/privacy/event"
)

// Two equal columns are correlated by 1, about whichever centres their moments are.
func TestMomentsAreCentred(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sums := make([]float64, 6)
	for range 1000 {
		z := rng.NormFloat64()
		x := [3]float64{1, z + 0.4, 2*z - 0.7}
		at := 0
		for i := range x {
			for j := i; j < 3; j++ {
				sums[at] += x[i] * x[j]
				at++
			}
		}
	}
	if rho, sd := centred(sums, make([]float64, 3), sums[0], 0).correlation(2, 1); math.Abs(rho-1) > 1e-12 || sd != 0 {
		t.Errorf("a correlation of %g ± %g, want 1", rho, sd)
	}
}

// wideTable has two columns with standard deviations of 1 and 10 that the bounds leave thirty
// times as much room, correlated by .9.
func wideTable(t *testing.T, n int) (m *models.Model, data string) {
	t.Helper()
	m, err := models.Read("wide.yaml", []byte(fmt.Sprintf(`d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: %d}
  columns:
    u: {type: real, lower: -10, upper: 20}
    v: {type: real, lower: -100, upper: 200}
    y: {type: binary}
model:
  formula: y ~ u + v
  family: bernoulli
`, n)), nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString("u,v,y\n")
	for range n {
		z := rng.NormFloat64()
		fmt.Fprintf(&b, "%.4f,%.4f,%d\n", 5+z, 48+9*z+math.Sqrt(19)*rng.NormFloat64(), rng.IntN(2))
	}
	path := tableFile(t, b.String())
	return m, path
}

// Histograms whose cells are wider than the numbers are spread are corrected by the moments:
// standard deviations are right within what is said of them, and so is a correlation, whose
// sign and size clipping and centres would change.
func TestMomentsCorrectHistograms(t *testing.T) {
	const seeds = 30
	m, data := wideTable(t, 1000)
	square, z, rho, rhoZ := 0.0, 0.0, 0.0, 0.0
	for seed := range uint64(seeds) {
		p := Auto(m, muOf(1, event.AddRemove), 1000, event.AddRemove)
		l, _ := buy(t, m, data, 1, p, seed, event.AddRemove)
		for name, want := range map[string]float64{"u": 1, "v": 10} {
			c := l.Column(name)
			_, sd := c.Moments()
			square += math.Pow(math.Log(sd/want), 2) / (2 * seeds)
			z += math.Pow(math.Log(sd/want)/c.ScaleSD, 2) / (2 * seeds)
		}
		rho += l.Correlation[1] / seeds
		rhoZ += math.Pow((l.Correlation[1]-0.9)/l.CorrelationSD[1], 2) / seeds
	}
	t.Logf("log sd: error %.2f, in units of what is said of it %.2f; correlation %.3f, error in these units %.2f", math.Sqrt(square), math.Sqrt(z), rho, math.Sqrt(rhoZ))
	// The seeds are fixed: .12, .95, .74 and 1.23. Histograms alone have an error of .26.
	if math.Sqrt(square) > 0.16 || math.Sqrt(z) > 1.6 || rho < 0.7 || math.Sqrt(rhoZ) > 1.4 {
		t.Error("the law is farther from the table than it says")
	}
}

// Moments whose noise is half of the records are right on average: squares about means, which
// the noise of the means would make smaller, and scales, whose log has a long lower tail.
func TestNoisyMomentsAreRightOnAverage(t *testing.T) {
	const draws, rows, noise, histogram = 4000, 1000.0, 500.0, 0.4
	rng := rand.New(rand.NewPCG(3, 4))
	square, factor := 0.0, 0.0
	for range draws {
		mean := histogram * rng.NormFloat64() // of the records, in standard deviations about the histogram's
		sums := []float64{rows, rows * mean, rows * (1 + mean*mean)}
		for i := range sums {
			sums[i] += noise * rng.NormFloat64()
		}
		s := centred(sums, []float64{math.Inf(1), histogram}, rows, noise)
		square += s.square(1) / rows / draws
		r, _ := scaleOf(1, s.square(1)/rows, noise/rows)
		factor += r / draws
	}
	t.Logf("square %.3f, scale %.3f", square, factor)
	// A square's standard deviation is .6, so four standard errors are .04.
	if math.Abs(square-1) > 0.04 || math.Abs(factor-1) > 0.15 {
		t.Error("want 1 ± .04 and 1 ± .15")
	}
}
