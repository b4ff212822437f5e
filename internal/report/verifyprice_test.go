package report

import (
	"encoding/json"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
)

// One number that is not the accountant's is found, wherever it stands.
func TestVerifyPrice(t *testing.T) {
	run := example(t, plan.Config{Epsilon: 1})
	run.Booked = booked()
	p, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	raw := []byte(p.Accounting.Event)
	if c := verifyPrice(raw, p); !c.OK {
		t.Errorf("an honest report is refused: %s", c.Detail)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := PriceOf(run.Event, run.Plan.Neighbours, run.Plan.Delta, run.Plan.Steps)
	if err != nil {
		t.Fatal(err)
	}
	for part, change := range map[string]func(*Privacy){
		"the curve":       func(q *Privacy) { q.Guarantee.Curve[3].Epsilon *= 0.999 },
		"the risk":        func(q *Privacy) { q.Risk.TPRAtFPR["0.01"] *= 0.9 },
		"dominating mu":   func(q *Privacy) { q.Guarantee.GDP.Mu *= 0.99 },
		"rho":             func(q *Privacy) { q.Guarantee.ZCDP.Rho /= 2 },
		"the variants":    func(q *Privacy) { q.Guarantee.Variants = append(q.Guarantee.Variants, Variant{"x", 1}) },
		"the groups":      func(q *Privacy) { q.Guarantee.Together[0].Delta /= 2 },
		"limits":          func(q *Privacy) { q.Guarantee.Limits = q.Guarantee.Limits[1:] },
		"the spending":    func(q *Privacy) { q.PerIteration[0].Epsilon = 0 },
		"the cross-check": func(q *Privacy) { q.Accounting.CrossCheck.Epsilon = 0.5 },
		"the price":       func(q *Privacy) { q.Accounting.EpsilonLower = 0.2 },
		"the slack":       func(q *Privacy) { q.Guarantee.Slack++ },
		"one-line":        func(q *Privacy) { q.Statements.OneLine = strings.Replace(q.Statements.OneLine, "(1,", "(0.9,", 1) },
		"the paragraph":   func(q *Privacy) { q.Statements.Paragraph += " It is safe." },
		"the odds":        func(q *Privacy) { q.Statements.Odds = "none" },
		"the budget":      func(q *Privacy) { q.Budget.After *= 0.99 },
	} {
		var q Privacy // as a release is read
		if err := json.Unmarshal(text, &q); err != nil {
			t.Fatal(err)
		}
		change(&q)
		if wrong := q.differs(again, p.Budget); !strings.Contains(wrong, part) {
			t.Errorf("%s was changed, %q was found", part, wrong)
		}
	}
	for part, change := range map[string]func(*Mechanism){
		"noise of sum": func(m *Mechanism) { m.GradientNoise *= 1.01 },
		"the mechanism": func(m *Mechanism) {
			m.GradientNoise, m.CountNoise, m.NoiseMultiplier = 2*m.GradientNoise, 2*m.CountNoise, 2*m.NoiseMultiplier
		},
		"the sampler":    func(m *Mechanism) { m.Sampler.Rate /= 2 },
		"the sampler of": func(m *Mechanism) { m.Sampler.Scheme = "lottery" },
		"mechanism of":   func(m *Mechanism) { m.Iterations++ },
	} {
		var q Privacy
		if err := json.Unmarshal(text, &q); err != nil {
			t.Fatal(err)
		}
		change(&q.Mechanism)
		if c := verifyPrice(raw, &q); c.OK || !strings.Contains(c.Detail, part) {
			t.Errorf("%s was changed: %+v", part, c)
		}
	}
	if c := verifyPrice([]byte("{}"), p); c.OK {
		t.Error("an event that is none was accepted")
	}
}
