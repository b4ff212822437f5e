package models_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
)

// TestStandardNormalIsAChangeOfVariables: v comes back from θ, its density is that of θ times
// |dθ/dv|, with its gradient, and by its prior it is a standard normal, also in whitened
// coordinates.
func TestStandardNormalIsAChangeOfVariables(t *testing.T) {
	groups := dataBlock(3, "g: {type: category, levels: [a, b, c]}")
	for name, test := range map[string]struct {
		text, vectors string // a model, and the parameter of vectors
	}{
		"not centred": {groups + `model:
  formula: x3 ~ x1 + (1 + x1 + x2 | g)
  family: normal
`, "z_g"},
		"centred": {groups + `model:
  formula: x3 ~ x1 + (1 + x1 | g)
  parametrisation: centred
  family: normal
`, "r_g"},
		"in a core model": {groups + `core:
  dims:
    g: levels(g)
    k: [one, two]
  params:
    s: half_normal(1) [k]
    L: lkj_cholesky(2) [k, k]
    m: normal(0, 1)
    r: mvn(m, diag(s) @ L) [g, k]
  rows:
    observe:
      x1: normal(sum(r[g]), 1)
`, "r"},
	} {
		t.Run(name, func(t *testing.T) {
			m := compile(t, test.text)
			rng := testRand{rand.New(rand.NewPCG(3, 4))}
			isChangeOfVariables(t, m, test.vectors, rng)
			c := &models.Coordinates{Origin: make([]float64, m.P), Unit: make([]float64, m.P)}
			for j := range c.Unit {
				c.Origin[j], c.Unit[j] = 0.3*rng.Normal(), math.Exp(0.3*rng.Normal())
			}
			whitened, err := m.In(c)
			if err != nil {
				t.Fatal(err)
			}
			isChangeOfVariables(t, whitened, test.vectors, rng)
		})
	}
}

func isChangeOfVariables(t *testing.T, m *models.Model, vectors string, rng testRand) {
	t.Helper()
	s := m.StandardNormal()
	if s == nil {
		t.Fatal("no such coordinates")
	}
	prior := m.NewPriorDensity()
	ofTheta := func(gradient, theta []float64) (float64, error) { return prior.Density(gradient, theta), nil }
	density := s.Density(ofTheta)
	v, theta, back := make([]float64, m.P), make([]float64, m.P), make([]float64, m.P)
	for j := range v {
		v[j] = 0.5 * rng.Normal()
	}
	s.Theta(theta, v)
	s.Standard(back, theta)
	for j := range v {
		if math.Abs(back[j]-v[j]) > 1e-9 {
			t.Fatalf("v[%d] = %v comes back as %v", j, v[j], back[j])
		}
	}

	const h = 1e-5
	gradient, scratch := make([]float64, m.P), make([]float64, m.P)
	value, _ := density(gradient, v)
	jacobian := mat.NewDense(m.P, m.P, nil)
	for j := range v {
		moved, ends := append([]float64(nil), v...), [2]float64{}
		for side := range ends {
			moved[j] = v[j] + h*float64(2*side-1)
			ends[side], _ = density(scratch, moved)
			s.Theta(theta, moved)
			for k, x := range theta {
				jacobian.Set(k, j, jacobian.At(k, j)+x*float64(2*side-1)/(2*h))
			}
		}
		if slope := (ends[1] - ends[0]) / (2 * h); math.Abs(slope-gradient[j]) > 1e-5*(1+math.Abs(slope)) {
			t.Errorf("derivative %d is %g, the difference %g", j, gradient[j], slope)
		}
	}
	s.Theta(theta, v)
	logDet, _ := mat.LogDet(jacobian)
	at := slices.IndexFunc(m.Params, func(p models.Param) bool { return p.Name == vectors })
	from, to := m.Params[at].Offset, m.Params[at].Offset+m.Params[at].Size
	constant := 0.0
	if c := m.Coordinates(); c != nil {
		for _, unit := range c.Unit[from:to] {
			constant += math.Log(unit)
		}
	}
	if want := prior.LogDensity(theta) + logDet + constant; math.Abs(value-want) > 1e-6 {
		t.Errorf("log density %g, want %g", value, want)
	}

	change := 0.0
	for j := from; j < to; j++ {
		change += v[j] * v[j] / 2
		v[j] = rng.Normal()
		change -= v[j] * v[j] / 2
	}
	if moved, _ := density(scratch, v); math.Abs(moved-value-change) > 1e-9 {
		t.Errorf("the log density of a standard normal changes by %g, want %g", moved-value, change)
	}
}

// TestStandardNormalOfOtherPriors: other priors have no such coordinates, and neither has one around a
// vector that has them.
func TestStandardNormalOfOtherPriors(t *testing.T) {
	if s := compile(t, dataBlock(2)+"model: {formula: x1 ~ x2, family: normal}\n").StandardNormal(); s != nil {
		t.Error("coordinates of a model without vectors")
	}
	m := compile(t, dataBlock(1)+`core:
  dims:
    k: [one, two]
  params:
    s: half_normal(1) [k]
    r: mvn(0, diag(s)) [k]
    around: mvn(r, diag(s)) [k]
  rows:
    observe:
      x1: normal(sum(r + around), 1)
`)
	v, theta := make([]float64, m.P), make([]float64, m.P)
	for j := range v {
		v[j] = 0.1 * float64(j+1)
	}
	m.StandardNormal().Theta(theta, v)
	for i := range m.Params {
		p := &m.Params[i]
		same := slices.Equal(theta[p.Offset:p.Offset+p.Size], v[p.Offset:p.Offset+p.Size])
		if same != (p.Name != "r") {
			t.Errorf("%s stays: %v", p.Name, same)
		}
	}
}
