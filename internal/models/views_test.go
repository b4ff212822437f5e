package models_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/graph"
)

// TestViews checks that log density and gradient of a record with views are the means over
// its views, each with noise of its own, also where a unit has several rows, and that the
// norm from the structure is that of the mean.
func TestViews(t *testing.T) {
	const views, n = 3, 5
	text := strings.Replace(smallVAE, "- flatten\n", "- augment: {shift: 1}\n      - dropout: {rate: 0.3}\n      - flatten\n", 1)
	for rows, unit := range map[int]string{1: "rows_per_unit: 1", 2: "id: who, rows_per_unit: 2"} {
		text := strings.Replace(text, "rows_per_unit: 1", unit, 1)
		one, mean := compileText(t, text), compileText(t, text+"likelihood: {views: 3}\n")
		perView := one.Likelihood.AuxRecord / rows
		if perView == 0 || mean.Likelihood.AuxRecord != views*rows*perView {
			t.Fatalf("%d numbers of noise for %d views of %d rows, want %d for each", mean.Likelihood.AuxRecord, views, rows, perView)
		}
		rng := rand.New(rand.NewPCG(5, 6))
		records, theta, aux := simulated(one.Encoding, n, rng), normals(one.P, 0.3, rng), normals(mean.Likelihood.AuxRecord*n, 1, rng)
		of := func(m *models.Model, aux []float64) *graph.Machine {
			machine := graph.NewMachine(m.Likelihood, n)
			machine.Globals(theta, nil)
			machine.Records(records, m.Encoding.Width(), n, aux)
			return machine
		}
		gradient := func(m *graph.Machine, record int) []float64 {
			g := make([]float64, one.P)
			m.Gradient(record, g)
			return g
		}
		want, log, own := make([][]float64, n), make([]float64, n), make([]float64, one.Likelihood.AuxRecord*n)
		for i := range want {
			want[i] = make([]float64, one.P)
		}
		for v := range views {
			for r := range rows {
				copy(own[r*perView*n:(r+1)*perView*n], aux[(r*views+v)*perView*n:])
			}
			view := of(one, own)
			for i := range n {
				add(want[i], 1.0/views, gradient(view, i))
				log[i] += view.Loss()[i] / views
			}
		}
		machine := of(mean, aux)
		for i, exact := range want {
			size := 0.0
			for _, g := range exact {
				size += g * g
			}
			for j, g := range gradient(machine, i) {
				close10(t, "gradient", g, exact[j], math.Sqrt(size))
			}
			close10(t, "log density", machine.Loss()[i], log[i], math.Abs(log[i]))
			close10(t, "squared norm", machine.SquaredNorm(i), size, size)
		}
	}
}

// TestViewsAreRefused checks that equal views are a mistake, and so are too many.
func TestViewsAreRefused(t *testing.T) {
	plain := strings.Replace(smallVAE, "  binarize: {column: img, mode: stochastic}", "  binarize: {column: img, mode: threshold}", 1)
	still := plain[:strings.Index(plain, "nets:")] + `core:
  params:
    m: normal(0, 1)
  rows:
    observe:
      img: bernoulli(logits=m)
`
	for text, want := range map[string]string{
		still + "likelihood: {views: 2}\n":     "nothing is random for a record",
		smallVAE + "likelihood: {views: 65}\n": "at most 64 views",
		smallVAE + "likelihood: {views: 0}\n":  "views",
	} {
		if _, err := models.Read("model.yaml", []byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}
