package table1

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/sufficient"
)

// surveyed has every kind of product: numbers, one of them transformed, levels, an indicator of
// a missing cell, and a product with levels.
const surveyed = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 2000}
  columns:
    u: {type: real, lower: -4, upper: 12, scale: {center: 1, by: 3}, missing: {impute: 2, indicator: true}}
    v: {type: integer, lower: 0, upper: 9, transform: log1p}
    g: {type: category, levels: [a, b, c]}
    w: {type: binary}
    y: {type: real, lower: -100, upper: 300, scale: {center: 50, by: 20}}
model:
  formula: y ~ 1 + u*g + v + w
  family: normal
`

// The estimate of the bounded moments is the least squares of the declared scales: the map to
// bounded numbers and back loses nothing.
func TestBoundedMomentsAreThoseOfTheModel(t *testing.T) {
	m := modelstest.Compile(t, "surveyed.yaml", surveyed)
	b, err := RegressionOf(m).Within(m)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(4, 1))
	text, x, y := "u,v,g,w,y\n", mat.NewDense(2000, b.Columns()+1, nil), mat.NewVecDense(2000, nil)
	labels := m.LinearPredictors()[0].Coefficients.Dims[0].Labels
	for i := range 2000 {
		u, v, g, w := -4+16*rng.Float64(), rng.IntN(10), "abc"[rng.IntN(3)], rng.IntN(2)
		cell := fmt.Sprint(u)
		values := map[string]float64{}
		if rng.IntN(5) == 0 {
			u, cell, values["u_missing"] = 2, "", 1
		}
		// the standard deviation of the uniform on the bounds is the scale of v
		values["u"], values["v"] = (u-1)/3, (math.Log1p(float64(v))-math.Log(10)/2)/(math.Log(10)/math.Sqrt(12))
		values["g="+string(g)], values["w"] = 1, float64(w)
		z := 40 + 9*u - 8*float64(v) + 5*float64(w) + 10*rng.NormFloat64()
		text += fmt.Sprintf("%s,%d,%c,%d,%g\n", cell, v, g, w, z)
		x.Set(i, 0, 1)
		for j, label := range labels {
			product := 1.0
			for _, factor := range strings.Split(label, ":") {
				product *= values[factor]
			}
			x.Set(i, j+1, product)
		}
		y.SetVec(i, (z-50)/20)
	}
	path := tableFile(t, text)
	c, err := privacy.NewCurator(privacy.CuratorConfig{Columns: privacy.NewColumns(privacy.TableConfig{Data: path, Encoding: m.Encoding, Root: noise.Insecure(1)}), Root: noise.Insecure(1), Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, Relation: event.AddRemove})
	if err != nil {
		t.Fatal(err)
	}
	values, err := c.NonPrivateMoments(b.Design(1))
	if err != nil {
		t.Fatal(err)
	}
	gamma, variance := (&sufficient.Moments{P: b.Columns() + 1, Values: values}).AdaSSP()
	theta := make([]float64, m.P)
	b.Theta(theta, gamma, variance)
	var want, rest mat.VecDense
	if err := want.SolveVec(x, y); err != nil {
		t.Fatal(err)
	}
	rest.MulVec(x, &want)
	rest.SubVec(y, &rest)
	places := []int{b.Intercept}
	for j := range labels {
		places = append(places, b.Coefficients.At(j, 0))
	}
	for j, place := range places {
		if math.Abs(theta[place]-want.AtVec(j)) > 1e-3 { // moments are whole multiples of 2^-20 of their bound
			t.Errorf("coefficient %d (of 1 and %q) is %g, want %g", j, labels, theta[place], want.AtVec(j))
		}
	}
	if sigma := math.Log(math.Sqrt(mat.Dot(&rest, &rest) / 2000)); math.Abs(theta[b.Sigma]-sigma) > 1e-3 {
		t.Errorf("log sigma is %g, want %g", theta[b.Sigma], sigma)
	}
}

// No row within its bounds is shortened, and the row at all bounds nearly is.
func TestBoundedMomentsHaveRoom(t *testing.T) {
	m := modelstest.Compile(t, "surveyed.yaml", surveyed)
	b, err := RegressionOf(m).Within(m)
	if err != nil {
		t.Fatal(err)
	}
	longest := 0.0
	for _, row := range []string{"12,9,a,1,300", "-4,0,b,0,-100", "12,0,c,0,300", "-4,9,a,1,-100", ",9,c,1,300", "4,4,a,0,100"} {
		path := tableFile(t, "u,v,g,w,y\n"+row+"\n")
		c, err := privacy.NewCurator(privacy.CuratorConfig{Columns: privacy.NewColumns(privacy.TableConfig{Data: path, Encoding: m.Encoding, Root: noise.Insecure(1)}), Root: noise.Insecure(1), Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, Relation: event.AddRemove})
		if err != nil {
			t.Fatal(err)
		}
		d := b.Design(1)
		d.Bound *= 4
		values, err := c.NonPrivateMoments(d)
		if err != nil {
			t.Fatal(err)
		}
		square := 0.0
		for _, v := range values {
			square += v * v
		}
		longest = max(longest, math.Sqrt(square)/b.Bound)
	}
	if longest > 1+1e-5 || longest < 0.6 {
		t.Errorf("the longest row has %g times the bound", longest)
	}
}
