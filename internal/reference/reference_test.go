package reference

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"d3p/internal/cpu"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/nuts"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

const linear = `
d3p: 1
name: linear
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 40}
  columns:
    x: {type: real, lower: -10, upper: 10, scale: {center: 0, by: 1}}
    y: {type: real, lower: -100, upper: 100, scale: {center: 0, by: 1}}
core:
  params:
    a: normal(0, 2)
    b: normal(1, 0.5)
  rows:
    observe:
      y: normal(a + b * x, 1.5)
`

// curators opens curators on one table of records.
func curators(t *testing.T, m *models.Model, csv string) func(int) (*privacy.Curator, error) {
	t.Helper()
	path := modelstest.File(t, "data.csv", csv)
	root := noise.Insecure(1)
	table := privacy.NewTable(privacy.TableConfig{
		Data: path, Encoding: m.Encoding, Precision: privacy.Float64, Spare: m.Likelihood.K - m.Likelihood.K0, Root: root,
	})
	return func(chain int) (*privacy.Curator, error) {
		return privacy.NewCurator(privacy.CuratorConfig{
			Table: table, Engine: cpu.New(cpu.Options{Threads: 1}), Root: root.Child(uint64(chain)),
			Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Relation: event.AddRemove,
		})
	}
}

// TestSampleOfALinearModel compares with the conjugate posterior.
func TestSampleOfALinearModel(t *testing.T) {
	m := modelstest.Compile(t, "linear.yaml", linear)
	rng := rand.New(rand.NewPCG(4, 4))
	precision := mat.NewSymDense(2, []float64{1 / 4., 0, 0, 1 / 0.25})
	score := mat.NewVecDense(2, []float64{0, 1 / 0.25})
	csv := "x,y\n"
	const variance = 1.5 * 1.5
	for range 40 {
		x := 3 * rng.NormFloat64()
		y := 0.7 - 0.4*x + 1.5*rng.NormFloat64()
		csv += fmt.Sprintf("%.17g,%.17g\n", x, y)
		row := mat.NewVecDense(2, []float64{1, x})
		precision.SymRankOne(precision, 1/variance, row)
		score.AddScaledVec(score, y/variance, row)
	}
	var c mat.Cholesky
	c.Factorize(precision)
	var mean mat.VecDense
	var covariance mat.SymDense
	if c.SolveVecTo(&mean, score) != nil || c.InverseTo(&covariance) != nil {
		t.Fatal("singular")
	}
	s, err := Sample(context.Background(), m, curators(t, m, csv), Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	draws := s.Draws()
	n := float64(len(draws) / 2)
	for j := range m.P {
		var chains [][]float64
		for _, c := range s.Chains {
			var x []float64
			for i := j; i < len(c.Draws); i += m.P {
				x = append(x, c.Draws[i])
			}
			chains = append(chains, x)
		}
		d := nuts.Diagnose(chains)
		if !(d.RHat < 1.02) || d.BulkESS < 400 {
			t.Errorf("parameter %d: %+v", j, d)
		}
		sum, square := 0.0, 0.0
		for i := j; i < len(draws); i += 2 {
			z := (draws[i] - mean.AtVec(j)) / math.Sqrt(covariance.At(j, j))
			sum += z / n
			square += z * z / n
		}
		stattest.Require(t, "mean", stattest.Normal(sum*math.Sqrt(d.BulkESS)))
		stattest.Require(t, "variance", stattest.Normal((square-1)/math.Sqrt(2/(d.BulkESS/4))))
	}
}

// TestMissingRecordsAreNoAttraction: where a record's density overflows, the sum
// without it would be larger than with it, and chains would stay there.
func TestMissingRecordsAreNoAttraction(t *testing.T) {
	m := modelstest.Compile(t, "steep.yaml", strings.NewReplacer(
		"y: normal(a + b * x, 1.5)", "y: normal(exp(100 * a) + b * x, 1.5)").Replace(linear))
	csv := "x,y\n" + strings.Repeat("0,1\n", 40)
	open := curators(t, m, csv)
	tape, err := m.DensityTape()
	if err != nil {
		t.Fatal(err)
	}
	target, err := newTarget(m, tape, 0, open)
	if err != nil {
		t.Fatal(err)
	}
	defer target.close()
	gradient := make([]float64, 2)
	near, err := target.density(gradient, []float64{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	far, err := target.density(gradient, []float64{8, 0})
	if err != nil || !math.IsInf(far, -1) || math.IsInf(near, 0) {
		t.Errorf("log density %v where all is finite, %v where no record is (%v)", near, far, err)
	}
}

func TestSampleStops(t *testing.T) {
	m := modelstest.Compile(t, "linear.yaml", linear)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Sample(ctx, m, curators(t, m, "x,y\n1,1\n"), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := errors.New("broken")
	if _, err := Sample(context.Background(), m, func(int) (*privacy.Curator, error) { return nil, broken }, Options{}); !errors.Is(err, broken) {
		t.Errorf("no curator: %v", err)
	}
}

// TestFarPosterior: a predictor far from zero makes intercept and slope collinear and
// the start lie thousands of standard deviations away. The chains agree on the exact
// posterior's standard deviation all the same.
func TestFarPosterior(t *testing.T) {
	m := modelstest.Compile(t, "linear.yaml", strings.NewReplacer("lower: -10, upper: 10", "lower: 0, upper: 3000",
		"normal(0, 2)", "normal(0, 1000)", "normal(1, 0.5)", "normal(0, 100)").Replace(linear))
	rng := rand.New(rand.NewPCG(5, 5))
	csv, precision := "x,y\n", mat.NewSymDense(2, []float64{1e-6, 0, 0, 1e-4})
	for range 40 {
		x := 2000 + rng.NormFloat64()
		csv += fmt.Sprintf("%.17g,%.17g\n", x, 30-0.01*x+1.5*rng.NormFloat64())
		precision.SymRankOne(precision, 1/2.25, mat.NewVecDense(2, []float64{1, x}))
	}
	var c mat.Cholesky
	var covariance mat.SymDense
	if !c.Factorize(precision) || c.InverseTo(&covariance) != nil {
		t.Fatal("singular")
	}
	s, err := Sample(context.Background(), m, curators(t, m, csv), Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for j := range m.P {
		var chains [][]float64
		var square, mean float64
		for _, c := range s.Chains {
			if c.Evaluations > 8*1200+200 {
				t.Errorf("%d gradients in a chain: the metric is not the posterior's", c.Evaluations)
			}
			var x []float64
			for i := j; i < len(c.Draws); i += m.P {
				x = append(x, c.Draws[i])
				mean += c.Draws[i] / 4000
			}
			chains = append(chains, x)
		}
		for _, x := range chains {
			for _, v := range x {
				square += (v - mean) * (v - mean) / 4000
			}
		}
		d := nuts.Diagnose(chains)
		if !(d.RHat < 1.02) {
			t.Errorf("parameter %d: %+v", j, d)
		}
		stattest.Require(t, "variance", stattest.Normal((square/covariance.At(j, j)-1)/math.Sqrt(2/(d.BulkESS/4))))
	}
}

const grouped = `
d3p: 1
name: grouped
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 400}
  columns:
    site: {type: category, levels: 1..8}
    y: {type: real, lower: -100, upper: 100, scale: {center: 0, by: 1}}
model:
  formula: y ~ 1 + (1 | site)
  family: normal
`

// TestEffectsOfLargeGroupsAreCentred: with many records a group, non-centred effects make
// trajectories of 30 steps and more.
func TestEffectsOfLargeGroupsAreCentred(t *testing.T) {
	m := modelstest.Compile(t, "grouped.yaml", grouped)
	rng := rand.New(rand.NewPCG(4, 4))
	csv := "site,y\n"
	for i := range 400 {
		csv += fmt.Sprintf("%d,%.6g\n", 1+i%8, 0.5*float64(i%8)-1.5+0.3*rng.NormFloat64())
	}
	s, err := Sample(context.Background(), m, curators(t, m, csv), Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for c, chain := range s.Chains {
		if chain.Evaluations > 12_000 || chain.Divergences > 0 {
			t.Errorf("chain %d: %d gradients, %d divergences", c, chain.Evaluations, chain.Divergences)
		}
	}
}

const correlated = `
d3p: 1
name: correlated
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 4}
  columns:
    site: {type: category, levels: 1..40}
    x: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}
    y: {type: real, lower: -100, upper: 100, scale: {center: 0, by: 1}}
model:
  formula: y ~ 1 + (1 + x | site)
  family: normal
`

// TestCorrelationOfUnknownEffects: where records say nothing about a correlation, it has its prior, lkj(2). The
// density of 40 pairs of effects grows without bound as it goes to 1 or -1.
func TestCorrelationOfUnknownEffects(t *testing.T) {
	m := modelstest.Compile(t, "correlated.yaml", correlated)
	s, err := Sample(context.Background(), m, curators(t, m, "site,x,y\n1,0,0.3\n1,0,-0.2\n2,0,1.1\n3,0,0.8\n"), Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	cor := slices.IndexFunc(m.Derived, func(p models.Param) bool { return p.Name == "cor_site" })
	quantities, draws := make([]float64, m.Quantity), []float64(nil)
	for c, chain := range s.Chains {
		if chain.Evaluations > 100_000 || s.Tries[c].Unmixed > 0 {
			t.Errorf("chain %d: %d gradients, unmixed: %d", c, chain.Evaluations, s.Tries[c].Unmixed)
		}
		const thinned = 20
		for i := 0; i < len(chain.Energy); i += thinned {
			m.Quantities(quantities, chain.Draws[i*m.P:(i+1)*m.P])
			draws = append(draws, quantities[m.Derived[cor].Offset])
		}
	}
	stattest.Require(t, "the correlation", stattest.KolmogorovSmirnov(draws, func(x float64) float64 {
		return distuv.Beta{Alpha: 2, Beta: 2}.CDF((x + 1) / 2)
	}))
}
