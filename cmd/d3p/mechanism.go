package main

import (
	"math"
	"strings"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/status"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
)

// mechanismFlags describe a run by its public facts, for the commands that
// account without one.
type mechanismFlags struct {
	sampling string
	relation string
	rate     float64
	noise    float64
	steps    int64
	epochs   float64 // passes over the data; 0: the steps say it
	records  int
	batch    int // expected records of a step; 0: the rate says it
	delta    float64

	before []event.Event // what the run released before its steps

	solveRate bool // the sampling rate is what is asked for
}

// define adds the flags to c.
func (m *mechanismFlags) define(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&m.sampling, "sampling", "poisson", "how batches were drawn: "+strings.Join(sampler.Schemes(), ", "))
	f.StringVar(&m.relation, "neighbours", string(event.AddRemove), "which data sets are neighbours: "+strings.Join(event.RelationNames(), ", "))
	completeWords(c, "sampling", sampler.Schemes())
	completeWords(c, "neighbours", event.RelationNames())
	f.Float64Var(&m.rate, "sampling-rate", 0, "expected fraction `q` of the records in a batch; 1/q batches make an epoch")
	f.IntVar(&m.batch, "batch-size", 0, "expected records of a batch, with --records instead of --sampling-rate")
	f.Int64Var(&m.steps, "steps", 0, "number of steps `T`")
	f.Float64Var(&m.epochs, "epochs", 0, "expected passes over the records, instead of --steps")
	f.Float64Var(&m.noise, "noise-multiplier", 0, "noise standard deviation over clip norm")
	f.IntVar(&m.records, "records", 0, "declared number of records, for exact fixed-size batches and warnings")
	f.Float64Var(&m.delta, "delta", 0, "probability `D` with which epsilon may fail")
}

// check completes the rate and the number of steps, and reports the first flag that
// does not fit the others.
func (m *mechanismFlags) check() (event.Relation, error) {
	rel, err := event.ParseRelation(m.relation)
	if err != nil {
		return "", status.Usagef("--neighbours: %v", err)
	}
	if err := m.checkRate(); err != nil {
		return "", err
	}
	return rel, m.checkEpochs()
}

// checkEpochs finds the number of steps from the passes over the data, where those
// are given: the last batch may lie beyond them.
func (m *mechanismFlags) checkEpochs() error {
	switch {
	case m.epochs == 0:
		return nil
	case m.solveRate && m.steps == 0 && m.epochs > 0 && !math.IsInf(m.epochs, 1):
		return nil // the rate says how many steps they are
	case m.steps != 0:
		return status.Usagef("--epochs: give it or --steps, not both")
	}
	m.steps = m.stepsOfEpochs()
	return nil
}

// stepsOfEpochs is how many steps the passes over the data take.
func (m *mechanismFlags) stepsOfEpochs() int64 {
	steps := m.epochs / m.rate
	return int64(math.Ceil(steps - 1e-9*steps))
}

// atRate is the mechanism with another sampling rate.
func (m mechanismFlags) atRate(rate float64) mechanismFlags {
	m.rate = rate
	if m.epochs != 0 {
		m.steps = m.stepsOfEpochs()
	}
	return m
}

// runRate rounds a sampling rate to one that a run can have: a batch of fixed size has
// whole records, and an epoch has whole batches.
func (m *mechanismFlags) runRate(rate float64) float64 {
	switch {
	case m.sampling == "fixed_size" && m.records > 0:
		return math.Max(1, math.Round(rate*float64(m.records))) / float64(m.records)
	case m.sampling == "balls_and_bins" || m.sampling == "shuffle":
		return 1 / math.Max(1, math.Round(1/rate))
	}
	return rate
}

// checkRate finds the sampling rate, from the batch size where that is given.
func (m *mechanismFlags) checkRate() error {
	switch {
	case m.batch != 0 && m.rate != 0:
		return status.Usagef("--batch-size: give it or --sampling-rate, not both")
	case m.batch != 0 && m.records == 0:
		return status.Usagef("--batch-size: the rate is batch size over records, and --records is missing")
	case m.batch > m.records:
		return status.Usagef("--batch-size: %d is more than the %d records", m.batch, m.records)
	case m.batch != 0:
		m.rate = float64(m.batch) / float64(m.records)
	case m.sampling == "full" && m.rate == 0:
		m.rate = 1
	case m.solveRate:
		return nil
	case m.rate == 0:
		return status.Usagef("--sampling-rate: missing: the expected fraction of the records in a batch; give it, as in --sampling-rate 0.01, or --records and --batch-size, as in --records 50000 --batch-size 500")
	}
	if m.sampling == "full" && m.rate != 1 {
		return status.Usagef("--sampling-rate: %v, but --sampling full takes every record in every step", m.rate)
	}
	return nil
}

// wholePopulation stands for an unknown number of records: with it every
// sampling rate is a whole batch to 2⁻⁶².
const wholePopulation = 1 << 62

// event is the ledger of `steps` Gaussian steps with noise multiplier sigma.
func (m *mechanismFlags) event(sigma float64, steps int64) event.Event {
	var of event.Event = event.Gaussian{NoiseMultiplier: sigma}
	batches := int64(math.Max(1, math.Round(1/m.rate)))
	switch m.sampling {
	case "poisson":
		of = event.PoissonSampled{Rate: m.rate, Of: of}
	case "fixed_size":
		population := wholePopulation
		if m.records > 0 {
			population = m.records
		}
		of = event.FixedSizeSampled{Population: population, Batch: max(1, int(math.Round(m.rate*float64(population)))), Of: of}
	case "balls_and_bins": // an incomplete epoch counts in full
		of, steps = event.BallsAndBins{Batches: int(batches), Of: of}, (steps+batches-1)/batches
	case "shuffle":
		of, steps = event.Shuffled{Of: of}, (steps+batches-1)/batches
	}
	return event.SelfComposed{Of: of, Count: steps}
}

// warnings lists what a reader of the number should know.
func (m *mechanismFlags) warnings(sigma, epsilon, delta float64) []string {
	w := []string{}
	if m.records > 0 && delta >= 1/float64(m.records) {
		w = append(w, "delta is not below 1/records: publishing one record at random would meet it")
	}
	if epsilon > 10 {
		w = append(w, "epsilon is above 10: the guarantee says little")
	}
	if m.records > 0 && m.rate*float64(m.records) < 1 {
		w = append(w, "batches hold less than one record on average")
	}
	if m.sampling == "fixed_size" && sigma/2 < 0.5 {
		w = append(w, "with fixed-size batches a record displaces another: the noise counts half, and that is below 0.5")
	}
	return w
}
