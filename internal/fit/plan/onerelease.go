package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"d3p/internal/fit/optimizer"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
	"d3p/internal/settings"
	"d3p/internal/table1"
)

// ClippingScore is the clipping of a posterior draw: the score itself is bounded.
const ClippingScore = "bounded score"

// ClippingSlope is the clipping of an exact draw: the weight of a record bounds the slope of
// its log likelihood.
const ClippingSlope = "bounded slope"

// ClippingSquares is the clipping of AdaSSP: a record's second moments are shortened.
const ClippingSquares = "bounded moments"

// ClippingOutput and ClippingObjective are the clippings of a perturbed optimum: rows that are
// too long in units of the prior are shortened.
const ClippingOutput, ClippingObjective = "perturbed output", "perturbed objective"

// Single names what a fit with this clipping releases in place of a posterior: a draw, or an
// estimate; "": it releases a posterior.
func Single(clipping string) string {
	switch clipping {
	case ClippingScore, ClippingSlope:
		return "draw"
	case ClippingSquares, ClippingOutput, ClippingObjective:
		return "estimate"
	}
	return ""
}

// RiskApproximate is the name of the risk of a posterior draw.
const RiskApproximate = "approximate-sampler"

// newOneRelease plans a fit that takes no steps: a draw of the posterior, or an estimate.
func newOneRelease(m *models.Model, cfg Config) (*Plan, error) {
	if cfg.NonPrivate {
		return nil, fmt.Errorf("--method: %s is private (type d3p fit, or --method nuts)", cfg.Method)
	}
	if cfg.Guide == m.Spec.GuideDefault() { // d3p render prints it
		cfg.Guide = ""
	}
	if err := unused(cfg, "a fit without gradient steps has no use for it", "method", "records", "init-seed", "epsilon", "delta", "neighbours"); err != nil {
		return nil, err
	}
	if !(cfg.Epsilon > 0) {
		return nil, fmt.Errorf("--method: %s needs --epsilon", cfg.Method)
	}
	if err := buysNothing(m, "--method "+cfg.Method, "type --method vi"); err != nil {
		return nil, err
	}
	p := &Plan{
		Method: cfg.Method, Private: true, Records: cmp.Or(cfg.Records, m.Spec.Data.Rows.N()), Latent: m.P, Release: m.P, Draws: 1,
		Gradient: settings.GradientAligned, Guide: guide.DeltaName, Init: "zero", InitSeed: cfg.InitSeed, Schedule: "constant",
		Optimizer: optimizer.AdamName, NoiseAware: settings.NoiseAwareNone, ClipNorm: 1,
		Sampling: sampler.Full, SamplingRate: 1, Steps: 1, model: m,
	}
	for i := range m.Params {
		p.Sizes = append(p.Sizes, m.Params[i].Size)
	}
	var err error
	if p.Neighbours, err = event.ParseRelation(cmp.Or(cfg.Neighbours, string(event.AddRemove))); err != nil {
		return nil, err
	}
	p.Delta = cmp.Or(cfg.Delta, DefaultDelta(p.Records))
	p.setBudget(cfg.Epsilon)
	p.warn()
	p.NoiseToSignal = 0
	p.keepWarnings("delta-above-1/n", "large-epsilon")
	switch cfg.Method {
	case settings.MethodAdaSSP:
		return p, p.estimateBySquares()
	case settings.MethodOutput:
		return p, p.perturb(ClippingOutput)
	case settings.MethodObjective:
		return p, p.perturb(ClippingObjective)
	}
	return p, p.drawPosterior()
}

// drawPosterior makes p the plan of one draw of the generalised posterior.
func (p *Plan) drawPosterior() error {
	if p.Method == settings.MethodGibbs || !p.model.Spec.Likelihood.IsBeta() {
		return p.drawExactly()
	}
	if err := boundedScore(p.model); err != nil {
		return fmt.Errorf("--method: one_posterior_sample needs %w", err)
	}
	p.Clipping = ClippingScore
	p.Warnings = append(p.Warnings, Warning{RiskApproximate,
		"the guarantee holds for an exact draw of the posterior; the No-U-Turn sampler draws approximately, and its distance from an exact draw is not proven"})
	answer, err := p.price()
	if err != nil {
		return fmt.Errorf("--epsilon: %w", err)
	}
	p.Certified = &answer
	return p.recordEvent()
}

// logistic is the logistic regression that the method needs.
func (p *Plan) logistic() (*table1.Logistic, error) {
	l, err := table1.LogisticOf(p.model)
	if err == nil {
		return l, nil
	}
	remedy := ""
	if p.Method == settings.MethodOneSample {
		remedy = "; a log likelihood has no bound for an inexact draw: add `likelihood: {divergence: beta}` to the model file"
	}
	return nil, fmt.Errorf("--method: %s is for a logistic regression, and here %w%s", p.Method, err, remedy)
}

// boundedScore states what a draw by the No-U-Turn sampler lacks.
func boundedScore(m *models.Model) error {
	if _, err := m.ScoreRange(); err != nil {
		return fmt.Errorf("a score between bounds, and here %w", err)
	}
	if _, err := m.DensityTape(); err != nil {
		return fmt.Errorf("the score of a record, and here %w", err)
	}
	return nil
}

// drawExactly makes p the plan of an exact draw, which costs what a Gaussian costs: at most the
// budget, and less where the weight of the model file leaves less slope to every record.
func (p *Plan) drawExactly() error {
	l, err := p.logistic()
	if err != nil {
		return err
	}
	if err := p.releaseOnce(ClippingSlope); err != nil {
		return err
	}
	m, _, err := p.LogisticDraw()
	if err != nil {
		return err
	}
	rows := max(1, p.model.Encoding.RowsPerUnit)
	slope, err := m.Slope(rows)
	if err != nil {
		return err
	}
	longest, err := l.Longest(p.model)
	if most := p.fileWeight() * float64(rows) * longest * (1 + 1e-6); err == nil && most < slope {
		return p.spendLess(m, rows, most)
	}
	return nil // without bounds of the columns the budget is the bound
}

// spendLess raises the noise multiplier of an exact draw until slopes of `most` are left, and
// lowers the budget to the price.
func (p *Plan) spendLess(m privacy.LogisticDraw, rows int, most float64) error {
	enough, tooMuch := m.Noise, 1/most
	for range 60 {
		m.Noise = math.Sqrt(enough * tooMuch)
		if slope, err := m.Slope(rows); err == nil && slope >= most {
			enough = m.Noise
		} else {
			tooMuch = m.Noise
		}
	}
	if err := p.certify(enough); err != nil {
		return err
	}
	p.setBudget(min(p.Epsilon, roundUp(p.Certified.Upper)))
	p.SplitNoise()
	return nil
}

// fileWeight is the weight of every record by the model file.
func (p *Plan) fileWeight() float64 { return p.model.Spec.Likelihood.Weight.Or(1) }

// releaseOnce calibrates the noise of one release.
func (p *Plan) releaseOnce(clipping string) error {
	p.Clipping = clipping
	if err := p.calibrate(); err != nil {
		return err
	}
	p.SplitNoise()
	return nil
}

// estimateBySquares makes p the plan of AdaSSP.
func (p *Plan) estimateBySquares() error {
	b, err := p.AdaSSP()
	if err != nil {
		return err
	}
	p.ClipNorm = b.Bound
	return p.releaseOnce(ClippingSquares)
}

// AdaSSP is the regression whose second moments such a plan releases.
func (p *Plan) AdaSSP() (*table1.Bounded, error) {
	r := table1.RegressionOf(p.model)
	if r == nil {
		return nil, errors.New("--method: adassp is for a normal family with identity link and at most 16 columns as predictors (type --method vi)")
	}
	b, err := r.Within(p.model)
	if err != nil {
		return nil, fmt.Errorf("--method: adassp: %w", err)
	}
	return b, nil
}

// Estimates reports whether the plan releases a point estimate at once.
func (p *Plan) Estimates() bool { return Single(p.Clipping) == "estimate" }

// Perturbs reports whether the plan releases a perturbed optimum.
func (p *Plan) Perturbs() bool {
	return p.Clipping == ClippingOutput || p.Clipping == ClippingObjective
}

// perturb makes p the plan of a perturbed optimum.
func (p *Plan) perturb(clipping string) error {
	l, err := p.logistic()
	if err != nil {
		return err
	}
	if p.model.Spec.Likelihood.Weight.IsSet() {
		return fmt.Errorf("--method: %s weighs all records alike: remove gibbs from likelihood", p.Method)
	}
	rows := max(1, p.model.Encoding.RowsPerUnit)
	if clipping == ClippingObjective && rows > 1 {
		return errors.New("--method: objective_perturbation has a price for one row per unit (type --method output_perturbation)")
	}
	p.Clipping = clipping
	if p.ClipNorm, err = l.Length(p.model); err != nil {
		return fmt.Errorf("--method: %s: %w", p.Method, err)
	}
	p.ClipNorm = min(p.ClipNorm, privacy.LongestDesign)
	best := math.Inf(1)
	for ridge := 1.0; ridge < 1e6; ridge *= 1.25 {
		m := p.optimum(1 / p.Mu)
		m.Ridge, m.Logistic = ridge, l.Regression(p.Records)
		if e := p.expectedError(m, rows); e < best {
			best, p.Ridge = e, ridge
		}
	}
	if p.Ridge == 0 {
		return fmt.Errorf("--epsilon: %g is too small for %s (type a larger one)", p.Epsilon, p.Method)
	}
	return p.releaseOnce(clipping)
}

// expectedError is about the mean square error of a coefficient in units of its prior: what the
// ridge beyond the prior takes from it, and the noise. A record is expected to have a curvature
// of 0.2 times its squared length.
func (p *Plan) expectedError(m privacy.LogisticOptimum, rows int) float64 {
	curvature := m.Ridge + 0.2*m.Bound*m.Bound*float64(p.Records)/float64(len(m.SD))
	square := math.Pow((m.Ridge-1)/curvature, 2) + math.Pow(m.OutputSD(rows), 2)
	if p.Clipping == ClippingObjective {
		square += math.Pow(m.Tilt()/curvature, 2)
	}
	return square
}

// optimum has the public numbers of a perturbed optimum at a noise multiplier.
func (p *Plan) optimum(noise float64) privacy.LogisticOptimum {
	return privacy.LogisticOptimum{Purpose: "fit", Bound: p.ClipNorm, Ridge: p.Ridge, Noise: noise, Objective: p.Clipping == ClippingObjective}
}

// LogisticOptimum is the mechanism that such a plan asks of the curator, and the places in θ of
// what it returns.
func (p *Plan) LogisticOptimum() (m privacy.LogisticOptimum, places []int, err error) {
	l, err := p.logistic()
	if err != nil {
		return m, nil, err
	}
	m = p.optimum(p.NoiseMultiplier)
	m.Logistic = l.Regression(p.Records)
	return m, l.Places, nil
}

// ReadsColumns reports whether the plan's fit reads the columns of the file, and no table.
func (p *Plan) ReadsColumns() bool { return p.DrawsExactly() || p.Estimates() }

// DrawsExactly reports whether the plan releases one exact draw of the posterior.
func (p *Plan) DrawsExactly() bool { return p.Clipping == ClippingSlope }

// LogisticDraw is the mechanism that such a plan asks of the curator, and the places in θ of
// what it returns.
func (p *Plan) LogisticDraw() (m privacy.LogisticDraw, places []int, err error) {
	l, err := p.logistic()
	if err != nil {
		return m, nil, err
	}
	m = privacy.LogisticDraw{Purpose: "fit", Logistic: l.Regression(p.Records), Noise: p.NoiseMultiplier}
	m.Most, err = p.mostWeight(l, m)
	return m, l.Places, err
}

// mostWeight is the greatest weight of a row in an exact draw: 1, or that of the model file. A
// Gibbs posterior has one weight for all records: that of the longest design within bounds.
// Minami, Arai, Sato and Nakagawa 2016, Differential Privacy without Sensitivity.
func (p *Plan) mostWeight(l *table1.Logistic, m privacy.LogisticDraw) (float64, error) {
	weight := p.fileWeight()
	if weight > 1 {
		return 0, fmt.Errorf("likelihood.gibbs.weight: an exact draw takes a weight of at most 1, not %g", weight)
	}
	if p.Method != settings.MethodGibbs {
		return weight, nil
	}
	rows := max(1, p.model.Encoding.RowsPerUnit)
	slope, err := m.Slope(rows)
	if err != nil {
		return 0, err
	}
	longest, err := l.Longest(p.model)
	if err != nil {
		return 0, fmt.Errorf("--method: gibbs_posterior: %w", err)
	}
	return min(weight, slope/(float64(rows)*longest)*(1-1e-9)), nil
}

// DrawsPosterior reports whether the plan releases one draw of the posterior.
func (p *Plan) DrawsPosterior() bool {
	return p.Method == settings.MethodOneSample || p.Method == settings.MethodGibbs
}

// PosteriorDraw is the mechanism that such a plan asks of the curator.
func (p *Plan) PosteriorDraw() (privacy.PosteriorDraw, error) {
	bound, err := p.model.ScoreRange()
	return privacy.PosteriorDraw{Purpose: "fit", Model: p.model, Epsilon: p.Epsilon, Range: bound, Chains: Chains, Warmup: Warmup, Kept: Kept}, err
}

// unused refuses the given settings, except names, of an algorithm that takes only these.
func unused(cfg Config, why string, names ...string) error {
	given := cfg.given()
	if cfg.Table1 == settings.Auto {
		delete(given, "table1")
	}
	for _, row := range settings.Table() {
		if _, ok := given[row.Name]; ok && !slices.Contains(names, row.Name) {
			return fmt.Errorf("--%s: %s (leave it out)", row.Name, why)
		}
	}
	return nil
}
