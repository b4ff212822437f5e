package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/modelfile"
	"d3p/cmd/d3p/internal/status"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/cmd/d3p/internal/workload"
	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/spec"
	"d3p/internal/outputs"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/privacy/sampler"
	"d3p/internal/rehearsal"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/run"
	"d3p/internal/settings"
	"d3p/internal/synthesis"
	"d3p/internal/table1"
	"d3p/internal/verdict"
)

func newPlan(a *app) *cobra.Command {
	var s *flags.Settings
	var o planOptions
	c := &cobra.Command{
		Use:   "plan MODEL",
		Short: "Show the plan of a fit and its price; reads no data",
		Long: `Plan decides the whole fit from public facts: the model file, the declared number
of records and the budget. It prints the mechanism, its certified price and the
expected noise. It reads no data and spends nothing. --report writes the privacy
report that the fit would have, for the people who decide on it. --sweep compares the
plans of several values of a setting, or of two. --rehearse fits tables that the model
draws from its prior. It prints the share of intervals that hold the drawn parameters
(about nine in ten should), and their width relative to the prior's. With both,
each plan is rehearsed.`,
		Example: "  d3p plan cohort.yaml --epsilon 1\n  d3p plan cohort.yaml --sweep epsilon=0.3,1,3 --sweep steps=500,2000\n  d3p plan cohort.yaml --epsilon 1 --rehearse 10\n  d3p plan cohort.yaml --records 20000 --epsilon 0.5 --json\n  d3p plan cohort.yaml --epsilon 1 --report plan.html",
		Args:    exactly("MODEL"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.runPlan(c, s, args[0], o)
		},
	}
	s = flags.Define(c, settings.Algorithm, settings.Price)
	c.Flags().StringArrayVar(&o.sweep, "sweep", nil, "compare the plans of `SETTING=VALUE,VALUE,...`; given twice, of all pairs")
	c.Flags().IntVar(&o.tables, rehearseFlag, 0, "fit this `NUMBER` of simulated tables, and compare the intervals with the truth")
	c.Flags().StringVar(&o.out, "report", "", "write the privacy report that the fit would have to `FILE`: .html, .md, .txt or .json")
	return c
}

// planOptions are the flags of plan besides the settings.
type planOptions struct {
	out    string
	sweep  []string
	tables int
}

// runPlan runs the command.
func (a *app) runPlan(c *cobra.Command, s *flags.Settings, path string, o planOptions) error {
	if err := s.Resolve(c, a.environment()); err != nil {
		return err
	}
	m, hash, err := modelfile.Read(path)
	if err != nil {
		return err
	}
	rehearse := c.Flags().Changed(rehearseFlag)
	switch {
	case o.out != "" && (rehearse || len(o.sweep) > 0):
		return status.Usagef("--report: it goes with neither --sweep nor --rehearse (leave them out)")
	case rehearse && (o.tables < 1 || o.tables > mostRehearsed):
		return status.Usagef("--rehearse: %d tables, want 1 to %d", o.tables, mostRehearsed)
	case len(o.sweep) > 0:
		return a.sweep(c, m, o.sweep, o.tables)
	}
	plan, err := a.plan(c, s, m)
	if err != nil {
		return err
	}
	if err := fit.CheckFinite(plan); err != nil {
		return status.With(status.Spec, err)
	}
	p, err := plannedPrivacy(c, s, m, hash, plan)
	if err != nil {
		return err
	}
	expected := expectedNoise(m, plan)
	result := planResult{Plan: plan, Expected: expected, Statistics: expectedWords(m, plan, expected), Estimate: workload.Of(m, plan), Risk: p.Risk, Budget: p.Budget}
	if g := p.Guarantee; g != nil {
		result.Curve, result.GDP = g.Curve, &g.GDP
	}
	if rehearse {
		if result.Rehearsal, err = a.rehearse(c.Context(), m, plan, o.tables); err != nil {
			return err
		}
	}
	if o.out != "" {
		return a.writePlan(o.out, p, report.Findings{Expected: result.Expected, Work: result.Estimate.Words(plan)}, m)
	}
	return a.result(result, func(w io.Writer) { printPlan(w, m, result) })
}

// planResult is the JSON form of `d3p plan`: the plan, and the greatest success of an
// attacker under it.
type planResult struct {
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
}

// decide plans a fit of m under the settings.
func decide(c *cobra.Command, s *flags.Settings, m *models.Model) (*plan.Plan, error) {
	if err := s.ResolveModel(c, m.Spec); err != nil {
		return nil, err
	}
	s.Fit.Card = cudaNumber(s.Device) >= 0
	if s.Fit.Table1 == "" && !s.Fit.NonPrivate {
		s.Fit.Table1 = settings.Table1Default
	}
	if m.ByMarginals() {
		if err := synthesis.Check(m); err != nil {
			return nil, status.With(status.Spec, err)
		}
	}
	p, err := plan.New(m, s.Fit)
	return p, s.Locate(m.Spec, err)
}

// plan is decide, with warnings.
func (a *app) plan(c *cobra.Command, s *flags.Settings, m *models.Model) (*plan.Plan, error) {
	a.warn(m.Spec.Warnings)
	plan, err := decide(c, s, m)
	if err != nil {
		return nil, err
	}
	applies := map[string]bool{}
	for _, w := range plan.Warnings {
		applies[w.ID] = true
		switch {
		case slices.Contains(s.AcceptRisk, w.ID):
		case c.Flags().Lookup("accept-risk") == nil:
			a.warnf("%s", w.Text)
		default:
			a.warnf("%s (--accept-risk %s records that you accept it)", w.Text, w.ID)
		}
	}
	for _, id := range s.AcceptRisk {
		if !applies[id] {
			a.notef("note: --accept-risk %s: this plan has no such risk", id)
		}
	}
	if isMixture(m) && plan.Purchase == nil && !s.Fit.NonPrivate {
		a.warnf("the plan buys no Table 1, and without it d3p twin draws no table of a mixture (leave --table1 auto and a budget, or write `engine: marginals`)")
	}
	return plan, nil
}

// printPlan shows a plan as a short table.
func printPlan(w io.Writer, m *models.Model, p planResult) {
	t := terminal.Columns{W: w}
	if p.ByMarginals() {
		printMarginalPlan(w, m, p)
		return
	}
	t.Line(terminal.Cells{"model", fmt.Sprintf("%s: %d parameters, %d unconstrained numbers", modelfile.Name(m.Spec), len(m.Params), p.Latent)})
	t.Line(terminal.Cells{"records", declaredRecords(m.Spec.Data.Unit, p.Records)})
	printClaim(&t, p)
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
		printNoise(&t, p)
	}
	printAfter(&t, p)
	if p.Plan.ByMoments() {
		t.Line(terminal.Cells{"optimizer", "Newton steps by the second moments"})
		t.Line(terminal.Cells{"posterior", "a sample of the prior times the likelihood of all that is released"})
	} else {
		printGuide(&t, m, p)
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
func printAfter(t *terminal.Columns, p planResult) {
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
func printNoise(t *terminal.Columns, p planResult) {
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
func printGuide(t *terminal.Columns, m *models.Model, p planResult) {
	t.Line(terminal.Cells{"optimizer", fmt.Sprintf("%s, learning rate %g; the last %.3g %% of the iterates are averaged", p.Optimizer, p.LearningRate, 100*p.Averaging)})
	t.Line(terminal.Cells{"posterior", fmt.Sprintf("%s guide from standard deviation %g%s", p.Guide, p.InitScale, guideDetails(m.Spec))})
}

// printClaim shows the budget of a plan, its certified price, and the rest of a ledger.
func printClaim(t *terminal.Columns, p planResult) {
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

// printMarginalPlan shows the plan of a synthetic table by marginals.
func printMarginalPlan(w io.Writer, m *models.Model, p planResult) {
	t := terminal.Columns{W: w}
	t.Line(terminal.Cells{"model", modelfile.Name(m.Spec) + ": a synthetic table from noisy tables of counts"})
	t.Line(terminal.Cells{"records", declaredRecords(m.Spec.Data.Unit, p.Records)})
	printClaim(&t, p)
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

// noiseWords describe the noise in a line.
func noiseWords(list []report.Expected) string {
	var parts []string
	for _, e := range list {
		parts = append(parts, e.Parameter+" "+report.Shares(e.Least, e.Most))
	}
	return strings.Join(parts, ", ")
}

// plannedPrivacy is the privacy report of a fit that has not run. It reads no
// data.
func plannedPrivacy(c *cobra.Command, s *flags.Settings, m *models.Model, hash string, plan *plan.Plan) (*report.Privacy, error) {
	command := s.Command(c)
	command[0] = "d3p fit"
	planned := report.Run{
		ID: "plan", Created: time.Now(), Status: report.Planned, Tool: tool("none"), Name: modelfile.Name(m.Spec),
		Spec: m.Spec, Encoding: m.Encoding, SpecSHA256: hash, Command: command, Accepted: s.AcceptRisk,
		Plan: plan, Posterior: &posterior.Posterior{Plan: plan, Steps: plan.Steps},
	}
	if plan.Private {
		planned.Event, planned.Spent = plan.MechanismEvent(plan.NoiseMultiplier), *plan.Certified
		var err error
		if planned.Booked, err = run.Booked(s.Ledger, "", m.Spec.Data.Unit.Entity.V, plan.Neighbours); err != nil {
			return nil, err
		}
	}
	p, err := planned.Privacy()
	return p, status.With(status.Numeric, err)
}

// writePlan writes the report of a plan in the format of the file's extension.
func (a *app) writePlan(out string, p *report.Privacy, f report.Findings, m *models.Model) error {
	format := strings.TrimPrefix(filepath.Ext(out), ".")
	if format == "txt" {
		format = "text"
	}
	if err := flags.CheckWords("--report: extension of "+filepath.Base(out), []string{format}, []string{"html", "md", "text", "json"}); err != nil {
		return err
	}
	file, err := report.ReportFile(format, p, f, m.Spec)
	if err != nil {
		return status.With(status.Spec, err)
	}
	return a.writeFiles([]release.File{file}, false, out)
}

// rehearseFlag asks plan for fits of simulated tables.
const rehearseFlag = "rehearse"

// mostRehearsed is the most tables of a rehearsal.
const mostRehearsed = 1000

// rehearse fits tables that m draws from its prior. It reads no data.
func (a *app) rehearse(ctx context.Context, m *models.Model, p *plan.Plan, tables int) ([]rehearsal.Row, error) {
	if err := rehearsable(m, p); err != nil {
		return nil, err
	}
	if err := a.stopItself(ctx); err != nil { // rehearse removes the folder
		return nil, err
	}
	folder, err := os.MkdirTemp("", "d3p-rehearsal-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	rows, err := rehearsal.Rehearsal{
		Plan: p, Drawn: m, Folder: folder, Engine: func() privacy.Engine { return cpu.New(cpu.Options{Threads: 1}) },
	}.Run(ctx, tables)
	if ctx.Err() != nil {
		return nil, status.With(status.Interrupted, errors.New("the rehearsal was stopped"))
	}
	return rows, status.With(status.Numeric, err)
}

// rehearsable returns an error if the plan draws no intervals, or if d3p cannot draw a
// table of the model in the form that the fit reads.
func rehearsable(m *models.Model, p *plan.Plan) error {
	switch {
	case p.ByMarginals(), p.DrawsPosterior(), p.Estimates():
		return status.Usagef("--rehearse: the fit releases no intervals (leave it out)")
	case p.Open():
		return status.Usagef("--rehearse: the model has no law of the bounds, scales or levels that the fit will buy (declare them, or leave --rehearse out)")
	case len(m.Spec.Data.Tensors) > 0:
		return status.Usagef("--rehearse: it draws no arrays and no texts (leave it out, and try d3p simulate)")
	}
	return nil
}

// mostSwept is the largest number of plans in a sweep.
const mostSwept = 100

// swept is one plan of a sweep; Error is the reason if the settings give no plan.
type swept struct {
	Settings        map[string]string  `json:"settings"`
	Epsilon         float64            `json:"epsilon,omitempty"`
	NoiseMultiplier float64            `json:"noise_multiplier,omitempty"`
	Steps           int                `json:"steps,omitempty"`
	Expected        []report.Expected  `json:"expected_noise,omitempty"`
	Statistics      string             `json:"statistics,omitempty"`
	Estimate        *workload.Estimate `json:"estimate,omitempty"`
	Rehearsal       []rehearsal.Row    `json:"rehearsal,omitempty"`
	Error           string             `json:"error,omitempty"`
}

// sweep compares the plans of all combinations of values, each rehearsed on the given
// number of tables. It reads no data.
func (a *app) sweep(c *cobra.Command, m *models.Model, texts []string, tables int) error {
	combinations := []map[string]string{{}}
	var names []string
	for _, text := range texts {
		name, values, ok := strings.Cut(text, "=")
		if c.Flags().Lookup(name) == nil || !slices.ContainsFunc(settings.Table(), func(row settings.Setting) bool { return row.Name == name }) || !ok {
			return status.Usagef("--sweep: %q is not SETTING=VALUE,VALUE,... with a setting of d3p plan, such as epsilon=0.3,1,3", text)
		}
		names = append(names, name)
		var all []map[string]string
		for _, one := range combinations {
			for value := range strings.SplitSeq(values, ",") {
				next := maps.Clone(one)
				next[name] = value
				all = append(all, next)
			}
		}
		combinations = all
	}
	if len(combinations) > mostSwept {
		return status.Usagef("--sweep: %d plans, at most %d (leave values out)", len(combinations), mostSwept)
	}
	var list []swept
	for _, values := range combinations {
		one := &cobra.Command{}
		s := flags.Define(one, settings.Algorithm, settings.Price)
		one.Flags().SetNormalizeFunc(c.Flags().GetNormalizeFunc()) // old names
		c.Flags().Visit(func(f *pflag.Flag) {
			if own := one.Flags().Lookup(f.Name); own != nil {
				one.Flags().Set(f.Name, f.Value.String())
			}
		})
		for name, value := range values {
			one.Flags().Set(name, value)
		}
		row := swept{Settings: values}
		err := s.Resolve(one, a.environment())
		var p *plan.Plan
		if err == nil {
			p, err = decide(one, s, m)
		}
		if err != nil {
			row.Error = err.Error()
		} else {
			row.Epsilon, row.NoiseMultiplier, row.Steps = p.Epsilon, p.NoiseMultiplier, p.Steps
			row.Expected, row.Estimate = expectedNoise(m, p), workload.Of(m, p)
			row.Statistics = expectedWords(m, p, row.Expected)
		}
		if err == nil && tables > 0 {
			if row.Rehearsal, err = a.rehearse(c.Context(), m, p, tables); err != nil {
				return err
			}
		}
		list = append(list, row)
	}
	return a.result(list, func(w io.Writer) { printSweep(w, names, list, tables > 0) })
}

// rehearsedWords are the share of a rehearsal's intervals that hold, and their mean width
// relative to the prior's.
func rehearsedWords(rows []rehearsal.Row) (hold, width string) {
	var n, held, wide float64
	for _, r := range rows {
		k := float64(r.Intervals)
		n, held, wide = n+k, held+k*r.Hold, wide+k*r.Width
	}
	if n == 0 {
		return "-", "-"
	}
	return fmt.Sprintf("%.0f %% of %.0f", 100*held/n, n), fmt.Sprintf("%.2g", wide/n)
}

// printSweep prints a line for each plan: its settings, its noise, the parameters that
// noise will leave unresolved, and its time.
func printSweep(w io.Writer, names []string, list []swept, rehearsed bool) {
	t := terminal.Columns{W: w}
	var head terminal.Cells
	for _, name := range names {
		head = append(head, name)
	}
	head = append(head, "noise multiplier", "steps", "seconds", "most noise in the posterior")
	if rehearsed {
		head = append(head, "intervals that hold", "width by the prior's")
	}
	t.Line(append(head, "statistics"))
	for _, row := range list {
		var line terminal.Cells
		for _, name := range names {
			line = append(line, row.Settings[name])
		}
		if row.Error != "" {
			line = append(line, "-", "-", "-", "-")
			if rehearsed {
				line = append(line, "-", "-")
			}
			t.Line(append(line, row.Error))
			continue
		}
		seconds, noisiest := "-", report.Expected{}
		if row.Estimate != nil {
			seconds = fmt.Sprintf("%.2g", row.Estimate.Seconds)
		}
		most := "-"
		for _, e := range row.Expected {
			if e.Most >= noisiest.Most {
				noisiest = e
				most = fmt.Sprintf("%.0f %% of %s", 100*e.Most, e.Parameter)
			}
		}
		line = append(line, fmt.Sprintf("%.4g", row.NoiseMultiplier), fmt.Sprint(row.Steps), seconds, most)
		if rehearsed {
			hold, width := rehearsedWords(row.Rehearsal)
			line = append(line, hold, width)
		}
		t.Line(append(line, row.Statistics))
	}
	t.Print()
}
