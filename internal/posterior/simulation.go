package posterior

import (
	"math"

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
	batches       float64
	designEffects designEffects
	// entries is how many entries of a record's gradient are not 0; 0: all may be.
	entries int
	// gain is (V + v̄)⁻¹ slope (P×P) of the moments before; nil: truths have no spread, or f has not told it.
	gain *mat.Dense
}

// newSimulation is that of a fit by p that took steps.
func newSimulation(p *plan.Plan, steps int) simulation {
	s := simulation{p.Model(), p.Law(), p.InitSeed, p.BatchVariance(steps), designEffectsOf(p), 0, nil}
	s.eachRecord(make([]float64, s.model.P), make([]float64, s.model.P), simulationBatch, func(g, _ []float64) {
		count := 0
		for _, x := range g {
			if x != 0 {
				count++
			}
		}
		s.entries = max(s.entries, count)
	})
	return s
}

// simulationBatch is the number of records that are simulated at a time.
const simulationBatch = 400

// simulates reports whether simulated records have the gradients that the records of a fit by p
// have: not units with an unknown number of rows, nor likelihoods with noise of their own.
func simulates(p *plan.Plan) bool {
	m := p.Model()
	return m != nil && (m.Encoding.RowsPerUnit <= 1 || p.DesignEffects.Known()) && m.Likelihood.AuxRecord == 0
}

func (s simulation) random() *noise.Random {
	return noise.NewRandom(noise.Public(s.seed).Stream(noise.Simulation))
}

// runAt runs the machine on simulationBatch records of m at truth (P), with the columns' law l, and sets scores
// [simulationBatch x P] to their gradients there. Numbers outside their declared bounds are clamped to them:
// such a record has the score 0. At e³⁶ events, which a count of at most 200 does not rule out where a predictor's
// law has a long tail, the gradient is as large, and a posterior by it was a point.
func runAt(machine *graph.Machine, m *models.Model, truth []float64, l *law.Law, rng *noise.Random, scores *mat.Dense) {
	units, inside := simulate.Inside(m, truth, simulationBatch, l, rng)
	machine.Globals(truth, nil)
	machine.Records(units, m.Encoding.Width(), simulationBatch, nil)
	for r, is := range inside {
		if machine.Gradient(r, scores.RawRowView(r)); !is {
			clear(scores.RawRowView(r))
		}
	}
}

// eachRecord simulates records at truth (P) and calls use for each with its
// gradient at the parameters at and its score, the gradient at truth, both (P).
// It leaves out records for which one of them is not finite.
func (s simulation) eachRecord(truth, at []float64, records int, use func(g, score []float64)) {
	m, rng := s.model, s.random()
	machine := graph.NewMachine(m.Likelihood, simulationBatch)
	g, scores := make([]float64, m.P), mat.NewDense(simulationBatch, m.P, nil)
	for range records / simulationBatch {
		runAt(machine, m, truth, s.law, rng, scores)
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

// addClippedInformation adds weight·clip(g)·g (P) of a record's gradient g to sum.
// For a score g, E[clip(g)·g] is exactly −∂E[clip(g)]: E[clip(g)] = 0 at every
// truth, at the truth, is differentiated under the integral.
func addClippedInformation(sum, g []float64, clipNorm, weight float64) {
	weight *= clipFactor(g, clipNorm)
	for j, x := range g {
		sum[j] += weight * x * x
	}
}

// clipFactor is min(1, clipNorm/|g|).
func clipFactor(g []float64, clipNorm float64) float64 {
	norm := math.Sqrt(simd.Dot(g, g))
	if norm <= clipNorm {
		return 1
	}
	return clipNorm / norm
}

// sandwichRecords is the number of simulated records of samplingRatio.
const sandwichRecords = 4000

// samplingRatio (P) compares the variance that the sampling of records gives a
// released gradient with its information: E[clip(g)²]/E[clip(g)·s], over gradients g
// at the parameters at and scores s at truth of records simulated at truth. It is 1
// for a score that is not clipped, whose variance is its information. Clipped
// gradients have less: where nearly all are clipped, only their directions vary.
// It is the middle of the sandwich H⁻¹JH⁻¹, the variance of an estimate that solves
// Σ clip(g) = 0 (Huber 1967). It is 1 where no simulated record has a gradient, and as
// much larger as rows of a unit are alike.
func (s simulation) samplingRatio(truth, at []float64, clipNorm float64) []float64 {
	p, count := s.model.P, 0.0
	sum, square, cross := make([]float64, p), make([]float64, p), make([]float64, p)
	s.eachRecord(truth, at, sandwichRecords, func(g, score []float64) {
		count++
		factor := clipFactor(g, clipNorm)
		for j, x := range g {
			sum[j] += factor * x
			square[j] += factor * x * factor * x
			cross[j] += factor * x * score[j]
		}
	})
	ratio := make([]float64, p)
	for j := range ratio {
		ratio[j] = 1
		if variance := square[j] - sum[j]*sum[j]/count; variance > 0 && cross[j] > 0 {
			ratio[j] = variance / cross[j]
		}
		ratio[j] *= s.designEffects.in(j)
	}
	return ratio
}
