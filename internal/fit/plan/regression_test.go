package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/models/law"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/whiten"
	"d3p/internal/privacy"
	"d3p/internal/settings"
	"d3p/internal/stats"
	"d3p/internal/sufficient"
	"d3p/internal/table1"
)

// secondMomentsUnder is a plan of m, ε = 1, that has learnt a law, the design of its second moments, and those
// of records of the law.
func secondMomentsUnder(t *testing.T, m *models.Model, l *law.Law) (*Plan, privacy.Design, drawnMoments) {
	t.Helper()
	p, err := New(m, Config{Epsilon: 1, Table1: settings.Auto})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Learn(l); err != nil {
		t.Fatal(err)
	}
	design := p.SecondDesign()
	x, y := p.regressionRows(table1.RegressionOf(p.model), p.model.Coordinates())
	return p, design, momentsOf(x, y, stats.Shapes[0])
}

// Second moments of records of the law are whole after LearnSecond, though the bound cuts a
// part of them off, and each has an error of what the law may not know of its part.
func TestCutMomentsBecomeWhole(t *testing.T) {
	m := modelstest.Compile(t, "two.yaml", `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    u: {type: real, lower: -40, upper: 40, scale: {center: 0, by: 10}}
    v: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}
    y: {type: real, lower: -100, upper: 100, scale: {center: 0, by: 1}}
model: {formula: y ~ u + v, family: normal}
`)
	p, design, drawn := secondMomentsUnder(t, m, m.DeclaredLaw())
	whole, cut := make([]float64, drawn.size), make([]float64, drawn.size)
	for i, norm := range drawn.norms {
		for j, x := range drawn.moments[i*drawn.size : (i+1)*drawn.size] {
			whole[j] += 1000 * x / float64(len(drawn.norms))
			cut[j] += 1000 * x * min(1, design.Bound/norm) / float64(len(drawn.norms))
		}
	}
	if of := cut[len(cut)-1] / whole[len(cut)-1]; of > 0.98 {
		t.Fatalf("the bound keeps %g of the squares of the response: it cuts nothing off", of)
	}
	if err := p.LearnSecond(cut); err != nil {
		t.Fatal(err)
	}
	got := p.Regression().Moments[0]
	for j, x := range got.Values {
		if math.Abs(x-whole[j]) > 1e-6 {
			t.Errorf("moment %d is %g, want %g", j, x, whole[j])
		}
		if want := unknownCut * math.Abs(whole[j]-cut[j]); math.Abs(got.CutSD[j]-want) > 1e-6 {
			t.Errorf("the error of what is cut off moment %d is %g, want %g", j, got.CutSD[j], want)
		}
	}
	if want := design.Noise * design.Bound; got.Noise != want {
		t.Errorf("noise %g, want %g", got.Noise, want)
	}
}

// Simulated rows get the means and covariances that were bought.
func TestRowsMatchTheMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var rows []float64
	for range 5000 {
		rows = append(rows, 1, rng.NormFloat64(), rng.NormFloat64())
	}
	// n = 100: means .2 and -.1, second moments .5, 2 and 0.4
	m := &sufficient.Moments{P: 3, Noise: 1, Records: 100, Values: []float64{100, 20, -10, 0, 50, 40, 0, 200, 0, 0}}
	match(rows, m)
	for i := range 3 {
		for j := range i + 1 {
			sum := 0.0
			for r := range 5000 {
				sum += rows[3*r+i] * rows[3*r+j] / 5000
			}
			if want := m.At(i, j) / 100; math.Abs(sum-want) > 1e-9 {
				t.Errorf("moment %d, %d is %g, want %g", i, j, sum, want)
			}
		}
	}
}

// Second moments that show a level of .2 % stretch no column so far that its records lie more than
// mostLeverage standard deviations out; the response keeps its unit.
func TestSecondMomentsLeaveRareLevelsNear(t *testing.T) {
	m := modelstest.Compile(t, "rare.yaml", `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100000}
  columns:
    u: {type: real, lower: -40, upper: 40, scale: {center: 0, by: 10}}
    c: {type: category, levels: [rare, b, c]}
    y: {type: real, lower: -100, upper: 100, scale: {center: 0, by: 1}}
model: {formula: y ~ u + c, family: normal}
`)
	l := m.DeclaredLaw()
	l.Columns[1].Shares = []float64{0.002, 0.498, 0.5}
	p, _, drawn := secondMomentsUnder(t, m, l)
	sums := make([]float64, drawn.size)
	for i, v := range drawn.moments {
		sums[i%drawn.size] += l.Records * v / float64(len(drawn.norms))
	}
	if err := p.LearnSecond(sums); err != nil {
		t.Fatal(err)
	}
	c := p.model.Coordinates()
	r := &c.Predictors[0]
	k, farthest := len(r.Center), 0.0
	for _, u := range whiten.LevelDeviations(p.model, p.model.LinearPredictors()[0], r.Center) {
		u.MulVec(mat.NewDense(k, k, r.Matrix).T(), u)
		farthest = max(farthest, mat.Norm(u, 2)/c.Unit[table1.RegressionOf(p.model).Intercept])
	}
	if farthest > mostLeverage+0.01 || farthest < 0.9*mostLeverage {
		t.Errorf("the farthest level is %v standard deviations out, want about %v", farthest, mostLeverage)
	}
}
