package verify_test

import (
	"encoding/json"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/clipgroups"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/schedule"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
	"d3p/internal/score"
	"d3p/internal/verify"
)

// One number that is not the accountant's is found, wherever it stands.
func TestVerifyPrice(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	run.Booked = reporttest.Booked()
	p, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	raw := []byte(p.Accounting.Event)
	if c := verify.Price(raw, p); !c.OK {
		t.Errorf("an honest report is refused: %s", c.Detail)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := report.PriceOf(run.Event, run.Plan.Neighbours, run.Plan.Delta, run.Plan.Steps)
	if err != nil {
		t.Fatal(err)
	}
	for part, change := range map[string]func(*report.Privacy){
		"the curve":     func(q *report.Privacy) { q.Guarantee.Curve[3].Epsilon *= 0.999 },
		"the risk":      func(q *report.Privacy) { q.Risk.TPRAtFPR["0.01"] *= 0.9 },
		"dominating mu": func(q *report.Privacy) { q.Guarantee.GDP.Mu *= 0.99 },
		"rho":           func(q *report.Privacy) { q.Guarantee.ZCDP.Rho /= 2 },
		"the variants": func(q *report.Privacy) {
			q.Guarantee.Variants = append(q.Guarantee.Variants, report.Variant{Label: "x", Epsilon: 1})
		},
		"the groups":      func(q *report.Privacy) { q.Guarantee.Together[0].Delta /= 2 },
		"limits":          func(q *report.Privacy) { q.Guarantee.Limits = q.Guarantee.Limits[1:] },
		"the spending":    func(q *report.Privacy) { q.PerIteration[0].Epsilon = 0 },
		"the cross-check": func(q *report.Privacy) { q.Accounting.CrossCheck.Epsilon = 0.5 },
		"the price":       func(q *report.Privacy) { q.Accounting.EpsilonLower = 0.2 },
		"the slack":       func(q *report.Privacy) { q.Guarantee.Slack++ },
		"the target":      func(q *report.Privacy) { q.Guarantee.Target.Delta = 1e-12 },
		"the certificate": func(q *report.Privacy) { q.Accounting.Certified = false },
		"curve":           func(q *report.Privacy) { q.Guarantee.Curve[0].Delta = 0 },
		"one-line": func(q *report.Privacy) {
			q.Statements.OneLine = strings.Replace(q.Statements.OneLine, "(1,", "(0.9,", 1)
		},
		"the paragraph": func(q *report.Privacy) { q.Statements.Paragraph += " It is safe." },
		"the odds":      func(q *report.Privacy) { q.Statements.Odds = "none" },
		"the budget":    func(q *report.Privacy) { q.Budget.After *= 0.99 },
	} {
		var q report.Privacy // as a release is read
		if err := json.Unmarshal(text, &q); err != nil {
			t.Fatal(err)
		}
		change(&q)
		if wrong := verify.ReportDiffers(&q, again, p.Budget); !strings.Contains(wrong, part) {
			t.Errorf("%s was changed, %q was found", part, wrong)
		}
	}
	for part, change := range map[string]func(*report.Mechanism){
		"noise of sum": func(m *report.Mechanism) { m.GradientNoise *= 1.01 },
		"the mechanism": func(m *report.Mechanism) {
			m.GradientNoise, m.CountNoise, m.NoiseMultiplier = 2*m.GradientNoise, 2*m.CountNoise, 2*m.NoiseMultiplier
		},
		"the sampler":    func(m *report.Mechanism) { m.Sampler.Rate /= 2 },
		"the sampler of": func(m *report.Mechanism) { m.Sampler.Scheme = "lottery" },
		"the price of the planned": func(m *report.Mechanism) {
			m.Planned = &plan.Planned{Iterations: 2 * m.Iterations, Epsilon: 1.01}
		},
		"price of the planned steps": func(m *report.Mechanism) {
			m.Planned = &plan.Planned{Iterations: m.Iterations, Epsilon: p.Guarantee.Epsilon}
		},
		"mechanism of": func(m *report.Mechanism) { m.Iterations++ },
		"e mechanism": func(m *report.Mechanism) { // more noise than the event has in the first half
			half := m.Iterations / 2
			m.NoiseSchedule = schedule.Factors{{Steps: half, Factor: 2}, {Steps: m.Iterations - half, Factor: 1}}
		},
		" mechanism": func(m *report.Mechanism) { // smaller batches than the event has in the first half
			half := m.Iterations / 2
			m.Sampler.Schedule = schedule.Factors{{Steps: half, Factor: 0.5}, {Steps: m.Iterations - half, Factor: 1}}
		},
		"he mechanism": func(m *report.Mechanism) { // groups that the event does not have
			m.Clip.Groups = clipgroups.Groups{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.5}}
		},
		"the mechanis": func(m *report.Mechanism) { // side queries that the event does not have
			m.SideQueries = &score.SideQueries{Quantities: []string{"loss"}, Steps: []int{m.Iterations}, Noise: 100, LossUnit: 1}
		},
	} {
		var q report.Privacy
		if err := json.Unmarshal(text, &q); err != nil {
			t.Fatal(err)
		}
		change(&q.Mechanism)
		if c := verify.Price(raw, &q); c.OK || !strings.Contains(c.Detail, part) {
			t.Errorf("%s was changed: %+v", part, c)
		}
	}
	if c := verify.Price([]byte("{}"), p); c.OK {
		t.Error("an event without a type was accepted")
	}
}

// The price of a selection is that of all its trials, the fit included.
func TestVerifySelection(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	rel := run.Plan.Neighbours
	s := &plan.Selection{Epsilon: 3, MeanTrials: 4, ScoreNoise: 30}
	for _, fit := range []event.Event{event.Gaussian{NoiseMultiplier: 9}, run.Event} {
		trial, err := event.MarshalDpEvent(s.Trial(fit, rel))
		if err != nil {
			t.Fatal(err)
		}
		s.Trials = append(s.Trials, trial)
	}
	var err error
	if run.Event, err = s.Event(); err != nil {
		t.Fatal(err)
	}
	if run.Spent, err = accountant.Epsilon(run.Event, rel, run.Plan.Delta); err != nil {
		t.Fatal(err)
	}
	run.Plan.Selection, run.Plan.Epsilon = s, s.Epsilon
	p, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	raw := []byte(p.Accounting.Event)
	if c := verify.Price(raw, p); !c.OK {
		t.Fatalf("an honest report is refused: %s", c.Detail)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for part, change := range map[string]func(*report.Mechanism){
		"the selection":         func(m *report.Mechanism) { m.Selection.MeanTrials++ },
		"selection of":          func(m *report.Mechanism) { m.Selection.Trials = m.Selection.Trials[1:] },
		"the mechanism":         func(m *report.Mechanism) { m.Selection.ScoreNoise *= 2 },
		"mechanism of":          func(m *report.Mechanism) { m.Iterations++ },
		"the mechanism of":      func(m *report.Mechanism) { m.Selection = nil },
		"the selection of priv": func(m *report.Mechanism) { m.Selection.Trials = nil },
	} {
		var q report.Privacy
		if err := json.Unmarshal(text, &q); err != nil {
			t.Fatal(err)
		}
		change(&q.Mechanism)
		if c := verify.Price(raw, &q); c.OK || !strings.Contains(c.Detail, part) {
			t.Errorf("%s was changed: %+v", part, c)
		}
	}
}
