// Package accounting computes the price of a mechanism. Flags, a file or a run describe it.
package accounting

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/flags"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
	"d3p/internal/status"
)

// A Mechanism is a run given by its public facts alone, for commands that account without a
// run.
type Mechanism struct {
	Sampling string
	Relation string
	Rate     float64
	Noise    float64
	Steps    int64
	Epochs   float64 // passes over the data; 0: follows from the steps
	Records  int
	Batch    int // expected records of a step; 0: follows from the rate
	Delta    float64

	Before    []event.Event // releases of the run before its first step
	Scheduled bool          // the run has a schedule of the noise or of the rate

	SolveRate bool // the command solves for the sampling rate
}

// Define adds the flags to c.
func (m *Mechanism) Define(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&m.Sampling, "sampling", sampler.Poisson, "how batches were drawn: "+strings.Join(sampler.Schemes(), ", "))
	f.StringVar(&m.Relation, "neighbours", string(event.AddRemove), "which data sets are neighbours: "+strings.Join(event.RelationNames(), ", "))
	flags.CompleteWords(c, "sampling", sampler.Schemes())
	flags.CompleteWords(c, "neighbours", event.RelationNames())
	f.Float64Var(&m.Rate, "sampling-rate", 0, "expected fraction `q` of the records in a batch; 1/q batches make an epoch")
	f.IntVar(&m.Batch, "batch-size", 0, "expected records of a batch, with --records instead of --sampling-rate")
	f.Int64Var(&m.Steps, "steps", 0, "number of steps `T`")
	f.Float64Var(&m.Epochs, "epochs", 0, "expected passes over the records, instead of --steps")
	f.Float64Var(&m.Noise, "noise-multiplier", 0, "noise standard deviation over clip norm")
	f.IntVar(&m.Records, "records", 0, "declared number of records, for exact fixed-size batches and warnings")
	f.Float64Var(&m.Delta, "delta", 0, "probability `D` with which epsilon may fail")
}

// Check completes the rate and the number of steps, and reports the first inconsistent
// flag.
func (m *Mechanism) Check() (event.Relation, error) {
	rel, err := event.ParseRelation(m.Relation)
	if err != nil {
		return "", status.Usagef("--neighbours: %v", err)
	}
	if err := m.checkRate(); err != nil {
		return "", err
	}
	return rel, m.checkEpochs()
}

// CheckRun refuses a run without a number of steps or noise.
func (m *Mechanism) CheckRun() error {
	if m.Steps == 0 {
		return status.Usagef("--steps: missing: how many batches the run takes, as in --steps 10000")
	}
	if m.Noise == 0 {
		return status.Usagef("--noise-multiplier: missing: noise standard deviation over clip norm, as in --noise-multiplier 1.5 (d3p sigma finds one for a target)")
	}
	return nil
}

// checkEpochs computes the number of steps from the passes over the data, if given. The
// last batch may lie beyond them.
func (m *Mechanism) checkEpochs() error {
	switch {
	case m.Epochs == 0:
		return nil
	case m.SolveRate && m.Steps == 0 && m.Epochs > 0 && !math.IsInf(m.Epochs, 1):
		return nil // the rate gives the number of steps
	case m.Steps != 0:
		return status.Usagef("--epochs: give it or --steps, not both")
	}
	m.Steps = m.stepsOfEpochs()
	return nil
}

// stepsOfEpochs is the number of steps in the passes over the data.
func (m *Mechanism) stepsOfEpochs() int64 {
	steps := m.Epochs / m.Rate
	return int64(math.Ceil(steps - 1e-9*steps))
}

// AtRate is the mechanism with another sampling rate.
func (m Mechanism) AtRate(rate float64) Mechanism {
	m.Rate = rate
	if m.Epochs != 0 {
		m.Steps = m.stepsOfEpochs()
	}
	return m
}

// RunRate rounds a sampling rate to one that a run can have: a batch of fixed size has
// whole records, an epoch has whole batches.
func (m *Mechanism) RunRate(rate float64) float64 {
	switch {
	case m.Sampling == sampler.FixedSize && m.Records > 0:
		return math.Max(1, math.Round(rate*float64(m.Records))) / float64(m.Records)
	case m.Sampling == sampler.BallsAndBins || m.Sampling == sampler.Shuffle:
		return 1 / math.Max(1, math.Round(1/rate))
	}
	return rate
}

// checkRate computes the sampling rate from the batch size, if given.
func (m *Mechanism) checkRate() error {
	switch {
	case m.Batch != 0 && m.Rate != 0:
		return status.Usagef("--batch-size: give it or --sampling-rate, not both")
	case m.Batch != 0 && m.Records == 0:
		return status.Usagef("--batch-size: the rate is batch size over records, and --records is missing")
	case m.Batch > m.Records:
		return status.Usagef("--batch-size: %d is more than the %d records", m.Batch, m.Records)
	case m.Batch != 0:
		m.Rate = float64(m.Batch) / float64(m.Records)
	case m.Sampling == sampler.Full && m.Rate == 0:
		m.Rate = 1
	case m.SolveRate:
		return nil
	case m.Rate == 0:
		return status.Usagef("--sampling-rate: missing: the expected fraction of the records in a batch; give it, as in --sampling-rate 0.01, or --records and --batch-size, as in --records 50000 --batch-size 500")
	}
	if m.Sampling == sampler.Full && m.Rate != 1 {
		return status.Usagef("--sampling-rate: %v, but --sampling full takes every record in every step", m.Rate)
	}
	return nil
}

// wholePopulation replaces an unknown number of records: with it every sampling rate gives
// a whole batch to 2⁻⁶².
const wholePopulation = 1 << 62

// Event is the ledger of `steps` Gaussian steps with noise multiplier sigma.
func (m *Mechanism) Event(sigma float64, steps int64) event.Event {
	var of event.Event = event.Gaussian{NoiseMultiplier: sigma}
	batches := int64(math.Max(1, math.Round(1/m.Rate)))
	switch m.Sampling {
	case sampler.Poisson:
		of = event.PoissonSampled{Rate: m.Rate, Of: of}
	case sampler.FixedSize:
		population := wholePopulation
		if m.Records > 0 {
			population = m.Records
		}
		of = event.FixedSizeSampled{Population: population, Batch: max(1, int(math.Round(m.Rate*float64(population)))), Of: of}
	case sampler.BallsAndBins: // an incomplete epoch counts in full
		of, steps = event.BallsAndBins{Batches: int(batches), Of: of}, (steps+batches-1)/batches
	case sampler.Shuffle:
		of, steps = event.Shuffled{Of: of}, (steps+batches-1)/batches
	}
	return event.SelfComposed{Of: of, Count: steps}
}

// Warnings lists warnings about the number.
func (m *Mechanism) Warnings(sigma, epsilon, delta float64) []string {
	w := []string{}
	if m.Records > 0 && delta >= 1/float64(m.Records) {
		w = append(w, "delta is not below 1/records: publishing one record at random would meet it")
	}
	if epsilon > 10 {
		w = append(w, "epsilon is above 10: the guarantee is weak")
	}
	if m.Records > 0 && m.Rate*float64(m.Records) < 1 {
		w = append(w, "batches hold less than one record on average")
	}
	if m.Sampling == sampler.FixedSize && sigma/2 < 0.5 {
		w = append(w, "with fixed-size batches a record displaces another, so the noise counts half: less than 0.5")
	}
	return w
}

// WhatIf changes the run to the sampler and relation of the flags, and refuses to do so
// without --what-if: account prints the price of the mechanism that ran.
func (own *Mechanism) WhatIf(c *cobra.Command, m *Mechanism, allowed bool, ev event.Event, rel event.Relation) (event.Event, event.Relation, error) {
	asked, err := event.ParseRelation(m.Relation)
	if err != nil {
		return nil, "", status.Usagef("--neighbours: %v", err)
	}
	otherRelation := c.Flags().Changed("neighbours") && asked != rel
	otherSampling := c.Flags().Changed("sampling") && m.Sampling != own.Sampling
	switch {
	case !otherRelation && !otherSampling:
		return ev, rel, nil
	case !allowed:
		return nil, "", status.With(status.Budget, fmt.Errorf("the run sampled by %s under %s neighbours; accounting it as anything else would be a false claim (--what-if shows the number anyway)", own.Sampling, rel))
	}
	if otherRelation {
		rel = asked
	}
	if otherSampling && own.Scheduled {
		return nil, "", status.Usagef("--sampling: the run has a schedule, and another sampler is accounted for with constant noise and rate only (leave --sampling out)")
	}
	if otherSampling {
		own.Sampling = m.Sampling
		if own.Sampling == sampler.Full {
			own.Rate = 1
		}
		ev = own.Event(own.Noise, own.Steps)
		if len(own.Before) > 0 {
			ev = event.Composed{Events: append(slices.Clone(own.Before), ev)}
		}
	}
	own.Relation = string(rel)
	if _, err := own.Check(); err != nil {
		return nil, "", err
	}
	return ev, rel, nil
}
