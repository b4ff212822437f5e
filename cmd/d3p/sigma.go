package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/accounting"
	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/fit/plan"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
	"d3p/internal/status"
)

func newSigma(a *app) *cobra.Command {
	var m accounting.Mechanism
	var o sigmaOptions
	c := &cobra.Command{
		Use:   "sigma",
		Short: "Compute the smallest noise for a target, or the rate, steps, epsilon or delta for given noise",
		Long: `Give four of --noise-multiplier, --sampling-rate, --steps (or --epochs), --epsilon
and --delta; sigma computes the fifth. It certifies the noise multiplier as printed:
at exactly that value the upper bound on epsilon is at most the target, and the value
is within 0.005 % of the smallest possible.

With --group K the target is about up to K records at once, such as the rows of one
person where each row is a unit.

A risk can replace epsilon and delta: --max-tpr 0.05@0.01 means that no membership
test with false-positive rate 0.01 has a true-positive rate above 0.05.`,
		Example: `  d3p sigma --epsilon 1 --delta 1e-5 --sampling-rate 0.01 --steps 10000
  d3p sigma --epsilon 3 --delta 1e-5 --records 60000 --batch-size 256 --epochs 60
  d3p sigma --epsilon 1 --delta 1e-5 --sampling-rate 0.01 --noise-multiplier 4
  d3p sigma --epsilon 1 --delta 1e-5 --noise-multiplier 1.5 --epochs 20
  d3p sigma --max-tpr 0.05@0.01 --sampling-rate 0.01 --steps 10000`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := flags.Read(c); err != nil {
				return err
			}
			given := func(flag string) bool {
				switch flag {
				case "steps":
					return c.Flags().Changed("steps") || c.Flags().Changed("epochs")
				case "sampling-rate":
					return c.Flags().Changed("sampling-rate") || c.Flags().Changed("batch-size") || m.Sampling == sampler.Full
				}
				return c.Flags().Changed(flag)
			}
			m.SolveRate = o.maxTPR == "" && !given("sampling-rate") && given("noise-multiplier") && given("steps") && given("epsilon") && given("delta")
			rel, err := m.Check()
			if err != nil {
				return err
			}
			if o.group < 1 || o.group > accountant.MostGroup {
				return status.Usagef("--group: %d is not a number of records from 1 to %d", o.group, accountant.MostGroup)
			}
			r, err := o.solve(&m, rel, given)
			if err != nil {
				return err
			}
			return a.result(r, func(w io.Writer) { r.printSolved(w) })
		},
	}
	m.Define(c)
	c.Flags().Float64Var(&o.epsilon, "epsilon", 0, "target `E`")
	c.Flags().StringVar(&o.maxTPR, "max-tpr", "", "target risk `TPR@FPR`: largest true-positive rate at a false-positive rate")
	c.Flags().IntVar(&o.group, "group", 1, "the target is about up to `K` records at once, as about one person with K rows")
	c.Flags().StringVar(&o.plot, "plot", "", "draw the trade-off and the privacy curve into `FILE` (.svg or .png)")
	return c
}

type sigmaOptions struct {
	epsilon float64
	maxTPR  string
	group   int
	plot    string
}

// solved is the result of sigma: the solved number and its certificate.
type solved struct {
	SolvedFor  string   `json:"solved_for"`
	NotBelow   *float64 `json:"noise_multiplier_lower,omitempty"` // a value that is proven too small
	DeltaLower *float64 `json:"delta_lower,omitempty"`            // set if delta was solved for
	TargetRisk *risk    `json:"target_risk,omitempty"`
	accounting.Answer
}

type risk struct {
	TPR float64 `json:"tpr"`
	FPR float64 `json:"fpr"`
}

// solve computes the one of noise, steps, epsilon and delta that was not given.
func (o *sigmaOptions) solve(m *accounting.Mechanism, rel event.Relation, given func(string) bool) (*solved, error) {
	r := &solved{Answer: accounting.Answer{Sampling: m.Sampling, SamplingRate: m.Rate}}
	if o.group > 1 {
		if o.maxTPR != "" || o.plot != "" {
			return nil, status.Usagef("--group: --max-tpr and --plot are about one record")
		}
		r.GroupSize = o.group
	}
	if o.maxTPR != "" {
		return r, o.solveRisk(r, m, rel, given)
	}
	unknown, err := unknownFlag(given, m.Records)
	if err != nil {
		return nil, err
	}
	r.SolvedFor = strings.ReplaceAll(strings.TrimPrefix(unknown, "--"), "-", "_")
	target := accountant.Target{Epsilon: o.epsilon, Delta: m.Delta, Group: o.group}
	answer := accountant.Answer{}
	switch unknown {
	case "--noise-multiplier":
		var c accountant.Calibration
		c, err = accountant.CalibrateNoise(target, rel, func(sigma float64) event.Event { return m.Event(sigma, m.Steps) })
		m.Noise, answer = c.NoiseMultiplier, c.Certified
		if c.Lower > 0 {
			r.NotBelow = &c.Lower
		}
	case "--sampling-rate":
		var rate float64
		rate, answer, err = accountant.MaxRate(target, rel, func(rate float64) event.Event {
			at := m.AtRate(rate)
			return at.Event(at.Noise, at.Steps)
		})
		if err == nil {
			*m = m.AtRate(m.RunRate(rate))
			r.SamplingRate = m.Rate
		}
	case "--steps":
		m.Steps, answer, err = accountant.MaxSteps(target, rel, maxSolvedSteps, func(steps int64) event.Event { return m.Event(m.Noise, steps) })
	case "--epsilon":
		answer, err = accountant.GroupEpsilon(m.Event(m.Noise, m.Steps), rel, o.group, m.Delta)
	case "--delta":
		answer, err = accountant.GroupDelta(m.Event(m.Noise, m.Steps), rel, o.group, o.epsilon)
		lower := answer.Lower
		m.Delta, r.DeltaLower = answer.Upper, &lower
		// the certificate bounds delta at the given epsilon
		answer.Lower, answer.Estimate, answer.Upper, answer.Directions = o.epsilon, o.epsilon, o.epsilon, nil
	}
	if err != nil {
		return nil, err
	}
	return r, o.finish(r, m, rel, answer)
}

// unknownFlag returns the one flag that was left out: the number to solve for. The error proposes the δ of a fit
// to this number of records, 0 if it is not known.
func unknownFlag(given func(string) bool, records int) (string, error) {
	var missing []string
	for _, flag := range []string{"noise-multiplier", "sampling-rate", "steps", "epsilon", "delta"} {
		if !given(flag) {
			missing = append(missing, "--"+flag)
		}
	}
	switch {
	case len(missing) == 0:
		return "", status.Usagef("nothing to solve for: leave out one of --noise-multiplier, --sampling-rate, --steps, --epsilon and --delta")
	case len(missing) == 2 && missing[1] == "--delta":
		return "", status.Usagef("cannot solve for %s and --delta at once: add --delta %.2g, the default of a fit, or give all but one (or --max-tpr TPR@FPR as the target)", missing[0], plan.DefaultDelta(records))
	case len(missing) > 1:
		return "", status.Usagef("cannot solve for %s at once: give all but one (or --max-tpr TPR@FPR as the target)", strings.Join(missing, " and "))
	}
	return missing[0], nil
}

// maxSolvedSteps bounds the search for a number of steps.
const maxSolvedSteps = 100_000_000

// solveRisk computes the noise for a target risk, and the epsilon at --delta.
func (o *sigmaOptions) solveRisk(r *solved, m *accounting.Mechanism, rel event.Relation, given func(string) bool) error {
	if given("epsilon") || given("noise-multiplier") {
		return status.Usagef("--max-tpr: it is the target, so neither --epsilon nor --noise-multiplier")
	}
	if !given("delta") {
		m.Delta = 1e-6
	}
	if m.Steps == 0 {
		return status.Usagef("--steps: missing: how many batches the run takes, as in --steps 10000")
	}
	tpr, fpr, ok := strings.Cut(o.maxTPR, "@")
	x, errX := strconv.ParseFloat(tpr, 64)
	y, errY := strconv.ParseFloat(fpr, 64)
	if !ok || errX != nil || errY != nil {
		return status.Usagef("--max-tpr: %q is not TPR@FPR, as in 0.05@0.01", o.maxTPR)
	}
	sigma, _, err := accountant.CalibrateRisk(accountant.Risk{TPR: x, FPR: y}, rel, func(sigma float64) event.Event { return m.Event(sigma, m.Steps) })
	if err != nil {
		return err
	}
	m.Noise = sigma
	r.SolvedFor, r.TargetRisk = "noise_multiplier", &risk{x, y}
	answer, err := accountant.Epsilon(m.Event(m.Noise, m.Steps), rel, m.Delta)
	if err != nil {
		return err
	}
	return o.finish(r, m, rel, answer)
}

// finish adds the certificate of the solved run to the result.
func (o *sigmaOptions) finish(r *solved, m *accounting.Mechanism, rel event.Relation, answer accountant.Answer) error {
	ev := m.Event(m.Noise, m.Steps)
	r.NoiseMultiplier, r.Steps = m.Noise, m.Steps
	r.Fill(answer, ev, rel, m.Delta)
	r.Warnings = m.Warnings(m.Noise, answer.Upper, m.Delta)
	return r.AddRisk(ev, rel, accounting.RiskOptions{Plot: o.plot, Risk: r.TargetRisk != nil})
}

// printSolved writes the result for people: the solved number, then its certificate.
func (r *solved) printSolved(w io.Writer) {
	switch r.SolvedFor {
	case "noise_multiplier":
		fmt.Fprintf(w, "noise multiplier %v", r.NoiseMultiplier)
		if r.NotBelow != nil {
			fmt.Fprintf(w, " (%s is proven too small)", terminal.AtLeast(*r.NotBelow))
		}
		if r.TargetRisk != nil {
			fmt.Fprintf(w, " (true-positive rate at most %v at false-positive rate %v)", r.TargetRisk.TPR, r.TargetRisk.FPR)
		}
		fmt.Fprintln(w)
	case "sampling_rate":
		fmt.Fprintf(w, "sampling rate at most %v\n", r.SamplingRate)
	case "steps":
		fmt.Fprintf(w, "at most %d steps\n", r.Steps)
	case "delta":
		fmt.Fprintf(w, "delta <= %s at epsilon = %v (exact value in [%s, %s])\n", terminal.AtMost(r.Delta), r.EpsilonUpper, terminal.AtLeast(*r.DeltaLower), terminal.AtMost(r.Delta))
		r.PrintDetails(w)
		return
	}
	r.Print(w)
}
