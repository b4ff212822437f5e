package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
	"d3p/internal/report"
)

// verifyPrice computes every number of the report that follows from the event
// again, and compares them. Machines differ in the last bits of exponentials,
// so a millionth is allowed.
func verifyPrice(raw []byte, p *report.Privacy) Check {
	c := Check{Name: "every number of the report follows from the event"}
	ev, err := event.UnmarshalDpEvent(raw)
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	again, err := report.PriceOf(ev, event.Relation(p.Neighbours.Relation), p.Guarantee.Delta, p.Mechanism.Iterations)
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	budget, err := p.Budget.Again(ev, event.Relation(p.Neighbours.Relation))
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	if wrong := mechanismDiffers(p, ev); wrong != "" {
		c.Detail = wrong + " of privacy.json is not that of the event"
		return c
	}
	if wrong := reportDiffers(p, again, budget); wrong != "" {
		c.Detail = wrong + " of privacy.json does not follow from the event"
		return c
	}
	c.OK, c.Detail = true, fmt.Sprintf("price, curve, risk, spending, cross-check and sentences: mu %s, advantage %s", report.Upward(again.GDP.Mu), report.Upward(again.Risk.Advantage))
	return c
}

// mechanismDiffers names the first part of the mechanism that contradicts the event.
func mechanismDiffers(p *report.Privacy, ev event.Event) string {
	m := &p.Mechanism
	if m.Epsilon > 0 {
		if one, ok := ev.(event.EpsilonDelta); !ok || one.Delta != 0 || !near(one.Epsilon, m.Epsilon) {
			return "the mechanism"
		}
		return ""
	}
	joint := privacy.Mechanism{GradientNoise: m.GradientNoise, CountNoise: m.CountNoise, CountTarget: m.Clip.Quantile}.NoiseMultiplier()
	if !near(joint, m.NoiseMultiplier) {
		return "the noise of sum and count"
	}
	plan := planOf(p)
	if claim, err := sampler.ClaimFor(plan.Sampler()); err != nil || !near(claim.Rate(), m.Sampler.Rate) {
		return "the sampler"
	}
	if m.Selection != nil {
		return selectionDiffers(p, plan.MechanismEvent(m.NoiseMultiplier), ev)
	}
	// a ledger composes the steps of a schedule within its entry
	said, err := event.MarshalDpEvent(event.Flat(plan.MechanismEvent(m.NoiseMultiplier)))
	happened, errEvent := event.MarshalDpEvent(event.Flat(ev))
	if err != nil || errEvent != nil || !near(decoded(json.RawMessage(said)), decoded(json.RawMessage(happened))) {
		return "the mechanism"
	}
	if m.Planned == nil {
		return ""
	}
	plan.Steps = m.Planned.Iterations
	whole, err := accountant.Epsilon(plan.MechanismEvent(m.NoiseMultiplier), event.Relation(p.Neighbours.Relation), p.Guarantee.Delta)
	if err != nil || plan.Steps <= m.Iterations || !near(whole.Upper, m.Planned.Epsilon) {
		return "the price of the planned steps"
	}
	return ""
}

// selectionDiffers is mechanismDiffers for the event of a selection: it has the fit's event
// and its score among its trials.
func selectionDiffers(p *report.Privacy, fit, happened event.Event) string {
	s := p.Mechanism.Selection
	said, err := s.Event()
	if err != nil || !event.Equal(said, happened) {
		return "the selection"
	}
	own, err := event.MarshalDpEvent(s.Trial(fit, event.Relation(p.Neighbours.Relation)))
	if err != nil || !slices.ContainsFunc(s.Trials, func(trial json.RawMessage) bool { return near(decoded(trial), decoded(json.RawMessage(own))) }) {
		return "the mechanism"
	}
	return ""
}

// reportDiffers names the first part of a report that does not follow from the event: a
// price and, with a ledger, a budget.
func reportDiffers(p *report.Privacy, again *report.Price, budget *report.Budget) string {
	g, a := p.Guarantee, p.Accounting
	line := report.ClaimLine(g.Epsilon, g.Delta, p.Unit.Entity, event.Relation(p.Neighbours.Relation))
	for _, part := range []struct {
		name       string
		want, have any
	}{
		{"the curve", again.Curve, g.Curve}, {"the dominating mu", again.GDP, g.GDP}, {"rho", again.ZCDP, g.ZCDP},
		{"the variants", again.Variants, g.Variants}, {"the groups", again.Together, g.Together}, {"the limits of belief", again.Limits, g.Limits},
		{"the risk", again.Risk, p.Risk}, {"the spending", again.PerIteration, p.PerIteration}, {"the cross-check", again.CrossCheck, a.CrossCheck},
		{"the budget", budget, p.Budget},
		{"the price", []float64{again.Answer.Lower, again.Answer.Estimate, again.Answer.Upper, again.Answer.Upper}, []float64{a.EpsilonLower, a.Epsilon, a.EpsilonUpper, g.Epsilon}},
		{"the slack", g.Target.Epsilon - g.Epsilon, g.Slack}, {"the target", report.Target{Epsilon: g.Target.Epsilon, Delta: g.Delta}, g.Target}, {"the certificate", again.Answer.Certified, a.Certified},
		{"the one-line claim", report.OneLine(line, p.Mechanism.Clip.Mode), p.Statements.OneLine},
		{"the paragraph", report.ClaimParagraph(p.Subject.Name, line, &p.Mechanism, a.EpsilonLower, a.EpsilonUpper), p.Statements.Paragraph},
		{"the odds", report.Odds(again.Risk), p.Statements.Odds},
	} {
		if !near(decoded(part.want), decoded(part.have)) {
			return part.name
		}
	}
	return ""
}

// decoded is v as JSON reads it back: maps, lists, numbers and texts.
func decoded(v any) (out any) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return err // not equal to any number
	}
	return out
}

// near compares two decoded values, numbers within a millionth: of the numbers, for a delta,
// and of at least 1e-3 for others, which can be small differences.
func near(a, b any) bool { return nearOver(a, b, 1e-3) }

func nearOver(a, b any, least float64) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && math.Abs(x-y) <= 1e-6*math.Max(least, math.Max(math.Abs(x), math.Abs(y)))
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !nearOver(x[i], y[i], least) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for key := range x {
			own := least
			if strings.HasSuffix(key, "delta") {
				own = 0
			}
			if !nearOver(x[key], y[key], own) {
				return false
			}
		}
		return true
	}
	return a == b
}
