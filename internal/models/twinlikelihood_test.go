package models_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
)

// TestTwinLikelihood compares the log density of records, some with missing values, with
// the mixture written out here.
func TestTwinLikelihood(t *testing.T) {
	m := compile(t, twinModel)
	rng := testRand{rand.New(rand.NewPCG(41, 42))}
	theta, at := drawn(m, rng)
	const n = 40
	rows := simulated(m.Encoding, n, rng.Rand)
	machine := graph.NewMachine(m.Likelihood, n)
	machine.Globals(theta, nil)
	machine.Records(rows, m.Encoding.K, n, nil)
	for b, got := range machine.Loss() {
		x, absent := make(map[string]float64), make(map[string]bool)
		for _, f := range m.Encoding.Fields {
			if v := rows[b*m.Encoding.K+f.Out[0]]; f.Kind == encoding.MissingIndicator {
				absent[f.Column] = v == 1
			} else {
				x[f.Column] = v
			}
		}
		density := 0.0
		for _, k := range []string{"1", "2"} {
			p := at["weights["+k+"]"]
			for _, c := range m.Observed[0].Columns {
				name := c.Name.V
				na := at[name+"_na["+k+"]"]
				if absent[name] {
					p *= na
					continue
				}
				p *= 1 - na
				switch v := x[name]; name {
				case "height":
					s := at["height_scale["+k+"]"]
					z := (v - at["height_loc["+k+"]"]) / s
					p *= math.Exp(-z*z/2) / (s * math.Sqrt(2*math.Pi))
				case "visits":
					rate := at["visits_rate["+k+"]"]
					gamma, _ := math.Lgamma(v + 1)
					p *= math.Exp(v*math.Log(rate) - rate - gamma)
				case "ill":
					q := at["ill_probs["+k+"]"]
					p *= v*q + (1-v)*(1-q)
				case "eye":
					p *= at["eye_probs["+k+","+c.LevelNames()[int(v)]+"]"]
				case "grade":
					below := func(cut string) float64 { return 1 / (1 + math.Exp(-at["grade_cutpoints["+k+","+cut+"]"])) }
					p *= []float64{below("1"), below("2") - below("1"), below("3") - below("2"), 1 - below("3")}[int(v)]
				}
			}
			density += p
		}
		if want := math.Log(density); math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
			t.Errorf("record %d: log density %.12g, want %.12g", b, got, want)
		}
	}
}
