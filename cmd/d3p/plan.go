package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/spec"
	"d3p/internal/report"
	"d3p/internal/settings"
)

func newPlan(a *app) *cobra.Command {
	var s *runSettings
	var out string
	c := &cobra.Command{
		Use:   "plan MODEL",
		Short: "Show what a fit would run and what it would cost; reads no data",
		Long: `Plan decides the whole fit from public facts: the model file, the declared number
of records and the budget. It prints the mechanism, its certified price and the
expected noise. It reads no data and spends nothing. --report writes the privacy
report that the fit would have, for the people who decide on it.`,
		Example: "  d3p plan cohort.yaml --epsilon 1\n  d3p plan cohort.yaml --records 20000 --epsilon 0.5 --json\n  d3p plan cohort.yaml --epsilon 1 --report plan.html",
		Args:    exactly("MODEL"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.resolve(c, s); err != nil {
				return err
			}
			m, hash, err := readModel(args[0])
			if err != nil {
				return err
			}
			plan, err := a.plan(c, s, m)
			if err != nil {
				return err
			}
			p, err := plannedPrivacy(c, s, m, hash, plan)
			if err != nil {
				return err
			}
			result := planResult{Plan: plan, Expected: expectedNoise(m, plan), Estimate: estimateWork(m, plan), Risk: p.Risk, Budget: p.Budget}
			if g := p.Guarantee; g != nil {
				result.Curve, result.GDP = g.Curve, &g.GDP
			}
			if out != "" {
				return a.writePlan(out, p, report.Findings{Expected: result.Expected, Work: workWords(plan, result.Estimate)}, m)
			}
			return a.result(result, func(w io.Writer) { printPlan(w, m, result) })
		},
	}
	s = defineSettings(c, settings.Algorithm, settings.Price)
	c.Flags().StringVar(&out, "report", "", "write the privacy report that the fit would have to `FILE`: .html, .md, .txt or .json")
	return c
}

// planResult is the JSON form of `d3p plan`: the plan, and what it would allow an
// attacker.
type planResult struct {
	*plan.Plan
	Risk     *report.Risk      `json:"risk"`
	Curve    []report.Point    `json:"curve"`
	GDP      *report.GDP       `json:"gdp"`
	Expected []report.Expected `json:"expected_noise"`
	Budget   *report.Budget    `json:"budget"`   // null without a ledger
	Estimate *estimate         `json:"estimate"` // null when the engine cannot be timed without data
}

// plan decides a fit of m under the settings, and prints its warnings.
func (a *app) plan(c *cobra.Command, s *runSettings, m *models.Model) (*plan.Plan, error) {
	if err := a.resolveModel(c, s, m.Spec); err != nil {
		return nil, err
	}
	a.warn(m.Spec.Warnings)
	plan, err := plan.New(m, s.Fit)
	if err != nil {
		return nil, failWith(planStatus(err), err)
	}
	applies := map[string]bool{}
	for _, w := range plan.Warnings {
		applies[w.ID] = true
		switch {
		case accepted(s, w.ID):
		case c.Flags().Lookup("accept-risk") == nil:
			a.notef("warning: %s", w.Text)
		default:
			a.notef("warning: %s (--accept-risk %s records that you know)", w.Text, w.ID)
		}
	}
	for _, id := range s.AcceptRisk {
		if !applies[id] {
			a.notef("note: --accept-risk %s: this plan has no such risk", id)
		}
	}
	return plan, nil
}

func accepted(s *runSettings, id string) bool {
	for _, name := range s.AcceptRisk {
		if name == id {
			return true
		}
	}
	return false
}

// printPlan shows a plan as a short table.
func printPlan(w io.Writer, m *models.Model, p planResult) {
	t := columns{w: w}
	t.line(cells{"model", fmt.Sprintf("%s: %d parameters, %d unconstrained numbers", modelName(m.Spec), len(m.Params), p.Latent)})
	t.line(cells{"records", fmt.Sprintf("%d, declared", p.Records)})
	if p.Private {
		t.line(cells{"budget", fmt.Sprintf("epsilon %g, delta %.3g, %s neighbours", p.Epsilon, p.Delta, p.Neighbours)})
		t.line(cells{"certified", "epsilon at most " + roundUp(p.Certified.Upper)})
		t.line(cells{"attacker", fmt.Sprintf("who wrongly accuses 10 of 1000 finds at most %.0f of 1000; advantage at most %s; mu %s",
			math.Ceil(1000*p.Risk.TPRAtFPR["0.01"]), roundUp(p.Risk.Advantage), roundUp(p.GDP.Mu))})
	}
	if b := p.Budget; b != nil {
		t.line(cells{"ledger", fmt.Sprintf("with %s epsilon %s of %g at delta %.3g; left: %s", report.OtherRuns(b.Before.Runs), roundUp(b.After), b.Limit.Epsilon, b.Limit.Delta, roundDown(b.Left))})
	}
	t.line(cells{"steps", fmt.Sprintf("%d, %s batches at rate %.4g", p.Steps, p.Sampling, p.SamplingRate)})
	t.line(cells{"gradient", fmt.Sprintf("%s, %d numbers released per step", p.Gradient, p.Release)})
	if p.Private {
		clip := fmt.Sprintf("%s at %g", p.Clipping, p.ClipNorm)
		if p.ClipQuantile > 0 {
			clip = fmt.Sprintf("%s from %g, leaving %.3g %% of the records whole", p.Clipping, p.ClipNorm, 100*p.ClipQuantile)
		}
		t.line(cells{"clipping", clip})
		t.line(cells{"noise", fmt.Sprintf("multiplier %.5g: standard deviation %.5g per released sum, in clip norms", p.NoiseMultiplier, p.GradientNoise)})
		t.line(cells{"noise to signal", fmt.Sprintf("%.3g (sqrt(P)/(mu N); the noise dominates above 0.05)", p.NoiseToSignal)})
	}
	t.line(cells{"optimizer", fmt.Sprintf("%s, learning rate %g; the last %.3g %% of the iterates are averaged", p.Optimizer, p.LearningRate, 100*p.Averaging)})
	t.line(cells{"posterior", fmt.Sprintf("%s guide from standard deviation %g%s", p.Guide, p.InitScale, guideDetails(m.Spec))})
	if len(p.Expected) > 0 {
		t.line(cells{"expected noise", noiseWords(p.Expected) + " of the posterior variance"})
	}
	t.line(cells{"work", workWords(p.Plan, p.Estimate)})
	t.print()
}

// guideDetails says what the model file states of single parameters.
func guideDetails(s *spec.Spec) string {
	var b strings.Builder
	for _, block := range s.Guide.Blocks {
		fmt.Fprintf(&b, "; %s by %s", block.Param.V, strings.ReplaceAll(block.Family.V, "_", "-"))
	}
	for _, name := range s.Guide.Spread {
		fmt.Fprintf(&b, "; %s starts spread over the declared bounds", name.V)
	}
	return b.String()
}
