package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/accounting"
	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/report"
	"d3p/internal/settings"
	"d3p/internal/status"
	"d3p/internal/verify"
)

func newAccount(a *app) *cobra.Command {
	var m accounting.Mechanism
	var o accountOptions
	c := &cobra.Command{
		Use:   "account [RUN]",
		Short: "Compute the price of a mechanism, or check the claim of a finished run",
		Long: `Account computes the epsilon of a mechanism described by flags, or of all mechanisms
in a file (--event). The answer is a bracket: a lower and an upper bound on the
exact value. One engine certifies it and another one checks it. The upper bound is
rounded up, the lower bound down.

A file for --event is one of: JSON as dp_accounting writes it; the history of an
Opacus accountant, [[noise multiplier, sampling rate, steps], ...]; a CSV table with
one mechanism per line, in the columns noise_multiplier, sampling_rate, steps and,
for other batches, sampling and records; or a CSV table with the columns epsilon and
delta.

--delta 0 asks for pure differential privacy. Laplace noise has it, and every
mechanism that an event file writes as an EpsilonDeltaDpEvent with delta 0, such as
randomised response, geometric noise or the exponential mechanism.

--group adds the epsilon of several records at once, such as a person with up to K
rows where each row is a unit, or a household. Under substitution all of them are
replaced.

--curve writes bounds on the attacker as CSV with the columns curve, x, y: privacy
(epsilon, delta), tradeoff (false-positive rate, least false-negative rate), renyi
(order, divergence).

With RUN account audits a finished run: the manifest's hashes, the run's ledger, the
data set's ledger (--ledger), and whether the claim follows. It ends with status 4 if
a check fails. It refuses to account a run for another sampler or relation than its
own, unless you add --what-if.`,
		Example: `  d3p account --noise-multiplier 1.5 --sampling-rate 0.00213333 --steps 9380 --delta 1.6667e-5
  d3p account --noise-multiplier 1.1 --records 60000 --batch-size 256 --epochs 60 --delta 1e-5
  d3p account --event dp_event.json --delta 1e-6 --neighbours substitute --json
  d3p account --event mechanisms.csv --delta 1e-6 --curve curves.csv
  d3p account d3p-run-cohort-1 --group 4`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return status.Usagef("d3p account: unexpected argument %s; usage: %s", args[1], c.UseLine())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.runAccount(c, args, &m, &o)
		},
	}
	m.Define(c)
	f := c.Flags()
	f.StringVar(&o.event, "event", "", "account the mechanisms in `FILE` (dp_accounting JSON, Opacus history or CSV) instead of the flags")
	f.Float64Var(&o.epsilon, "epsilon", 0, "answer with the delta at this `E` instead of the epsilon at a delta")
	f.IntVar(&o.group, "group", 0, "add the epsilon of a group of up to `K` records together, such as one person's K rows")
	f.BoolVar(&o.risk.Risk, "risk", false, "add bounds on an attacker: advantage, true-positive rates, beliefs")
	f.StringVar(&o.risk.Plot, "plot", "", "draw the trade-off and the privacy curve into `FILE` (.svg or .png)")
	f.StringVar(&o.risk.Curve, "curve", "", "write the privacy, trade-off and Rényi curves into `FILE` (CSV)")
	f.StringVar(&o.ledger, "ledger", "", "also check that the data set's ledger in `FILE` has the RUN and every entry that its report names")
	f.BoolVar(&o.whatIf, "what-if", false, "account a RUN as if it had used --sampling or --neighbours")
	return c
}

// runAccount runs the command.
func (a *app) runAccount(c *cobra.Command, args []string, m *accounting.Mechanism, o *accountOptions) error {
	o.pure = c.Flags().Changed("delta") && m.Delta == 0
	var other []string // flags that the table of mechanisms replaces
	if o.pure {
		other = []string{"delta"}
	}
	if err := errors.Join(flags.Read(c, other...), accounting.CheckGroup(o.group)); err != nil {
		return err
	}
	if len(args) == 1 {
		return a.accountRun(c, args[0], m, o)
	}
	if err := refuse(c, "only with a RUN", []string{"what-if", "ledger"}); err != nil {
		return err
	}
	if o.event != "" {
		if err := refuse(c, "the file of --event has its own", append([]string{"sampling"}, describing...)); err != nil {
			return err
		}
	}
	return a.account(m, o)
}

// accountOptions are the flags of account that do not describe the mechanism.
type accountOptions struct {
	event   string
	epsilon float64
	group   int
	risk    accounting.RiskOptions
	ledger  string // of the data set
	whatIf  bool
	pure    bool // delta is given and is 0
}

// refuse returns an error with the reason why if one of flags was given.
func refuse(c *cobra.Command, why string, flags []string) error {
	for _, flag := range flags {
		if c.Flags().Changed(flag) {
			return status.Usagef("--%s: %s", flag, why)
		}
	}
	return nil
}

// describing are the flags that describe a mechanism, without its sampling.
var describing = []string{"sampling-rate", "steps", "epochs", "noise-multiplier", "records", "batch-size"}

// account prints the price for the flags or an event file.
func (a *app) account(m *accounting.Mechanism, o *accountOptions) error {
	var ev event.Event
	rel, err := event.ParseRelation(m.Relation)
	if err != nil {
		return status.Usagef("--neighbours: %v", err)
	}
	r := accounting.Answer{Relation: string(rel)}
	if o.event != "" {
		if ev, err = accounting.ReadEvent(o.event); err != nil {
			return err
		}
		r.Sampling = "ledger"
	} else {
		if rel, err = m.Check(); err != nil {
			return err
		}
		if err := m.CheckRun(); err != nil {
			return err
		}
		ev = m.Event(m.Noise, m.Steps)
		r.Sampling, r.SamplingRate, r.NoiseMultiplier, r.Steps = m.Sampling, m.Rate, m.Noise, m.Steps
	}
	if o.pure && (o.risk != (accounting.RiskOptions{})) {
		return status.Usagef("--delta: --risk, --plot and --curve need a delta above 0")
	}
	if (m.Delta != 0 || o.pure) && o.epsilon != 0 {
		return status.Usagef("--epsilon: give --delta to learn epsilon or --epsilon to learn delta, not both")
	}
	if o.epsilon != 0 && (o.risk != (accounting.RiskOptions{}) || o.group != 0) {
		return status.Usagef("--epsilon: --group, --risk, --plot and --curve go with --delta")
	}
	if o.epsilon != 0 {
		return a.accountDelta(ev, rel, o.epsilon, r)
	}
	if m.Delta == 0 && !o.pure {
		return status.Usagef("--delta is missing: give it to learn epsilon, as in --delta 1e-6, or --epsilon to learn delta")
	}
	if err := o.answer(&r, m, ev, rel); err != nil {
		return err
	}
	return a.result(r, func(w io.Writer) { r.Print(w) })
}

// answer fills in the price of m's event and the additions of the flags.
func (o *accountOptions) answer(r *accounting.Answer, m *accounting.Mechanism, ev event.Event, rel event.Relation) error {
	if err := r.Account(ev, rel, m.Delta); err != nil {
		return err
	}
	r.Warnings = m.Warnings(m.Noise, r.EpsilonUpper, m.Delta)
	if err := r.AddGroup(ev, rel, o.group); err != nil {
		return err
	}
	return r.AddRisk(ev, rel, o.risk)
}

// accountedRun is the JSON result of account RUN.
type accountedRun struct {
	Run            string         `json:"run"`
	ClaimedEpsilon float64        `json:"claimed_epsilon"`
	ClaimedDelta   float64        `json:"claimed_delta"`
	Holds          bool           `json:"holds"`
	WhatIf         bool           `json:"what_if"` // the numbers are for another sampler or relation than that of the run
	Checks         []verify.Check `json:"checks"`
	accounting.Answer
}

// accountRun checks a finished run against its own ledger and prints its price.
func (a *app) accountRun(c *cobra.Command, run string, m *accounting.Mechanism, o *accountOptions) error {
	if err := refuse(c, "a RUN has its own", append([]string{"event", "epsilon", "delta"}, describing...)); err != nil {
		return err
	}
	files, checks, err := verify.Release(c.Context(), run)
	if err != nil {
		return status.With(status.Usage, err)
	}
	if files == nil {
		return status.With(status.Data, fmt.Errorf("%s: %s: %s", run, checks[0].Name, checks[0].Detail))
	}
	defer files.Close()
	p, ev, err := accounting.ReadClaim(files)
	if err != nil {
		return status.With(status.Data, err)
	}
	if p.Guarantee == nil {
		return status.With(status.Data, fmt.Errorf("%s: there is no claim: the run is %s", run, settings.NotPrivate))
	}
	rel, err := event.ParseRelation(p.Neighbours.Relation)
	if err != nil {
		return status.With(status.Data, fmt.Errorf("%s: privacy.json: %w", run, err))
	}
	r := accountedRun{Run: run, ClaimedEpsilon: p.Guarantee.Epsilon, ClaimedDelta: p.Guarantee.Delta, Checks: checks}
	if err := r.checkLedgers(o.ledger, ev, p); err != nil {
		return err
	}
	s := p.Mechanism.Sampler
	own := accounting.Mechanism{
		Sampling: s.Scheme, Relation: string(rel), Rate: s.Rate, Noise: p.Mechanism.NoiseMultiplier,
		Steps: int64(p.Mechanism.Iterations), Records: p.Neighbours.NPublic, Delta: p.Guarantee.Delta,
		Before: append(p.Mechanism.Before(), p.Mechanism.After(rel)...), Scheduled: p.Mechanism.NoiseSchedule != nil || s.Schedule != nil,
	}
	if ev, rel, err = own.WhatIf(c, m, o.whatIf, ev, rel); err != nil {
		return err
	}
	r.WhatIf = o.whatIf && (own.Sampling != s.Scheme || string(rel) != p.Neighbours.Relation)
	r.Sampling, r.SamplingRate, r.NoiseMultiplier, r.Steps, r.Scheduled = own.Sampling, own.Rate, own.Noise, own.Steps, own.Scheduled
	if selection := p.Mechanism.Selection; selection != nil {
		if own.Sampling != s.Scheme {
			return status.Usagef("--sampling: %s is the best of several fits, whose samplers are in dp_event.json (leave the flag out)", run)
		}
		r.Sampling, r.Steps = fmt.Sprintf("a selection among %d fits, %d trials on average", len(selection.Trials), selection.MeanTrials), 0
	}
	if err := o.answer(&r.Answer, &own, ev, rel); err != nil {
		return err
	}
	failure := failure(r.Checks)
	r.Holds = failure == nil
	err = a.result(r, func(w io.Writer) { r.print(w) })
	return status.With(status.Data, errors.Join(err, failure))
}

// checkLedgers compares the claim with the run's own ledger and, unless path is "", with
// the ledger of the data set at path.
func (r *accountedRun) checkLedgers(path string, ev event.Event, p *report.Privacy) error {
	if check, ok := accounting.CheckLedger(r.Run, ev, p); ok {
		r.Checks = append(r.Checks, check)
	}
	if path == "" {
		return nil
	}
	check, err := accounting.CheckLedgerFile(path, ev, p)
	if err != nil {
		return status.With(status.Usage, fmt.Errorf("--ledger: %w", err))
	}
	r.Checks = append(r.Checks, check)
	return nil
}

// print writes the checks and the account as text.
func (r *accountedRun) print(w io.Writer) {
	failed := failed(r.Checks)
	for _, c := range failed {
		fmt.Fprintf(w, "FAIL  %s: %s\n", c.Name, c.Detail)
	}
	fmt.Fprintf(w, "%d of %d checks hold\n", len(r.Checks)-len(failed), len(r.Checks))
	fmt.Fprintf(w, "claimed: epsilon = %v at delta = %v\n", r.ClaimedEpsilon, r.ClaimedDelta)
	if r.WhatIf {
		fmt.Fprintln(w, "WHAT IF, not what ran:")
	}
	r.Answer.Print(w)
}

// deltaAnswer is the result of account --epsilon.
type deltaAnswer struct {
	Epsilon    float64                `json:"epsilon"`
	DeltaLower float64                `json:"delta_lower"`
	Delta      float64                `json:"delta"`          // the claim: the upper bound
	DeltaUpper float64                `json:"delta_upper"`    // the same
	Estimate   float64                `json:"delta_estimate"` // between the bounds; itself no bound
	Relation   string                 `json:"relation"`
	Engine     string                 `json:"engine"`
	Certified  bool                   `json:"certified"`
	Seconds    float64                `json:"seconds"`
	Directions []accounting.Direction `json:"directions"`
	Notes      []string               `json:"notes"`
}

func (a *app) accountDelta(ev event.Event, rel event.Relation, epsilon float64, r accounting.Answer) error {
	answer, err := accountant.Delta(ev, rel, epsilon)
	if err != nil {
		return err
	}
	d := deltaAnswer{
		Epsilon: epsilon, DeltaLower: answer.Lower, Delta: answer.Upper, DeltaUpper: answer.Upper, Estimate: answer.Estimate, Relation: r.Relation,
		Engine: answer.Engine, Certified: answer.Certified, Seconds: answer.Seconds, Directions: accounting.Directions(answer.Directions),
		Notes: append([]string{}, answer.Notes...),
	}
	return a.result(d, func(w io.Writer) {
		fmt.Fprintf(w, "delta <= %s at epsilon = %v (exact value in [%s, %s])\n",
			terminal.AtMost(d.DeltaUpper), epsilon, terminal.AtLeast(d.DeltaLower), terminal.AtMost(d.DeltaUpper))
		for _, n := range d.Notes {
			fmt.Fprintf(w, "note: %s\n", n)
		}
	})
}
