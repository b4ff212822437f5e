package predict

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/floats"

	"d3p/internal/models"
	"d3p/internal/models/dist"
	"d3p/internal/models/predictive"
)

// An Outcome is an averaged quantity: the expected value of a response, or the probability
// of one of its levels.
type Outcome struct {
	Target Target
	Level  int // of a category; -1 for an expected value
}

// errNoOutcome means that a model has neither a response with an expected value nor a
// category.
var errNoOutcome = errors.New("the model has no response with an expected value and no category")

// Averages evaluates tables of rows at every draw: averages[k][o][s] is outcome o at
// draw s, averaged over the rows of tables[k].
func Averages(m *models.Model, posterior Posterior, tables []Rows, rng dist.Rand) (outcomes []Outcome, averages [][][]float64, err error) {
	if m.Reconstruct != nil {
		return nil, nil, errNoOutcome
	}
	a := averager{m: m, machine: predictive.New(m, m.Predict.BatchSize()), rng: rng}
	theta := make([]float64, m.P)
	for s := range posterior.S {
		if s == 0 || !posterior.Point {
			posterior.Draw(theta, s)
			a.machine.Set(theta)
		}
		if s == 0 {
			if outcomes = a.outcomes(tables[0]); len(outcomes) == 0 {
				return nil, nil, errNoOutcome
			}
			for range tables {
				table := make([][]float64, len(outcomes))
				for o := range table {
					table[o] = make([]float64, posterior.S)
				}
				averages = append(averages, table)
			}
		}
		for k, rows := range tables {
			a.average(rows, outcomes, func(o int, x float64) { averages[k][o][s] += x })
		}
	}
	return outcomes, averages, nil
}

// averager averages outcomes over rows at the parameters that its machine has.
type averager struct {
	m       *models.Model
	machine *predictive.Distribution
	rng     dist.Rand
	lanes   []float64
}

// outcomes lists the model's outcomes, and sets a.lanes.
func (a *averager) outcomes(rows Rows) (list []Outcome) {
	block := a.m.Predict.BatchSize()
	widest := 1
	for _, t := range Targets(a.m) {
		widest = max(widest, t.Levels, len(a.m.Observed[t.Observation].Columns))
	}
	a.lanes = make([]float64, widest*block)
	a.machine.Latents(a.rng)
	a.machine.Records(rows.Data, rows.Stride, min(block, rows.N))
	for _, t := range Targets(a.m) {
		if t.Levels == 0 && a.machine.Mean(a.lanes, t.Observation) {
			list = append(list, Outcome{t, -1})
		}
		for l := range t.Levels {
			list = append(list, Outcome{t, l})
		}
	}
	return list
}

// average adds to each outcome its mean over the rows, a block at a time.
func (a *averager) average(rows Rows, outcomes []Outcome, add func(o int, x float64)) {
	block := a.m.Predict.BatchSize()
	for first := 0; first < rows.N; first += block {
		n := min(block, rows.N-first)
		a.machine.Latents(a.rng)
		a.machine.Records(rows.Data[first*rows.Stride:], rows.Stride, n)
		for o, outcome := range outcomes {
			at := outcome.Target.Column
			if outcome.Level >= 0 {
				at = outcome.Level
				a.machine.Levels(a.lanes, outcome.Target.Observation)
			} else {
				a.machine.Mean(a.lanes, outcome.Target.Observation)
			}
			add(o, floats.Sum(a.lanes[at*n:(at+1)*n])/float64(rows.N))
		}
	}
}

// Summarise is the mean of draws over the posterior, with the ends of its central
// interval of probability prob.
func Summarise(draws []float64, prob float64) Interval { return intervalOf(slices.Clone(draws), prob) }
