package start

import (
	"math"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
)

const ordinal = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    x: {type: real, lower: -5, upper: 5}
    y: {type: ordinal, levels: [a, b, c, d, e, f, g, h]}
model:
  formula: y ~ 1 + x
  family: cumulative
`

// All levels of an ordinal response are equally frequent at the start of a fit, in whitened coordinates, too.
func TestLevelsAreEquallyFrequentAtTheStart(t *testing.T) {
	declared := modelstest.Compile(t, "ordinal.yaml", ordinal)
	c := models.Coordinates{Origin: make([]float64, declared.P), Unit: make([]float64, declared.P)}
	for j := range c.Origin {
		c.Origin[j], c.Unit[j] = 0.3*float64(j)-1, 2+float64(j)
	}
	whitened, err := declared.In(&c)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*models.Model{"declared": declared, "whitened": whitened} {
		theta, err := Point(settings.InitZero, m, noise.Public(1).Stream(noise.Initialisation))
		if err != nil {
			t.Fatal(err)
		}
		m.Declared(theta, theta)
		found := false
		for _, p := range m.Params {
			if p.Name != "thresholds" {
				continue
			}
			found = true
			cut := 0.0
			for k, x := range theta[p.Offset : p.Offset+p.Size] {
				if k == 0 {
					cut = x
				} else {
					cut += math.Exp(x)
				}
				if share := 1 / (1 + math.Exp(-cut)); math.Abs(share-float64(k+1)/8) > 1e-12 {
					t.Errorf("%s: up to level %d are %g", name, k, share)
				}
			}
		}
		if !found {
			t.Fatalf("%s: no thresholds", name)
		}
	}
}
