package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/score"
)

// Records far out in a predictor are about its coefficient, in its own unit too, about a curve in it, and about
// what moves with a coefficient that is plainly not 0.
func TestVariablesBesideAFarPredictor(t *testing.T) {
	const s = 4000
	for _, c := range []struct {
		effect float64 // in standard deviations
		column string
		share  float64
		open   bool
		hidden bool
		misfit string
		partly string
		not    string // others are resolved
	}{
		{20, "", 0, false, false, "", "", ""},
		{20, "x", 0.5, false, false, "", "b[x] b_raw[x] b[y] Intercept", ""},
		{60, "x", 0.7, false, false, "", "", "b[x] b_raw[x] b[y] Intercept"},
		{7, "x", 0.8, false, false, "", "b[x] b_raw[x]", ""},
		{20, "x", 0.1, false, false, "", "", ""},
		{20, "x", 0.1, true, false, "", "b[x] b_raw[x] b[x:z]", ""},
		{20, "x", 0.1, true, false, outputs.Partly, "b[y] Intercept b[z] s_u[1] sigma", "b[x] b_raw[x] b[x:z]"},
		{20, "x", 0.5, false, true, "", "", ""},
		{60, "x", 0.5, false, true, "", "b[x] b_raw[x] b[y] Intercept", ""},
		{20, "z", 0.5, false, false, "", "b[x:z]", ""},
		{20, "u", 0.5, false, false, "", "s_u[1]", ""},
	} {
		d := &outputs.Draws{S: s, Values: make([]float64, 8*s)}
		for _, name := range []string{"b[x]", "b_raw[x]", "b[y]", "Intercept", "b[z]", "b[x:z]", "s_u[1]", "sigma"} {
			d.Variables = append(d.Variables, outputs.Variable{Name: name})
		}
		rng := rand.New(rand.NewPCG(3, 3))
		for i := range s {
			for v := range d.Variables {
				d.Values[v*s+i] = rng.NormFloat64()
			}
			shared := d.Values[i]
			d.Values[i], d.Values[s+i] = c.effect+shared, 3*(c.effect+shared)
			d.Values[2*s+i] -= 0.6 * shared // correlated by .5
			d.Values[3*s+i] -= 0.6 * shared
			d.Values[7*s+i] += shared // sigma is about errors, not about a column
			if c.column != "x" {
				d.Values[5*s+i], d.Values[6*s+i] = d.Values[5*s+i]+c.effect, d.Values[6*s+i]+c.effect
			}
		}
		known := Known{Normal: true, Tails: map[string]Tail{c.column: {Why: "far out", Share: c.share, Open: c.open, Hidden: c.hidden}}, Misfit: outputs.Verdict{Value: c.misfit, Why: "misfit"}}
		if c.column == "" {
			known.Tails = nil
		}
		Judge(nil, d, nil, nil, known)
		for _, v := range d.Variables {
			want, why := outputs.Resolved, "far out"
			switch {
			case slices.Contains(strings.Fields(c.not), v.Name):
				want = outputs.Not
			case slices.Contains(strings.Fields(c.partly), v.Name):
				want = outputs.Partly
			}
			if c.misfit != "" && want == outputs.Partly {
				why = "misfit"
			}
			if v.Verdict.Value != want || want != outputs.Resolved && !strings.Contains(v.Verdict.Why, why) {
				t.Errorf("%+v: %s is %+v, want %s", c, v.Name, v.Verdict, want)
			}
		}
	}
}

// An intercept, or what stands in its place, of a mean that is not linear moves with each coefficient. One that moves with that of an open tail is in it.
func TestInterceptsBesideAFarPredictor(t *testing.T) {
	apart, together := []float64{1, 2, 2, 1, 19, 19, 21, 21}, []float64{1, 1, 2, 2, 19, 19, 21, 21}
	for _, c := range []struct {
		values       []float64
		normal, open bool
		share        float64
		want         string
	}{{apart, true, false, 0.5, outputs.Resolved}, {apart, false, false, 0.5, outputs.Partly}, {together, true, true, 0, outputs.Not}, {apart, false, true, 0, outputs.Resolved}} {
		for _, name := range []string{"Intercept", "Intercept_raw", "thresholds[1]", "thresholds_raw[1]", "baseline[0-1]", "baseline_raw[0-1]"} {
			d := &outputs.Draws{S: 4, Values: c.values, Variables: []outputs.Variable{{Name: name}, {Name: "b[x]"}}}
			Judge(nil, d, nil, nil, Known{Normal: c.normal, Tails: map[string]Tail{"x": {Why: "far out", Share: c.share, Open: c.open}}})
			if got := d.Variables[0].Verdict; got.Value != c.want {
				t.Errorf("%s, %+v: %+v", name, c, got)
			}
		}
	}
}

// Counts that noise explains are no records, and may hide some within the bounds; others have a share of the sum of
// squares by their distances.
func TestCountsOffarPredictors(t *testing.T) {
	for _, c := range []struct {
		bounds                     string
		near, far, records, square float64
	}{
		{"1000", 9, 4, 25, 15*100 + 10*729}, // hidden
		{"15", 9, 4, 15, 15 * 100},
		{"8", -5, 2, 6, 6 * 64},
		{"5", 9, 4, 0, 0},
		{"1000", 3, 11, 14, 3*100 + 11*729},
		{"1000", 17, -2, 15, 1700},
		{"1000", 9, 8, 17, 900 + 8*729},
	} {
		m := modelstest.Compile(t, "groups.yaml", strings.NewReplacer("lower: -5, upper: 5,", "lower: -"+c.bounds+", upper: "+c.bounds+",").Replace(verdictModel))
		q := &score.Surprisals{Noise: 3, Edges: []float64{1, 2}, Far: []score.FarPredictor{{Column: "x", SD: 1}}, Theta: make([]float64, m.P), Counts: []float64{1, 1, 1, c.near, c.far}}
		got := farPredictors(m, q, 1000)["x"]
		if math.Abs(got.Share-c.square/(1000+c.square)) > 1e-9 || !strings.Contains(got.Why, fmt.Sprintf(" %.0f ", c.records)) {
			t.Errorf("bounds ±%s, counts %g and %g: %+v", c.bounds, c.near, c.far, got)
		}
		q.Counts = q.Counts[:4]
		if got := farPredictors(m, q, 1000); got != nil {
			t.Errorf("without a count: %+v", got)
		}
	}
}
