package fit

import (
	"math"
	"slices"

	"d3p/internal/fit/plan"
	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
	"d3p/internal/quantile"
)

// expectRecords and expectTables bound the work of Expect.
const (
	expectRecords = 400
	expectTables  = 5
)

// unknownCurvature is the factor by which a curvature that is itself estimated
// under noise multiplies the variance of the noise, about: the one with which
// expected shares are those of fits to simulated tables (docs/design/algorithm.md).
const unknownCurvature = 2.5

// Expect predicts, from public facts alone, which part of each unconstrained
// number's posterior variance will stand for the privacy noise, shape (P): the
// median over tables that the model itself invents. It is nil for what it does
// not cover: non-private plans, vanilla gradients, units of several rows, and
// likelihoods with noise of their own.
//
// Per table: g are the gradients of invented records, C the clip norm that
// adaptive clipping would settle at, h the clipped information of N records and
// the prior, and the mean gradient with its noise of sd τ = zC/q in every step
// measures the parameter, as in measurement.posterior.
func ExpectedNoiseShare(p *plan.Plan, rng dist.Rand) []float64 {
	m := p.Model()
	if !p.Private || p.Gradient == plan.GradientVanilla || !p.ModelsNoise() || !simulatesRecords(p) {
		return nil
	}
	prior := m.NewPriorSampler()
	precision := priorPrecision(p.Latent, func(theta []float64) { prior.Draw(theta, rng) })
	shares := make([][]float64, p.Latent)
	theta := make([]float64, p.Latent)
	machine := graph.NewMachine(m.Likelihood, expectRecords)
	for range expectTables {
		prior.Draw(theta, rng)
		machine.Globals(theta, nil)
		machine.Records(m.SimulateRecords(theta, expectRecords, rng), m.Encoding.K, expectRecords, nil)
		for j, share := range noiseShareAt(p, machine, precision) {
			if !math.IsNaN(share) {
				shares[j] = append(shares[j], share)
			}
		}
	}
	out := make([]float64, p.Latent)
	for j, s := range shares {
		slices.Sort(s)
		if len(s) == 0 {
			return nil // nothing the model invents has finite gradients
		}
		out[j] = quantile.Of(s, 0.5)
	}
	return out
}

// invents reports whether single records that the model invents have the gradients
// that a fit's have: not units of several rows, nor likelihoods with noise of
// their own.
func simulatesRecords(p *plan.Plan) bool {
	return p.Model() != nil && p.Model().Encoding.RowsPerUnit <= 1 && p.Model().Likelihood.AuxRecord == 0
}

// priorPrecision estimates 1/variance of every number under the prior.
func priorPrecision(latent int, draw func(theta []float64)) []float64 {
	const n = 200
	theta, sum, square := make([]float64, latent), make([]float64, latent), make([]float64, latent)
	for range n {
		draw(theta)
		for j, x := range theta {
			sum[j], square[j] = sum[j]+x/n, square[j]+x*x/n
		}
	}
	for j := range sum {
		sum[j] = 1 / math.Max(1e-12, square[j]-sum[j]*sum[j])
	}
	return sum
}

// expectAt is the share of noise for the records that the machine has run.
func noiseShareAt(p *plan.Plan, machine *graph.Machine, precision []float64) []float64 {
	norms := make([]float64, 0, expectRecords)
	for r := range expectRecords {
		if n := math.Sqrt(machine.SquaredNorm(r)); finite([]float64{n}) {
			norms = append(norms, n)
		}
	}
	if len(norms) == 0 {
		return nil
	}
	clip := p.ClipNorm
	if p.Clipping == plan.ClippingAdaptive {
		slices.Sort(norms)
		clip = math.Max(minClipNorm, quantile.Of(norms, p.ClipQuantile))
	}
	tau := p.GradientNoise * clip / p.SamplingRate
	noise := unknownCurvature * 4 * tau * tau / (3 * float64(p.Steps)) // of the mean gradient, under weights w = t
	share := clippedInformation(p, machine, clip)
	for j, h := range share {
		kappa := h / (h + noise)
		share[j] = 1 - (precision[j]+kappa*h)/(precision[j]+h)
	}
	return share
}

// information is the diagonal of the clipped Fisher information of N records.
func clippedInformation(p *plan.Plan, machine *graph.Machine, clip float64) []float64 {
	out, g := make([]float64, p.Latent), make([]float64, p.Latent)
	for r := range expectRecords {
		if machine.Gradient(r, g); finite(g) {
			addInformation(out, g, clip, float64(p.Records)/expectRecords)
		}
	}
	return out
}
