package whiten

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/modelstest"
)

// With a limit no record of a level is farther away along whitened columns, be it of the reference level, of
// another one, or of a 0/1 column; without one a level of .2 % is.
func TestNoLevelLiesFartherThanTheLimit(t *testing.T) {
	columns := strings.Replace(whitenColumns, "    d: {type: binary}\n", "    d: {type: binary}\n    c: {type: category, levels: [a, b, c, e]}\n", 1)
	columns = strings.Replace(columns, "public: 1000", "public: 100000", 1)
	m := modelstest.Compile(t, "whiten.yaml", strings.NewReplacer("FORMULA", "y ~ x + d + c", "FAMILY", "normal").Replace(columns))
	for _, test := range []struct {
		name       string
		ofD, ofC   []float64
		rare       int // of the deviations
		deviations int
	}{
		{"reference", []float64{0.5, 0.5}, []float64{0.002, 0.4, 0.3, 0.298}, 2, 6},
		{"level", []float64{0.5, 0.5}, []float64{0.4, 0.3, 0.298, 0.002}, 5, 6},
		{"0/1", []float64{0.998, 0.002}, []float64{0.25, 0.25, 0.25, 0.25}, 1, 6},
	} {
		l := m.DeclaredLaw()
		l.Columns[4].Shares, l.Columns[5].Shares = test.ofD, test.ofC
		for _, limit := range []float64{4, math.Inf(1)} {
			c := Coordinates(m, l, 0.002, limit, testRand{rand.New(rand.NewPCG(1, 1))})
			r := &c.Predictors[0]
			k := len(r.Center)
			list := LevelDeviations(m, m.LinearPredictors()[0], r.Center)
			if len(list) != test.deviations {
				t.Fatalf("%s: %d deviations, want %d", test.name, len(list), test.deviations)
			}
			for i, u := range list {
				u.MulVec(mat.NewDense(k, k, r.Matrix).T(), u)
				far := mat.Norm(u, 2) / c.Unit[0]
				if limit == 4 && far > 4+1e-9 {
					t.Errorf("%s: deviation %d is %v long, want at most 4", test.name, i, far)
				}
				if limit > 4 && (far > 10) != (i == test.rare) {
					t.Errorf("%s: deviation %d is %v long without a limit", test.name, i, far)
				}
			}
		}
	}
}
