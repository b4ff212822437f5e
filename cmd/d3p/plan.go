package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/modelfile"
	"d3p/cmd/d3p/internal/planned"
	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/rehearsal"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/run"
	"d3p/internal/settings"
	"d3p/internal/status"
	"d3p/internal/synthesis"
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
	result := planned.Of(m, plan, p)
	if rehearse {
		if result.Rehearsal, err = a.rehearse(c.Context(), m, plan, o.tables); err != nil {
			return err
		}
	}
	if o.out != "" {
		return a.writePlan(o.out, p, report.Findings{Expected: result.Expected, Work: result.Estimate.Words(plan)}, m)
	}
	return a.result(result, result.Print)
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

// plannedPrivacy is the privacy report of a fit that has not run. It reads no
// data.
func plannedPrivacy(c *cobra.Command, s *flags.Settings, m *models.Model, hash string, plan *plan.Plan) (*report.Privacy, error) {
	command := s.Command(c)
	command[0] = "d3p fit"
	intended := report.Run{
		ID: "plan", Created: time.Now(), Status: report.Planned, Tool: tool("none"), Name: modelfile.Name(m.Spec),
		Spec: m.Spec, Encoding: m.Encoding, SpecSHA256: hash, Command: command, Accepted: s.AcceptRisk,
		Plan: plan, Posterior: &posterior.Posterior{Plan: plan, Steps: plan.Steps},
	}
	if plan.Private {
		intended.Event, intended.Spent = plan.MechanismEvent(plan.NoiseMultiplier), *plan.Certified
		var err error
		if intended.Booked, err = run.Booked(s.Ledger, "", m.Spec.Data.Unit.Entity.V, plan.Neighbours); err != nil {
			return nil, err
		}
	}
	p, err := intended.Privacy()
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
	var list []planned.Swept
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
		err := s.Resolve(one, a.environment())
		var p *plan.Plan
		if err == nil {
			p, err = decide(one, s, m)
		}
		if err != nil {
			list = append(list, planned.Swept{Settings: values, Error: err.Error()})
			continue
		}
		row := planned.Sweep(values, m, p)
		if tables > 0 {
			if row.Rehearsal, err = a.rehearse(c.Context(), m, p, tables); err != nil {
				return err
			}
		}
		list = append(list, row)
	}
	return a.result(list, func(w io.Writer) { planned.PrintSweep(w, names, list, tables > 0) })
}
