package rehearsal

import (
	"math"
	"slices"

	"d3p/internal/fit/plan"
	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
	"d3p/internal/models/simulate"
	"d3p/internal/settings"
	"d3p/internal/simd"
	"d3p/internal/stats"
)

// shareRecords and shareTables bound the work of ExpectedNoiseShare.
const (
	shareRecords = 400
	shareTables  = 5
)

// unknownCurvature is the factor by which a curvature that is itself estimated
// under noise multiplies the variance of the noise, about. It was chosen so that
// expected shares are those of fits to simulated tables (docs/design/algorithm.md).
const unknownCurvature = 2.5

// keptWhole is about the share of gradients that a fit by second moments does not clip.
const keptWhole = 0.8

// ExpectedNoiseShare predicts, from public facts alone, the share of the privacy
// noise in the posterior variance of each unconstrained number, shape (P): the
// median over tables that the model simulates. It is nil for plans that it does
// not cover: non-private ones, vanilla gradients, groups of parameters, batches by a schedule, units of several rows, and
// likelihoods with noise of their own.
//
// Per table: g are the gradients of simulated records, C the clip norm at which
// adaptive clipping would settle, h the clipped information of N records and the
// prior. The mean gradient with its noise of sd τ = zC/q in every step measures the
// parameter as in the posterior of a joint normal.
func ExpectedNoiseShare(p *plan.Plan, rng dist.Rand) []float64 {
	m := p.Model()
	if !p.Private || p.Gradient == settings.GradientVanilla || !p.ModelsNoise() || m == nil || m.Encoding.RowsPerUnit > 1 || m.Likelihood.AuxRecord > 0 ||
		p.ClipGroups != nil || p.BatchSchedule != nil {
		return nil
	}
	precision := m.PriorPrecision(rng)
	prior := m.NewPriorSampler()
	shares := make([][]float64, p.Latent)
	theta := make([]float64, p.Latent)
	machine := graph.NewMachine(m.Likelihood, shareRecords)
	for range shareTables {
		prior.Draw(theta, rng)
		machine.Globals(theta, nil)
		machine.Records(simulate.Records(m, theta, shareRecords, p.Law(), rng), m.Encoding.K, shareRecords, nil)
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
			return nil // no simulated record has a finite gradient
		}
		out[j] = stats.Quantile(s, 0.5)
	}
	return out
}

// noiseShareAt is the share of the noise for the records that the machine has run.
func noiseShareAt(p *plan.Plan, machine *graph.Machine, precision []float64) []float64 {
	norms := make([]float64, 0, shareRecords)
	for r := range shareRecords {
		if n := math.Sqrt(machine.SquaredNorm(r)); simd.Finite([]float64{n}) {
			norms = append(norms, n)
		}
	}
	if len(norms) == 0 {
		return nil
	}
	clip := p.ClipNorm * math.Sqrt(p.ClipNormSchedule.LateSquare())
	if p.ByMoments() {
		slices.Sort(norms)
		clip = stats.Quantile(norms, keptWhole)
	}
	if p.Clipping == settings.ClippingAdaptive {
		slices.Sort(norms)
		clip = math.Max(plan.MinClipNorm, stats.Quantile(norms, p.ClipQuantile))
	}
	tau := p.GradientNoise * clip / p.SamplingRate
	noise := unknownCurvature * 4 * tau * tau * p.NoiseSchedule.LateSquare() / (3 * float64(p.Steps)) // of the mean gradient, under weights w = t
	share, g := make([]float64, p.Latent), make([]float64, p.Latent)
	for r := range shareRecords {
		if machine.Gradient(r, g); simd.Finite(g) {
			weight := float64(p.Records) / shareRecords * math.Min(1, clip/math.Sqrt(machine.SquaredNorm(r)))
			for j, x := range g { // E[clip(g)·g] is the information that is left
				share[j] += weight * x * x
			}
		}
	}
	for j, h := range share {
		kappa := h / (h + noise)
		share[j] = 1 - (precision[j]+kappa*h)/(precision[j]+h)
	}
	return share
}
