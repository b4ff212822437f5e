package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/modelfile"
	"d3p/internal/cluster"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/outputs"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
	"d3p/internal/run"
	"d3p/internal/settings"
	"d3p/internal/signature"
	"d3p/internal/spell"
	"d3p/internal/status"
)

// insecureSeedFlag is only a flag: no variable and no file may remove the privacy unseen.
const insecureSeedFlag = "insecure-noise-seed"

// signFlag is only a flag: the user chooses a key for one release.
const signFlag = "sign"

const defaultDraws = 4000

func newFit(a *app) *cobra.Command {
	var s *flags.Settings
	c := &cobra.Command{
		Use:   "fit DATA",
		Short: "Fit a model under differential privacy and write a release",
		Long: `Fit reads a CSV file (plain or gzip) or a Parquet file and fits the model under the
given budget. It writes OUT/release, which you may publish, and OUT/private, which
you must not publish.

The model file is --model, else DATA.yaml beside the data, else d3p.yaml here.
Every setting can be a flag, a D3P_ variable (D3P_EPSILON=1), a key of the --config
file or a value of the model file. The first in this order wins, and
release/spec.lock.yaml records which one it was. If you choose settings by looking
at private results, that costs privacy that no report counts.

Ctrl-C stops between two steps; d3p resume continues at no new cost.`,
		Example: "  d3p fit --epsilon 1 cohort.csv\n  d3p fit --epsilon 1 --model cohort.yaml --out results cohort.parquet",
		Args:    exactly("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.inRanks(c, func(ranks run.Ranks) error { return a.fit(c, s, args[0], true, ranks) })
		},
	}
	s = flags.Define(c, settings.Algorithm, settings.Price, settings.Running)
	c.Flags().String(signFlag, "", "sign the release with the OpenSSH private key in `FILE`; d3p verify --signers and ssh-keygen -Y verify check it")
	c.Flags().Uint64(insecureSeedFlag, 0, "fix the privacy noise, for tests only: every file says NOT PRIVATE")
	return c
}

func newFitNonprivate(a *app) *cobra.Command {
	var s *flags.Settings
	c := &cobra.Command{
		Use:   "fit-nonprivate DATA",
		Short: "Fit without clipping or noise, as a baseline; NOT PRIVATE",
		Long: `Fit-nonprivate runs the same model without clipping and without noise, to show what
privacy costs. Its results reveal the records: every file is stamped NOT PRIVATE. Use
simulated or public data: a private fit costs more than its report says if you choose
its settings by looking at these results.`,
		Example: "  d3p fit-nonprivate datasets/cohort.csv --out baseline",
		Args:    exactly("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.inRanks(c, func(ranks run.Ranks) error { return a.fit(c, s, args[0], false, ranks) })
		},
	}
	s = flags.Define(c, settings.Algorithm, settings.Running)
	return c
}

// fit plans a fit of the data file from its settings and runs it.
func (a *app) fit(c *cobra.Command, s *flags.Settings, data string, private bool, ranks run.Ranks) error {
	if err := s.Resolve(c, a.environment()); err != nil {
		return err
	}
	if err := checkDevice(s.Device); err != nil {
		return err
	}
	path, err := modelfile.Find(s.Model, data)
	if err != nil {
		return err
	}
	m, hash, err := modelfile.ReadWith(path, data)
	if err != nil {
		return err
	}
	s.Fit.NonPrivate = !private
	if err := checkMethod(s); err != nil {
		return err
	}
	plan, err := a.planFits(c, s, m, data)
	if err != nil {
		return err
	}
	if plan.Open() && readOnce(data) {
		return status.Usagef("%s: it is no regular file, and a fit that buys bounds or levels reads it twice (write it to a file, or declare them)", data)
	}
	if !private {
		a.noteLimits(m)
	}
	root, seeded, err := noiseRoot(c)
	if err != nil {
		return err
	}
	defer root.Wipe()
	j, err := newJob(c, s, m, hash, plan, data)
	if err != nil {
		return err
	}
	j.Insecure = seeded
	if j.Ledger, err = ledgerOf(s, plan, seeded); err != nil {
		return err
	}
	key, err := signingKey(c, &j) // before anything is spent
	if err != nil {
		return err
	}
	if err := a.stopItself(c.Context()); err != nil {
		return err
	}
	r := run.Run{Job: j, Model: m, Plan: plan, Root: root, Key: key, Host: a.host(), Ranks: ranks}
	if s.Repeat > 1 {
		return a.repeat(c.Context(), r, s.Out, s.Repeat)
	}
	a.progress.Phase("reading the records")
	result, err := r.Fit(c.Context(), s.Out)
	if err != nil {
		return err
	}
	return a.printFit(result)
}

// newJob is the job of fitting m to the data file.
func newJob(c *cobra.Command, s *flags.Settings, m *models.Model, hash string, plan *plan.Plan, data string) (j run.Job, err error) {
	absolute, err := privacy.AbsoluteData(data)
	if err != nil {
		return j, status.With(status.Data, err)
	}
	draws, err := drawsOf(s, m)
	if err != nil {
		return j, err
	}
	applied, err := s.Applied(c, plan, draws)
	if err != nil {
		return j, status.With(status.Numeric, err)
	}
	return run.Job{
		ID: run.NewID(), Attempts: []string{run.NewID()}, Created: time.Now().UTC(), Data: absolute, Name: modelfile.Name(m.Spec), Model: string(m.Spec.Render()), Public: m.Spec.Public,
		ModelSHA256: hash, Command: s.Command(c), Settings: applied, Accepted: s.AcceptRisk,
		Draws: draws, Formats: s.Formats, Seed: s.Seed, Threads: s.Threads, CheckpointEvery: s.CheckpointEvery, Precision: s.Precision, TablePlace: s.Table, Device: s.Device, MaxMemory: s.MaxMemory,
	}, nil
}

// noteLimits prints which columns take their limits as bounds in a fit that buys nothing.
func (a *app) noteLimits(m *models.Model) {
	var list []*data.Column
	for _, c := range m.Spec.Data.Columns {
		if c.Buys() {
			list = append(list, c)
		}
	}
	if len(list) > 0 {
		a.notef("note: a fit without privacy buys nothing; bounds and scale follow from the limits: %s (release/spec.lock.yaml of a private fit, as --model, has what it bought)", data.Listed(list))
	}
}

// planFits plans a fit, or the fits of --repeat. If the fits buy Table 1, each reads the
// file itself, because it encodes the records by its own purchase.
func (a *app) planFits(c *cobra.Command, s *flags.Settings, m *models.Model, data string) (*plan.Plan, error) {
	if s.Fit.NoiseMultiplier > 0 {
		a.overBudget = "type a larger --noise-multiplier"
	}
	plan, err := a.plan(c, s, m)
	if err == nil {
		err = checkSampler(s, plan)
	}
	if err != nil || !plan.ToCount() || s.Repeat <= 1 || !readOnce(data) {
		return plan, err
	}
	if s.Given("table1") {
		return nil, status.Usagef("%s: it is no regular file, and --repeat reads it for every fit where Table 1 is bought (write it to a file, or type --table1 none)", data)
	}
	s.Fit.Table1 = settings.Table1None
	return a.plan(c, s, m)
}

// signingKey reads the key of --sign, and notes its file in the job.
func signingKey(c *cobra.Command, j *run.Job) (key *signature.Key, err error) {
	if flag := c.Flags().Lookup(signFlag); flag != nil && flag.Value.String() != "" {
		if j.Sign, err = filepath.Abs(flag.Value.String()); err != nil {
			return nil, err
		}
	}
	if key, err = signature.ReadKey(j.Sign); err != nil {
		return nil, status.Usagef("--sign: %w", err)
	}
	return key, nil
}

// readOnce reports whether a file exists that can be read only once, such as a pipe.
func readOnce(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// host is the program around a run.
func (a *app) host() run.Host {
	return run.Host{Open: openEngine, Tool: tool, Step: a.newProgress().Step, Notef: a.notef}
}

// printFit prints the end of a fit: the posterior, the claim and the files. It returns an
// error if the chains of a fit without privacy disagree.
func (a *app) printFit(result *run.Result) error {
	m := result.Fitted
	err := a.result(result, func(w io.Writer) {
		if m.ByMarginals() {
			fmt.Fprintf(w, "Claim: %s\n", result.Claim)
			fmt.Fprintf(w, "%s  may be published: noisy tables of counts; read privacy.html there. d3p twin %s draws synthetic tables from them\n", result.Release, spell.Word(result.Run))
			fmt.Fprintf(w, "%s  must not: it is not protected; datacheck.json there counts the effects of the declared rules on the records\n", result.Private)
			return
		}
		usual := view{prob: usualProb, single: result.Single, judged: judged(result.Summary)}
		printSummary(w, result.Summary, usual)
		for _, l := range result.Levels {
			fmt.Fprintf(w, "\n%s: %d found; noise hides most levels of fewer than %.0f units, and shows nearly all of %.0f or more\n", l.Purpose(), len(l.Found), l.Threshold, l.Sure())
		}
		for i := range result.Bounds {
			if b := &result.Bounds[i]; b.OfBounds > 0 && b.Numbers != nil {
				fmt.Fprintf(w, "\n%s: %g to %g; numbers outside, moved to the bounds: %s\n", b.Purpose(), b.Numbers.Lower, b.Numbers.Upper, report.OutsideWords(b))
			}
		}
		fmt.Fprintf(w, "\n%s\n", explain(m, usual))
		fmt.Fprintf(w, "\nClaim: %s\n", result.Claim)
		if v := result.Verdict; v != nil {
			fmt.Fprintln(w, verdictWords(*v, result.Summary))
		}
		if result.Epsilon == nil {
			fmt.Fprintf(w, "%s  must not be published: it reveals the records\n", result.Release)
		} else {
			fmt.Fprintf(w, "%s  may be published: draws, summaries, parameters; read privacy.html there\n", result.Release)
		}
		fmt.Fprintf(w, "%s  must not: it is not protected; datacheck.json there counts the effects of the declared rules on the records\n", result.Private)
	})
	if err != nil {
		return err
	}
	if t := result.Tries; t.Repeated > 0 {
		a.notef("note: %d of the sampler's chains did not mix and ran again, by other random numbers or with smaller steps; %d still do not mix", t.Repeated, t.Unmixed)
	}
	if n := result.Divergences; n > 0 {
		a.warnf("%d of %d draws come from a trajectory that diverged: the sampler may have missed sharply curved parts of the posterior (non-centred parametrisation, or narrower priors of standard deviations, help)", n, plan.Chains*plan.Kept)
	}
	if list := result.Unconverged; len(list) > 0 {
		return status.With(status.Numeric, fmt.Errorf("the fit has not converged, so it is no reference: %s (more --steps, another --learning-rate, or --method nuts)", strings.Join(list, ", ")))
	}
	switch disagreement := outputs.Agreement(result.Summary, result.Divergences, result.Epsilon == nil); {
	case disagreement == nil:
		return nil
	case result.Epsilon != nil: // an error here must not fail a release that is already paid
		a.warnf("%v (d3p draws %s --draws 4000 takes more from the same release, at no price)", disagreement, spell.Word(result.Run))
		return nil
	default:
		return status.With(status.Numeric, fmt.Errorf("%w, so the draws are no reference (give weakly known parameters proper priors, relabel components, or type --method vi)", disagreement))
	}
}

// repeat runs n fits like r and prints their results in order, with --json as an array. It
// returns the errors of the fits that failed.
func (a *app) repeat(ctx context.Context, r run.Run, out string, n int) error {
	printed, warnings, failures := make([][]byte, n), make([]bytes.Buffer, n), make([]error, n)
	err := r.Repeat(ctx, out, n, func(k int, folder string, result *run.Result, err error) {
		var text bytes.Buffer
		if err == nil {
			alone := app{out: &text, err: &warnings[k], json: a.json}
			err = alone.printFit(result)
		}
		if err != nil {
			failures[k] = fmt.Errorf("%s: %w", folder, err)
			return
		}
		printed[k] = bytes.TrimRight(text.Bytes(), "\n")
	})
	for k := range warnings {
		a.err.Write(warnings[k].Bytes())
	}
	if err != nil {
		return err
	}
	failures = slices.DeleteFunc(failures, func(err error) bool { return err == nil })
	done := slices.DeleteFunc(printed, func(text []byte) bool { return text == nil })
	between, end := []byte("\n\n"), "\n"
	if a.json {
		fmt.Fprint(a.out, "[")
		between, end = []byte(","), "]\n"
	}
	if _, err := fmt.Fprintf(a.out, "%s%s", bytes.Join(done, between), end); err != nil {
		failures = append(failures, status.With(status.Numeric, err))
	}
	if len(failures) == 0 {
		return nil
	}
	return status.With(status.Of(failures[0]), errors.Join(failures...))
}

// checkSampler refuses a draw of the posterior that is not exact, unless the risk is accepted.
func checkSampler(s *flags.Settings, p *plan.Plan) error {
	if p.DrawsPosterior() && !p.DrawsExactly() && !slices.Contains(s.AcceptRisk, plan.RiskApproximate) {
		return status.Usagef("--method: one_posterior_sample is private if the sampler's draw is exact, which nothing proves of this model: add --accept-risk %s, or type --method vi", plan.RiskApproximate)
	}
	return nil
}

// checkMethod refuses settings outside the model file that the method does not use.
func checkMethod(s *flags.Settings) error {
	if s.Fit.Method != settings.MethodNUTS {
		return nil
	}
	for _, row := range settings.Table() {
		if row.Group == settings.Algorithm && s.Beside[row.Name] && row.Name != "method" && row.Name != "records" && row.Name != "init-seed" {
			return status.Usagef("--%s: the No-U-Turn sampler has no use for it (leave it out, or type --method vi)", row.Name)
		}
	}
	return nil
}

// drawsOf is the number of posterior draws to write; 0 if the posterior has no variables.
func drawsOf(s *flags.Settings, m *models.Model) (int, error) {
	switch {
	case !s.Given("draws"):
		return defaultDraws, nil
	case s.Draws == 1:
		return 0, status.Usagef("--draws: 1 draw has no spread to summarise; take at least 2")
	case s.Draws == 0 && outputs.PointScalars(m) < m.P:
		return 0, status.Usagef("--draws: 0 draws describe no posterior; leave it out for %d (0 is for networks whose weights are all points)", defaultDraws)
	}
	return s.Draws, nil
}

// ledgerOf is the absolute path of the ledger that books a fit; "" for none. A run without
// a claim is not booked.
func ledgerOf(s *flags.Settings, plan *plan.Plan, seeded bool) (string, error) {
	switch {
	case s.Ledger == "" || !plan.Private:
		return "", nil
	case seeded:
		return "", status.Usagef("--ledger: a fit with --%s has no price that a ledger could book (leave --ledger out)", insecureSeedFlag)
	}
	path, err := filepath.Abs(s.Ledger)
	return path, status.With(status.Usage, err)
}

// noiseRoot is the source of the secret randomness of a run: the operating system, or a
// seed in tests.
func noiseRoot(c *cobra.Command) (root noise.Root, seeded bool, err error) {
	if flag := c.Flags().Lookup(insecureSeedFlag); flag != nil && flag.Changed {
		seed, err := c.Flags().GetUint64(insecureSeedFlag)
		return noise.Insecure(seed), true, err
	}
	root, err = noise.System()
	return root, false, status.With(status.Numeric, err)
}

// inRanks runs a command in the processes of an MPI launcher, if there is one. The first
// process does all work that is done once; the others take part in its fit.
func (a *app) inRanks(c *cobra.Command, first func(run.Ranks) error) error {
	job, err := cluster.Join()
	if err != nil {
		return status.Usagef("%v", err)
	}
	ranks := run.NewRanks(job)
	var model []byte
	if ranks.Several() { // only one process reads a pipe
		model = modelText(c)
	}
	if err := ranks.SameCommand(readBuildInfo().build(), os.Args[1:], model); err != nil {
		if left := job.Close(); left != nil || job.Rank > 0 {
			return status.With(status.Numeric, left)
		}
		return err
	}
	if job.Rank > 0 {
		err = a.follow(c, ranks)
	} else {
		if ranks.Several() {
			a.notef("running in %d processes of %s", job.Size, job.Library)
		}
		err = first(ranks)
	}
	if left := ranks.Dismiss(); left != nil && err == nil {
		err = status.With(status.Numeric, left)
	}
	return err
}

// modelText is the text of the model file of a command; empty if the command names no
// readable file.
func modelText(c *cobra.Command) []byte {
	model := c.Flags().Lookup("model")
	if model == nil || c.Flags().NArg() == 0 {
		return nil
	}
	path, err := modelfile.Find(model.Value.String(), c.Flags().Arg(0))
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}

// follow takes part in the fit of rank 0, which prints all messages.
func (a *app) follow(c *cobra.Command, ranks run.Ranks) error {
	if err := a.stopItself(c.Context()); err != nil {
		return err
	}
	a.quiet = true
	host := a.host()
	host.Step = nil
	return status.With(status.Numeric, run.Follow(ranks, host))
}
