package posterior

import (
	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/law"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
)

// simulation simulates records of a model with the plan's public seed: the same
// ones in every call.
type simulation struct {
	model *models.Model
	law   *law.Law // of the columns
	seed  uint64
	// batches is k of Plan.BatchVariance.
	batches float64
}

// simulationBatch is the number of records that are simulated at a time.
const simulationBatch = 400

// simulates reports whether single simulated records have the gradients that the
// records of a fit by p have: not units of several rows, nor likelihoods with noise
// of their own.
func simulates(p *plan.Plan) bool {
	m := p.Model()
	return m != nil && m.Encoding.RowsPerUnit <= 1 && m.Likelihood.AuxRecord == 0
}

func (s simulation) random() *noise.Random {
	return noise.NewRandom(noise.Public(s.seed).Stream(noise.Simulation))
}

// eachRecord simulates records at truth (P) and calls use for each with its
// gradient at the parameters at and its score, the gradient at truth, both (P).
// It leaves out records for which one of them is not finite.
func (s simulation) eachRecord(truth, at []float64, records int, use func(g, score []float64)) {
	m, rng := s.model, s.random()
	machine := graph.NewMachine(m.Likelihood, simulationBatch)
	g, scores := make([]float64, m.P), mat.NewDense(simulationBatch, m.P, nil)
	for range records / simulationBatch {
		rows := simulate.Records(m, truth, simulationBatch, s.law, rng)
		machine.Globals(truth, nil)
		machine.Records(rows, m.Encoding.K, simulationBatch, nil)
		for r := range simulationBatch {
			machine.Gradient(r, scores.RawRowView(r))
		}
		machine.Globals(at, nil)
		machine.Again()
		for r := range simulationBatch {
			machine.Gradient(r, g)
			score := scores.RawRowView(r)
			if simd.Finite(g) && simd.Finite(score) {
				use(g, score)
			}
		}
	}
}
