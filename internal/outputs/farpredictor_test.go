package outputs

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
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
		want   string // partly resolved; others are resolved
	}{
		{20, "", 0, ""},
		{20, "x", 0.8, "b[x] b_raw[x] b[y] Intercept"},
		{7, "x", 0.8, "b[x] b_raw[x]"},
		{20, "x", 0.1, ""},
		{20, "z", 0.8, "b[x:z]"},
		{20, "u", 0.8, "s_u[1]"},
	} {
		d := &Draws{S: s, Values: make([]float64, 8*s)}
		for _, name := range []string{"b[x]", "b_raw[x]", "b[y]", "Intercept", "b[z]", "b[x:z]", "s_u[1]", "sigma"} {
			d.Variables = append(d.Variables, Variable{Name: name})
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
		known := Known{Normal: true, FarPredictors: map[string]FarPredictor{c.column: {Records: 50, SD: 9, Share: c.share}}}
		if c.column == "" {
			known.FarPredictors = nil
		}
		d.Judge(nil, nil, nil, known)
		for _, v := range d.Variables {
			want := Resolved
			for _, name := range strings.Fields(c.want) {
				if name == v.Name {
					want = Partly
				}
			}
			if v.Verdict.Value != want || want == Partly && !strings.Contains(v.Verdict.Why, "about 50 ± 9 records are far out") {
				t.Errorf("effect %g, %q has %g: %s is %+v, want %s", c.effect, c.column, c.share, v.Name, v.Verdict, want)
			}
		}
	}
}

// An intercept of a mean that is not linear moves with each coefficient.
func TestInterceptsBesideAFarPredictor(t *testing.T) {
	for normal, want := range map[bool]string{true: Resolved, false: Partly} {
		d := &Draws{S: 4, Values: []float64{1, 2, 2, 1, 19, 19, 21, 21}, Variables: []Variable{{Name: "Intercept"}, {Name: "b[x]"}}}
		d.Judge(nil, nil, nil, Known{Normal: normal, FarPredictors: map[string]FarPredictor{"x": {Records: 50, SD: 9, Share: 0.8}}})
		if got := d.Variables[0].Verdict; got.Value != want {
			t.Errorf("normal %t: %+v, want %s", normal, got, want)
		}
	}
}

// Counts that noise explains are no records; others have a share of the sum of squares by their distances.
func TestCountsOfFarPredictors(t *testing.T) {
	m := modelstest.Compile(t, "groups.yaml", verdictModel)
	for _, c := range []struct{ near, far, records, share float64 }{
		{9, 4, 0, 0},
		{3, 11, 14, 3*100 + 11*729},
		{17, -2, 15, 1700},
		{9, 8, 17, 900 + 8*729},
	} {
		q := &score.Surprisals{Noise: 3, Edges: []float64{1, 2}, Far: []score.FarPredictor{{Column: "x", SD: 1}}, Theta: make([]float64, m.P), Counts: []float64{1, 1, 1, c.near, c.far}}
		got := FarPredictors(m, q, 1000)["x"]
		if got.Records != c.records || math.Abs(got.Share-c.share/(1000+c.share)) > 1e-9 || c.records > 0 && math.Abs(got.SD-3*math.Sqrt2) > 1e-9 {
			t.Errorf("counts %g and %g: %+v", c.near, c.far, got)
		}
		q.Counts = q.Counts[:4]
		if got := FarPredictors(m, q, 1000); got != nil {
			t.Errorf("without a count: %+v", got)
		}
	}
}
