package verdict

import (
	"fmt"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/posterior"
	"d3p/internal/table1"
)

// Numbers that stand at a declared bound by Table 1 are named as a cause of a misfit; elsewhere both causes are.
func TestResponsesAtABound(t *testing.T) {
	const counts = "type: integer, lower: 0, upper: 50"
	for _, c := range []struct {
		name, declared, family string
		cells                  []string
		shares                 []float64
		sd                     float64
		pile                   string
	}{
		{"a pile", "", "", []string{"-50 to 30", "30 to 48", "48 to 50"}, []float64{0.5, 0.3, 0.2}, 0.02, "about 17 ± 3 % of y stand at its upper bound 50"},
		{"a pile below", "", "", []string{"-50 to -48", "-48 to 0", "0 to 50"}, []float64{0.2, 0.65, 0.15}, 0.02, "about 17 ± 3 % of y stand at its lower bound -50"},
		{"a pile within the noise", "", "", []string{"-50 to 30", "30 to 48", "48 to 50"}, []float64{0.5, 0.3, 0.2}, 0.2, ""},
		{"numbers from 0 on", "type: real, lower: 0, upper: 50, scale: {center: 20, by: 10}", "normal", []string{"0 to 2", "2 to 20", "20 to 50"}, []float64{0.3, 0.4, 0.3}, 0.02, ""},
		{"a tail", "", "", []string{"-50 to 30", "30 to 40", "40 to 50"}, []float64{0.7, 0.2, 0.1}, 0.01, ""},
		{"cells that end before the bound", "", "", []string{"-40 to 30", "30 to 46", "46 to 48"}, []float64{0.5, 0.3, 0.2}, 0.02, ""},
		{"counts at the upper bound", counts, "poisson", []string{"-0.5 to 20.5", "20.5 to 48.5", "48.5 to 50.5"}, []float64{0.5, 0.3, 0.2}, 0.02, "about 18 ± 3 % of y stand at its upper bound 50"},
		{"zeros are no bound of counts", counts, "poisson", []string{"-0.5 to 0.5", "0.5 to 20.5", "20.5 to 40.5"}, []float64{0.5, 0.3, 0.2}, 0.02, ""},
	} {
		model := strings.NewReplacer("type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}", c.declared, "family: normal", "family: "+c.family).Replace(oneCategory)
		if c.declared == "" {
			model = oneCategory
		}
		for _, rule := range []string{"clamp", "reject"} {
			m := modelstest.Compile(t, "response.yaml", strings.Replace(model, "  columns:", fmt.Sprintf("  out_of_range: %s\n  columns:", rule), 1))
			bought := []table1.Row{{Statistic: table1.Units, Value: 1000, NoiseSD: 5}}
			for k, of := range c.cells {
				bought = append(bought, table1.Row{Column: "y", Statistic: table1.Cell, Of: of, Value: c.shares[k], NoiseSD: c.sd})
			}
			l, err := table1.LawOf(bought, &m.Spec.Data)
			if err != nil {
				t.Fatal(err)
			}
			want, advice := c.pile, "or widen the bounds of y"
			switch {
			case rule == "reject":
				want, advice = "", "choose another family or formula"
			case want != "":
				advice = "d3p check MODEL --data FILE"
			}
			k := Known{}
			if k.Pile, k.Advice = advise(m, responseOf(m), l); k.Pile != want || !strings.Contains(k.Advice, want) || !strings.Contains(k.Advice, advice) {
				t.Errorf("%s, %s: pile %q, advice %q, want %q and %q", c.name, rule, k.Pile, k.Advice, want, advice)
			}
			if rule == "reject" && k.Advice != advice {
				t.Errorf("%s: advice %q, where nothing is moved to a bound", c.name, k.Advice)
			}
		}
	}
}

// A pile is named wherever the records are not those of the model.
func TestVerdictsNameThePile(t *testing.T) {
	k := Known{Pile: "many stand at 50", Advice: "many stand at 50: widen it", FarOut: FarOut{Unlike: true}}
	d := &judged{Draws: &outputs.Draws{StepMisfit: &posterior.StepMisfit{Coefficients: 30}, Steps: 8}, known: k}
	if got := d.besideSteps("b[x]"); !strings.HasSuffix(got.Why, k.Advice) {
		t.Errorf("of steps: %q", got.Why)
	}
	d.StepMisfit = nil
	if got := d.besideSurprisals(); !strings.HasSuffix(got.Why, k.Advice) {
		t.Errorf("of likelihoods: %q", got.Why)
	}
}

// A predictor of which many numbers stand at a bound has the coefficient of moved numbers. Fewer, those within the noise,
// and those of whole numbers, which may end there, are no finding; nor is the response's own pile.
func TestPredictorsAtABound(t *testing.T) {
	for _, c := range []struct {
		name, declared string
		shares         []float64
		sd             float64
		want           string
	}{
		{"a pile", "type: real", []float64{0.5, 0.3, 0.2}, 0.02, outputs.Partly},
		{"a small pile", "type: real", []float64{0.6, 0.34, 0.06}, 0.001, outputs.Resolved},
		{"within the noise", "type: real", []float64{0.5, 0.3, 0.2}, 0.08, outputs.Resolved},
		{"whole numbers", "type: integer", []float64{0.5, 0.3, 0.2}, 0.02, outputs.Resolved},
	} {
		model := strings.NewReplacer("    y:", "    x: {"+c.declared+", lower: -50, upper: 50, scale: {center: 0, by: 20}}\n    y:", "1 + band", "1 + x").Replace(oneCategory)
		m := modelstest.Compile(t, "predictor.yaml", model)
		bought := []table1.Row{{Statistic: table1.Units, Value: 1000, NoiseSD: 5}}
		for k, of := range []string{"-50 to 30", "30 to 48", "48 to 50"} {
			for _, column := range []string{"x", "y"} {
				bought = append(bought, table1.Row{Column: column, Statistic: table1.Cell, Of: of, Value: c.shares[k], NoiseSD: c.sd})
			}
		}
		l, err := table1.LawOf(bought, &m.Spec.Data)
		if err != nil {
			t.Fatal(err)
		}
		k := Known{Piles: piles(m, responseOf(m), l)}
		if got := k.besideColumns("b[x]"); got.Value != c.want && (got.Value != "" || c.want != outputs.Resolved) {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
		if k.Piles["y"] != "" || k.besideColumns("Intercept").Value != "" {
			t.Errorf("%s: the response has %q", c.name, k.Piles["y"])
		}
	}
}
