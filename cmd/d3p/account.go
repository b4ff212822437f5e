package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/outfile"
	"d3p/cmd/d3p/internal/status"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

func newAccount(a *app) *cobra.Command {
	var m mechanismFlags
	var o accountOptions
	c := &cobra.Command{
		Use:   "account [RUN]",
		Short: "Compute what a mechanism costs, or check the claim of a finished run",
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
			o.pure = c.Flags().Changed("delta") && m.delta == 0
			var other []string // flags that the table of mechanisms replaces
			if o.pure {
				other = []string{"delta"}
			}
			if err := errors.Join(readSettings(c, other...), checkGroup(o.group)); err != nil {
				return err
			}
			if len(args) == 1 {
				return a.accountRun(c, args[0], &m, &o)
			}
			if err := refuse(c, "only with a RUN", []string{"what-if", "ledger"}); err != nil {
				return err
			}
			if o.event != "" {
				if err := refuse(c, "the file of --event brings its own", append([]string{"sampling"}, describing...)); err != nil {
					return err
				}
			}
			return a.account(&m, &o)
		},
	}
	m.define(c)
	f := c.Flags()
	f.StringVar(&o.event, "event", "", "account the mechanisms in `FILE` (dp_accounting JSON, Opacus history or CSV) instead of the flags")
	f.Float64Var(&o.epsilon, "epsilon", 0, "answer with the delta at this `E` instead of the epsilon at a delta")
	f.IntVar(&o.group, "group", 0, "add the epsilon of a group of up to `K` records that are all there or not, as of one person with K rows")
	f.BoolVar(&o.risk, "risk", false, "add what an attacker can do: advantage, true-positive rates, beliefs")
	f.StringVar(&o.plot, "plot", "", "draw the trade-off and the privacy curve into `FILE` (.svg or .png)")
	f.StringVar(&o.curve, "curve", "", "write the privacy, trade-off and Rényi curves into `FILE` (CSV)")
	f.StringVar(&o.ledger, "ledger", "", "also ask the ledger of the data set in `FILE` whether it has the RUN, and all that its report has seen there")
	f.BoolVar(&o.whatIf, "what-if", false, "account a RUN as if it had used --sampling or --neighbours")
	return c
}

// accountOptions are the flags of account besides the mechanism's.
type accountOptions struct {
	event   string
	epsilon float64
	group   int
	risk    bool
	plot    string
	curve   string
	ledger  string // of the data set
	whatIf  bool
	pure    bool // delta is given, and 0
}

// refuse returns an error, with the reason why, when one of flags was given.
func refuse(c *cobra.Command, why string, flags []string) error {
	for _, flag := range flags {
		if c.Flags().Changed(flag) {
			return status.Usagef("--%s: %s", flag, why)
		}
	}
	return nil
}

// describing are the flags that describe a mechanism, besides its sampling.
var describing = []string{"sampling-rate", "steps", "epochs", "noise-multiplier", "records", "batch-size"}

// account answers for the flags or an event file.
func (a *app) account(m *mechanismFlags, o *accountOptions) error {
	var ev event.Event
	rel, err := event.ParseRelation(m.relation)
	if err != nil {
		return status.Usagef("--neighbours: %v", err)
	}
	r := accounted{Relation: string(rel)}
	if o.event != "" {
		if ev, err = readEvent(o.event); err != nil {
			return err
		}
		r.Sampling = "ledger"
	} else {
		if rel, err = m.check(); err != nil {
			return err
		}
		if err := m.checkRun(); err != nil {
			return err
		}
		ev = m.event(m.noise, m.steps)
		r.Sampling, r.SamplingRate, r.NoiseMultiplier, r.Steps = m.sampling, m.rate, m.noise, m.steps
	}
	if o.pure && (o.risk || o.plot != "" || o.curve != "") {
		return status.Usagef("--delta: --risk, --plot and --curve need a delta above 0")
	}
	if (m.delta != 0 || o.pure) && o.epsilon != 0 {
		return status.Usagef("--epsilon: give --delta to learn epsilon or --epsilon to learn delta, not both")
	}
	if o.epsilon != 0 && (o.risk || o.group != 0 || o.plot != "" || o.curve != "") {
		return status.Usagef("--epsilon: --group, --risk, --plot and --curve go with --delta")
	}
	if o.epsilon != 0 {
		return a.accountDelta(ev, rel, o.epsilon, r)
	}
	if m.delta == 0 && !o.pure {
		return status.Usagef("--delta is missing: give it to learn epsilon, as in --delta 1e-6, or --epsilon to learn delta")
	}
	if err := r.answer(ev, rel, m.delta); err != nil {
		return err
	}
	r.Warnings = m.warnings(m.noise, r.EpsilonUpper, m.delta)
	if err := r.addGroup(ev, rel, o.group); err != nil {
		return err
	}
	if err := r.addRisk(ev, rel, o); err != nil {
		return err
	}
	return a.result(r, func(w io.Writer) { r.print(w) })
}

// checkRun reports a missing number of steps or noise.
func (m *mechanismFlags) checkRun() error {
	if m.steps == 0 {
		return status.Usagef("--steps: missing: how many batches the run takes, as in --steps 10000")
	}
	if m.noise == 0 {
		return status.Usagef("--noise-multiplier: missing: noise standard deviation over clip norm, as in --noise-multiplier 1.5 (d3p sigma finds one for a target)")
	}
	return nil
}

// deltaAnswer is the result of account --epsilon.
type deltaAnswer struct {
	Epsilon    float64          `json:"epsilon"`
	DeltaLower float64          `json:"delta_lower"`
	Delta      float64          `json:"delta"`          // the claim: the upper bound
	DeltaUpper float64          `json:"delta_upper"`    // the same
	Estimate   float64          `json:"delta_estimate"` // between the bounds, and no bound itself
	Relation   string           `json:"relation"`
	Engine     string           `json:"engine"`
	Certified  bool             `json:"certified"`
	Seconds    float64          `json:"seconds"`
	Directions []directionEntry `json:"directions"`
	Notes      []string         `json:"notes"`
}

func (a *app) accountDelta(ev event.Event, rel event.Relation, epsilon float64, r accounted) error {
	answer, err := accountant.Delta(ev, rel, epsilon)
	if err != nil {
		return err
	}
	d := deltaAnswer{
		Epsilon: epsilon, DeltaLower: answer.Lower, Delta: answer.Upper, DeltaUpper: answer.Upper, Estimate: answer.Estimate, Relation: r.Relation,
		Engine: answer.Engine, Certified: answer.Certified, Seconds: answer.Seconds, Directions: directionEntries(answer.Directions),
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

// writeCurves writes the curves of a ledger as a CSV file with the columns curve, x
// and y, one point a line; every point bounds the attacker:
//
//	privacy   epsilon, delta
//	tradeoff  false-positive rate, least false-negative rate of any test
//	renyi     order, divergence; absent where it is infinite or not known
func writeCurves(path string, c *accountant.Curve, ev event.Event, rel event.Relation) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	point := func(curve string, x, y float64) {
		w.Write([]string{curve, strconv.FormatFloat(x, 'g', -1, 64), strconv.FormatFloat(y, 'g', -1, 64)})
	}
	w.Write([]string{"curve", "x", "y"})
	const perDecade = 8
	for i := 0; i <= 14*perDecade; i++ {
		delta := math.Pow(10, -float64(i)/perDecade)
		if epsilon := c.Epsilon(delta); !math.IsInf(epsilon, 1) {
			point("privacy", epsilon, delta)
		}
	}
	for i := 5 * perDecade; i > 0; i-- { // small rates, where tests of membership are judged
		fpr := math.Pow(10, -float64(i)/perDecade) / 2
		point("tradeoff", fpr, c.Tradeoff(fpr))
	}
	for i := 50; i <= 100; i++ {
		fpr := float64(i) / 100
		point("tradeoff", fpr, c.Tradeoff(fpr))
	}
	renyi, err := accountant.RenyiCurve(ev, rel)
	if unknown := new(accountant.UnsupportedError); err != nil && !errors.As(err, &unknown) {
		return err
	}
	for _, p := range renyi {
		point("renyi", p.Order, p.Epsilon)
	}
	w.Flush()
	if err := outfile.Write(path, b.Bytes()); err != nil {
		return fmt.Errorf("--curve: %w", err)
	}
	return nil
}
