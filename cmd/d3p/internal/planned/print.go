package planned

import (
	"fmt"
	"io"
	"math"
	"strings"

	"d3p/cmd/d3p/internal/modelfile"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/fit/plan"
	"d3p/internal/models/data"
	"d3p/internal/models/spec"
	"d3p/internal/privacy/sampler"
	"d3p/internal/report"
	"d3p/internal/table1"
)

// Print shows a plan as a short table.
func (p *Result) Print(w io.Writer) {
	m, t := p.model, terminal.Columns{W: w}
	if p.ByMarginals() {
		p.printMarginals(&t)
		return
	}
	t.Line(terminal.Cells{"model", fmt.Sprintf("%s: %d parameters, %d unconstrained numbers", modelfile.Name(m.Spec), len(m.Params), p.Latent)})
	t.Line(terminal.Cells{"records", declaredRecords(m.Spec.Data.Unit, p.Records)})
	p.printClaim(&t)
	if words := releaseWords(p.Plan); words != "" {
		t.Line(terminal.Cells{"release", words})
		t.Print()
		return
	}
	for i := range p.Levels {
		l := &p.Levels[i]
		t.Line(terminal.Cells{"bought", fmt.Sprintf("%s, at most %d, of a noisy count of %.0f or more, with noise of standard deviation %.3g, for epsilon %g alone; the other lines assume %d", l.Purpose(), l.Most, math.Ceil(l.Threshold), l.Noise, l.Price, l.Most)})
	}
	for i := range p.Bounds {
		b := &p.Bounds[i]
		words := fmt.Sprintf("%s, with noise of standard deviation %.3g in a count, for epsilon %s alone", b.Purpose(), b.Histogram.Noise, b.Price())
		if aim := b.Aim(); aim != "" {
			words += "; numbers outside: " + aim
		}
		t.Line(terminal.Cells{"bought", words})
	}
	if u := p.Counted; u != nil {
		t.Line(terminal.Cells{"bought", fmt.Sprintf("%s, with noise of standard deviation %.3g, for epsilon %g alone", u.Purpose(), u.Noise, u.Price)})
	}
	if b := p.Purchase; b != nil {
		t.Line(terminal.Cells{"table 1", tableWords(b)})
	}
	t.Line(terminal.Cells{"steps", fmt.Sprintf("%d, %s batches at rate %.4g", p.Steps, batchWords(p.Plan), p.SamplingRate)})
	t.Line(terminal.Cells{"gradient", fmt.Sprintf("%s, %d numbers released per step", p.Gradient, p.Release)})
	if p.Private {
		p.printNoise(&t)
	}
	p.printAfter(&t)
	if p.Plan.ByMoments() {
		t.Line(terminal.Cells{"optimizer", "Newton steps by the second moments"})
		t.Line(terminal.Cells{"posterior", "a sample of the prior times the likelihood of all that is released"})
	} else {
		p.printGuide(&t)
	}
	if len(p.Expected) > 0 {
		t.Line(terminal.Cells{"expected noise", noiseWords(p.Expected) + " of the posterior variance"})
		t.Line(terminal.Cells{"statistics", p.Statistics})
	}
	t.Line(terminal.Cells{"work", p.Estimate.Words(p.Plan)})
	if p.Estimate != nil {
		t.Line(terminal.Cells{"processes", p.Estimate.Processes(p.Plan, len(m.Encoding.Columns()))})
	}
	for _, r := range p.Rehearsal {
		t.Line(terminal.Cells{"rehearsal", fmt.Sprintf("%s: %.0f ± %.0f %% of %d intervals of 90 %% hold; width %.2g of the prior's",
			r.Parameter, 100*r.Hold, 100*r.HoldSE, r.Intervals, r.Width)})
	}
	t.Print()
}

// printAfter shows what a plan buys after the last step.
func (p *Result) printAfter(t *terminal.Columns) {
	if q := p.SideQueries; q != nil {
		t.Line(terminal.Cells{"trace", fmt.Sprintf("%s at %d iterates, with noise of standard deviation %.3g in a sum", strings.Join(q.Quantities, ", "), len(q.Steps), q.Noise)})
	}
	if q := p.DesignEffects; q != nil {
		t.Line(terminal.Cells{"design effects", fmt.Sprintf("noisy squares of the gradients of each %s at the end of the fit, with noise of standard deviation %.3g in a sum", p.Model().Spec.Data.Unit.Entity.V, q.Noise)})
	}
	if q := p.Surprisals; q != nil {
		t.Line(terminal.Cells{"surprisals", fmt.Sprintf("counts of records by -log p at the end of the fit, with noise of standard deviation %.3g", q.Noise)})
	}
}

// releaseWords describe the release of a fit that takes no steps; "" if it takes steps.
func releaseWords(p *plan.Plan) string {
	switch {
	case p.Perturbs():
		return fmt.Sprintf("the mode of a %s with ridge %.4g, rows shortened to %.4g, at noise multiplier %.5g: %d numbers", p.Clipping, p.Ridge, p.ClipNorm, p.NoiseMultiplier, p.Release)
	case p.Estimates():
		return fmt.Sprintf("second moments, each record's of length at most %.4g, at noise multiplier %.5g; of them %d numbers", p.ClipNorm, p.NoiseMultiplier, p.Release)
	case p.DrawsExactly():
		words := fmt.Sprintf("one draw of the posterior, by rejection, exactly, at the price of a Gaussian of noise multiplier %.5g: %d numbers", p.NoiseMultiplier, p.Release)
		if m, _, err := p.LogisticDraw(); err == nil && m.Most < 1 {
			words += fmt.Sprintf("; a record weighs at most %.4g", m.Most)
		}
		return words
	case p.DrawsPosterior():
		return fmt.Sprintf("one draw of the posterior, by the No-U-Turn sampler: %d numbers", p.Release)
	}
	return ""
}

// printNoise shows how gradients are clipped and what noise is added.
func (p *Result) printNoise(t *terminal.Columns) {
	clip := fmt.Sprintf("%s at %g", p.Clipping, p.ClipNorm)
	if p.ClipBound > 0 && !p.Plan.Clips() {
		clip = fmt.Sprintf("%s at %.4g, a bound of every gradient", p.Clipping, p.ClipBound)
	}
	if p.Plan.ByMoments() {
		clip = "at norms that follow from earlier releases"
	}
	if p.ClipQuantile > 0 {
		clip = fmt.Sprintf("%s from %g, leaving %.3g %% of the records whole", p.Clipping, p.ClipNorm, 100*p.ClipQuantile)
	}
	if p.ClipNormSchedule != nil {
		least, most := p.ClipNormSchedule.Range()
		clip += fmt.Sprintf(" times factors from %.4g to %.4g", least, most)
	}
	if p.ClipGroups != nil {
		clip += fmt.Sprintf(", in %d separate groups", len(p.ClipGroups))
	}
	t.Line(terminal.Cells{"clipping", clip})
	t.Line(terminal.Cells{"noise", fmt.Sprintf("multiplier %.5g: standard deviation %.5g per released sum, in clip norms", p.NoiseMultiplier, p.GradientNoise)})
	if p.BatchSchedule != nil {
		least, most := p.BatchSchedule.Range()
		t.Line(terminal.Cells{"batch schedule", fmt.Sprintf("%d pieces with factors of the rate from %.4g to %.4g", len(p.BatchSchedule), least, most)})
	}
	if p.NoiseSchedule != nil {
		least, most := p.NoiseSchedule.Range()
		t.Line(terminal.Cells{"noise schedule", fmt.Sprintf("%d pieces with factors from %.4g to %.4g", len(p.NoiseSchedule), least, most)})
	}
	t.Line(terminal.Cells{"noise to signal", fmt.Sprintf("%.3g (sqrt(P)/(mu N))", p.NoiseToSignal)})
}

// batchWords describe how batches are drawn.
func batchWords(p *plan.Plan) string {
	if p.Batches == sampler.Feistel {
		return p.Sampling + " (feistel)"
	}
	return p.Sampling
}

// printGuide shows the optimizer and the guide of a plan.
func (p *Result) printGuide(t *terminal.Columns) {
	t.Line(terminal.Cells{"optimizer", fmt.Sprintf("%s, learning rate %g; the last %.3g %% of the iterates are averaged", p.Optimizer, p.LearningRate, 100*p.Averaging)})
	t.Line(terminal.Cells{"posterior", fmt.Sprintf("%s guide from standard deviation %g%s", p.Guide, p.InitScale, guideDetails(p.model.Spec))})
}

// printClaim shows the budget of a plan, its certified price, and the rest of a ledger.
func (p *Result) printClaim(t *terminal.Columns) {
	if p.Private {
		t.Line(terminal.Cells{"budget", fmt.Sprintf("epsilon %g, delta %.3g, %s neighbours", p.Epsilon, p.Delta, p.Neighbours)})
		t.Line(terminal.Cells{"certified", "epsilon at most " + terminal.AtMost(p.Certified.Upper)})
		t.Line(terminal.Cells{"attacker", fmt.Sprintf("who wrongly accuses 10 of 1000 finds at most %.0f of 1000; advantage at most %s; mu %s",
			math.Ceil(1000*p.Risk.TPRAtFPR["0.01"]), terminal.AtMost(p.Risk.Advantage), terminal.AtMost(p.GDP.Mu))})
	}
	if b := p.Budget; b != nil {
		t.Line(terminal.Cells{"ledger", fmt.Sprintf("with %s epsilon %s of %g at delta %.3g; left: %s", report.OtherRuns(b.Before.Runs), terminal.AtMost(b.After), b.Limit.Epsilon, b.Limit.Delta, terminal.AtLeast(b.Left))})
	}
}

// tableWords describes the purchase before the fit.
func tableWords(b *table1.Plan) string {
	var parts []string
	for _, r := range b.Releases {
		switch r.Kind {
		case table1.Moments:
			parts = append(parts, "correlations")
		case table1.Pairs:
			parts = append(parts, "pairs of levels")
		case table1.Groups:
			parts = append(parts, "values of groups")
		case table1.Counts:
			parts = append(parts, fmt.Sprintf("counts with noise of standard deviation %.3g", r.Noise))
		case table1.Ranges:
			parts = append(parts, "where numbers lie")
		case table1.Second:
			parts = append(parts, "second moments of the design and the response")
		}
	}
	if b.LooksCloser() {
		parts = append(parts, "closer looks at correlations")
	}
	return fmt.Sprintf("%s, for %.3g %% of mu squared", strings.Join(parts, ", "), 100*b.Share)
}

// declaredRecords is the declared number, with what a record is if that is more than a row.
func declaredRecords(u data.Unit, records int) string {
	if u.RowsPerUnit.V > 1 {
		return fmt.Sprintf("%d, declared; each is one %s with at most %d rows", records, u.Entity.V, u.RowsPerUnit.V)
	}
	return fmt.Sprintf("%d, declared", records)
}

// printMarginals shows the plan of a synthetic table by marginals.
func (p *Result) printMarginals(t *terminal.Columns) {
	t.Line(terminal.Cells{"model", modelfile.Name(p.model.Spec) + ": a synthetic table from noisy tables of counts"})
	t.Line(terminal.Cells{"records", declaredRecords(p.model.Spec.Data.Unit, p.Records)})
	p.printClaim(t)
	t.Line(terminal.Cells{"releases", fmt.Sprintf("single columns, a first look at every table of the workload, and rounds of the tables that matter; together they cost %d of this noise", p.Steps)})
	t.Line(terminal.Cells{"noise", fmt.Sprintf("standard deviation %.4g of a count that is a release of its own; a release of k tables has sqrt(k) times that", p.NoiseMultiplier)})
	t.Print()
}

// guideDetails describes the guides of single parameters in the model file.
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

// noiseWords describe the noise in a line.
func noiseWords(list []report.Expected) string {
	var parts []string
	for _, e := range list {
		parts = append(parts, e.Parameter+" "+report.Shares(e.Least, e.Most))
	}
	return strings.Join(parts, ", ")
}
