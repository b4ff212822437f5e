package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
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

// Records whose moments are shortened keep their normal equations, beside what weights that depend on
// the errors pull: of records of the law that have a regression, c = (S − Pull)γ, and the squares of
// errors are shorter by Lost. Without Pull slopes are a tenth too small.
func TestBoundKeepsNormalEquations(t *testing.T) {
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
	k, gamma := drawn.columns, []float64{0, 0.4, -0.3}
	var x, y []float64
	for i := range drawn.norms {
		row := drawn.rows[i*(k+1) : (i+1)*(k+1)]
		for _, sign := range []float64{-1, 1} { // so that no error is left by chance
			x, y = append(x, row[:k]...), append(y, sign*0.9*row[k]+floats.Dot(row[:k], gamma))
		}
	}
	count := len(y)
	related := momentsOf(x, y, stats.Shapes[0])
	cut := make([]float64, (k+1)*(k+2)/2)
	whole := mat.NewSymDense(k+1, nil)
	for i, norm := range related.norms {
		row := related.rows[i*(k+1) : (i+1)*(k+1)]
		whole.SymRankOne(whole, 1000/float64(count), mat.NewVecDense(k+1, row))
		at := 0
		for a, v := range row {
			for _, u := range row[a:] {
				cut[at] += 1000 * min(1, design.Bound/norm) * v * u / float64(count)
				at++
			}
		}
	}
	if err := p.LearnSecond(cut); err != nil {
		t.Fatal(err)
	}
	got := p.Regression().Moments[0]
	if got.Lost < 0.05 {
		t.Fatalf("the bound cuts off only %g of the squares of errors", got.Lost)
	}
	bare, mended := *got, 0.0
	bare.Pull = nil
	for i := range k {
		miss := [2]float64{got.Weighted(i, k), got.Weighted(i, k)}
		for j := range k {
			for l, m := range []*sufficient.Moments{got, &bare} {
				miss[l] -= m.Sloping(i, j) * gamma[j]
			}
		}
		mended = max(mended, math.Abs(miss[1]))
		if math.Abs(miss[0]) > 12 { // per 1000 records
			t.Errorf("normal equation %d misses %g", i, miss[0])
		}
	}
	if mended < 24 {
		t.Errorf("the normal equations miss %g without Pull: the test shows nothing", mended)
	}
	for i := range k {
		for j := range i + 1 {
			if math.Abs(got.At(i, j)-whole.At(i, j)) > 25 {
				t.Errorf("moment %d, %d is %g whole, want %g", i, j, got.At(i, j), whole.At(i, j))
			}
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
	var sums []float64
	k, count := drawn.columns+1, len(drawn.norms)
	for a := range k {
		for b := a; b < k; b++ {
			sum := 0.0
			for i := range count {
				sum += drawn.rows[i*k+a] * drawn.rows[i*k+b]
			}
			sums = append(sums, l.Records*sum/float64(count))
		}
	}
	if err := p.LearnSecond(sums); err != nil {
		t.Fatal(err)
	}
	c := p.model.Coordinates()
	r := &c.Predictors[0]
	farthest := 0.0
	k = len(r.Center)
	for _, u := range whiten.LevelDeviations(p.model, p.model.LinearPredictors()[0], r.Center) {
		u.MulVec(mat.NewDense(k, k, r.Matrix).T(), u)
		farthest = max(farthest, mat.Norm(u, 2)/c.Unit[table1.RegressionOf(p.model).Intercept])
	}
	if farthest > mostLeverage+0.01 || farthest < 0.9*mostLeverage {
		t.Errorf("the farthest level is %v standard deviations out, want about %v", farthest, mostLeverage)
	}
}
