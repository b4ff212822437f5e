package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"d3p/internal/models/modelstest"
	"d3p/internal/predict"
	"d3p/internal/privacy"
)

// Of records that the model draws, as many exceed a threshold as predicted. Of records that
// are spread more widely, more exceed a high one.
func TestExceedance(t *testing.T) {
	m := modelstest.Compile(t, "visits.yaml", fmt.Sprintf(visits, "integer, lower: 0, upper: 40", "poisson"))
	posterior := predict.Posterior{S: 1000, Prob: 0.9, Draw: func(theta []float64, s int) {
		clear(theta)
		theta[0], theta[1] = 0.5, 0.3
	}}
	table, err := New(m, posterior, "", normals{rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		t.Fatal(err)
	}
	const n, threshold = 6000, 4
	rng := rand.New(rand.NewPCG(5, 6))
	for _, wide := range []bool{false, true} {
		var lines strings.Builder
		lines.WriteString("id,x,g,y\n")
		expected := 0.0
		for i := range n {
			x := math.Round(100*(4*rng.Float64()-2)) / 100
			law := distuv.Poisson{Lambda: math.Exp(0.5 + 0.3*x), Src: rng}
			expected += 1 - law.CDF(threshold)
			if wide {
				law.Lambda *= distuv.Gamma{Alpha: 2, Beta: 2, Src: rng}.Rand()
			}
			fmt.Fprintf(&lines, "p%d,%g,a,%g\n", i, x, law.Rand())
		}
		path := modelstest.File(t, "visits.csv", lines.String())
		rows, _, err := privacy.ReadNewRows(path, m.Encoding)
		if err != nil {
			t.Fatal(err)
		}
		check, err := table.Exceedance(threshold)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := privacy.CountPublic(rows, 3, check)
		if err != nil {
			t.Fatal(err)
		}
		list := check.Metrics(counts[0], 0, normals{rng})
		observed, predicted, difference := list[0], list[1], list[2]
		// The predicted share has sd below 1/(8√n) by rounding and 1/(2√(400n)) by draws, .0017
		// together: 5 of them fail once in a million runs.
		if math.Abs(predicted.Value-expected/n) > 0.0085 {
			t.Errorf("predicted %g, want %g", predicted.Value, expected/n)
		}
		if math.Abs(observed.Value-predicted.Value-difference.Value) > 1e-12 || !(difference.SD > 0.001 && difference.SD < 0.01) {
			t.Errorf("observed %+v, predicted %+v, difference %+v", observed, predicted, difference)
		}
		if off := difference.Value / difference.SD; wide && off < 8 || !wide && math.Abs(off) > 5 {
			t.Errorf("records spread too widely: %v; the difference is %g of its sd", wide, off)
		}
	}
	if _, err := table.Exceedance(40); err == nil {
		t.Error("a threshold that nothing exceeds is taken")
	}
}
