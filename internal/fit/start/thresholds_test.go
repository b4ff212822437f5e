package start

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/whiten"
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

// All levels of an ordinal response are equally frequent at the start of a fit. In whitened coordinates they have the
// shares of the law, also where its noise hides one, and gradients are no longer than those of an intercept.
func TestLevelsAtTheStart(t *testing.T) {
	declared := modelstest.Compile(t, "ordinal.yaml", ordinal)
	even := []float64{0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125}
	bought := []float64{0.05, 0.4, 0.001, 0.2, 0.1, 0.099, 0.15, 0}
	l := declared.DeclaredLaw()
	y := l.Column("y")
	y.Shares, y.ShareSD = bought, []float64{0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01}
	rng := noise.NewRandom(noise.Public(2).Stream(noise.Initialisation))
	whitened, err := declared.In(whiten.Coordinates(declared, l, 0.002, math.Inf(1), rng))
	if err != nil {
		t.Fatal(err)
	}
	raised := []float64{0.05, 0.4, 0.005, 0.2, 0.1, 0.099, 0.15, 0.005} // half of the noise
	for _, test := range []struct {
		m      *models.Model
		shares []float64
	}{{declared, even}, {whitened, raised}} {
		phi, err := Point(settings.InitZero, test.m, noise.Public(1).Stream(noise.Initialisation))
		if err != nil {
			t.Fatal(err)
		}
		at, all := test.m.LinearPredictors()[0].Level.Offset, floats.Sum(test.shares)
		theta, above := make([]float64, test.m.P), make([]float64, test.m.P)
		test.m.Declared(theta, phi)
		cut, below := 0.0, 0.0
		for k := range test.shares[1:] {
			step := 0.0 // of the next cutpoint, by the coordinate
			copy(above, phi)
			above[at+k] += 1e-6
			test.m.Declared(above, above)
			if k == 0 {
				cut, step = theta[at], (above[at]-theta[at])/1e-6
			} else {
				cut += math.Exp(theta[at+k])
				step = (math.Exp(above[at+k]) - math.Exp(theta[at+k])) / 1e-6
			}
			if step > 1.001 {
				t.Errorf("rotated %v: a unit moves cutpoint %d by %g", test.m.Rotated(), k, step)
			}
			below += test.shares[k] / all
			if share := 1 / (1 + math.Exp(-cut)); math.Abs(share-below) > 1e-9 {
				t.Errorf("rotated %v: up to level %d are %g, want %g", test.m.Rotated(), k, share, below)
			}
		}
	}
}
