// Package planned describes the plan of a fit: as JSON, as a table, and as a line of a sweep.
package planned

import (
	"math"
	"strings"

	"d3p/cmd/d3p/internal/workload"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/outputs"
	"d3p/internal/rehearsal"
	"d3p/internal/report"
	"d3p/internal/run"
	"d3p/internal/verdict"
)

// Result is the JSON form of `d3p plan`: the plan, and the greatest success of an
// attacker under it.
type Result struct {
	*plan.Plan
	Risk     *report.Risk      `json:"risk"`
	Curve    []report.Point    `json:"curve"`
	GDP      *report.GDP       `json:"gdp"`
	Expected []report.Expected `json:"expected_noise"`
	// Statistics are words about what the fit will resolve.
	Statistics string             `json:"statistics"`
	Budget     *report.Budget     `json:"budget"`   // null without a ledger
	Estimate   *workload.Estimate `json:"estimate"` // null if the engine cannot be timed without data
	// Rehearsal has a row for each parameter, and none without --rehearse.
	Rehearsal []rehearsal.Row `json:"rehearsal,omitempty"`

	model *models.Model
}

// Of is what a plan of m is, with the privacy report that the fit would have. It reads no data.
func Of(m *models.Model, p *plan.Plan, privacy *report.Privacy) *Result {
	expected := expectedNoise(m, p)
	r := &Result{
		Plan: p, Expected: expected, Statistics: expectedWords(m, p, expected), Estimate: workload.Of(m, p),
		Risk: privacy.Risk, Budget: privacy.Budget, model: m,
	}
	if g := privacy.Guarantee; g != nil {
		r.Curve, r.GDP = g.Curve, &g.GDP
	}
	return r
}

// expectedNoise predicts the noise share of every parameter. It is empty if the plan has no
// such prediction. It reads no data.
func expectedNoise(m *models.Model, plan *plan.Plan) []report.Expected {
	if plan.ByMarginals() {
		return []report.Expected{}
	}
	shares := rehearsal.ExpectedNoiseShare(plan, run.PriorRandom(0))
	list := []report.Expected{}
	if shares == nil {
		return list
	}
	for i := range m.Params {
		p := &m.Params[i]
		e := report.Expected{Parameter: p.Name, Least: math.Inf(1)}
		for _, s := range shares[p.Offset : p.Offset+p.Size] {
			e.Least, e.Most = min(e.Least, s), max(e.Most, s)
		}
		if p.Size > 0 {
			list = append(list, e)
		}
	}
	return list
}

// expectedWords predict what the fit will resolve, by the noise limits of its verdict and by
// what Table 1 will not measure.
func expectedWords(m *models.Model, p *plan.Plan, list []report.Expected) string {
	switch why := report.ExpectedUnmeasured(m, p); {
	case why != "" && p.Purchase == nil:
		return "no parameter will be resolved: " + why
	case why != "":
		return "no coefficient will be resolved: " + why
	}
	var partly, not []string
	for _, e := range list {
		switch verdict.OfNoise(e.Most).Value {
		case outputs.Not:
			not = append(not, e.Parameter)
		case outputs.Partly:
			partly = append(partly, e.Parameter)
		}
	}
	words := "noise leaves no parameter unresolved"
	if len(partly)+len(not) > 0 {
		words = "expected to be"
		if len(partly) > 0 {
			words += " resolved in part: " + strings.Join(partly, ", ")
		}
		if len(not) > 0 {
			if len(partly) > 0 {
				words += ";"
			}
			words += " not resolved: " + strings.Join(not, ", ")
		}
	}
	return words
}
