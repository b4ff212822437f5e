package plan

import (
	"math"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/models/law"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
	"d3p/internal/simd"
	"d3p/internal/stats"
)

// lawRecords is the number of simulated records whose gradients have their norms computed,
// clipCandidates the number of compared clip norms.
const lawRecords, clipCandidates = 4000, 60

// muchWorse is the ratio of mean squared errors from which the best clip norm replaces that
// of a quantile.
const muchWorse = 4

// A fit may clip gap times as many records as the target of the quantile, because its clip
// norm follows a noisy count.
const gap = 3

// chooseClippingBy fixes the clip norm if the quantile is poor under the law. With an
// outcome of 2 % most records have short gradients, and their quantile clips away the
// outcomes. A bound of all gradients takes the place of a quantile that is no better. The joint
// noise multiplier stays, and so does a quantile that the user gave.
// Effects count as 0: strong effects give the norms of counts heavy tails, which a quantile
// follows better than the law.
func (p *Plan) chooseClippingBy(l *law.Law) {
	m := p.model
	if p.Clipping != settings.ClippingAdaptive || p.ClipQuantile != p.defaultQuantile() || m.Encoding.RowsPerUnit > 1 || m.Likelihood.AuxRecord > 0 {
		return
	}
	rng := noise.NewRandom(noise.Public(p.InitSeed).Child(4).Stream(noise.Initialisation))
	start := m.WithoutSlopes()
	g := gradientsOf(m.Likelihood, start, simulate.Records(m, start, lawRecords, l, rng), m.Encoding.K)
	if len(g.norms) == 0 {
		return
	}
	best, least := 0.0, math.Inf(1)
	for k := range clipCandidates {
		c := stats.Quantile(g.norms, 0.2+0.8*float64(k)/(clipCandidates-1))
		if e := p.clippingError(g, c); e < least {
			best, least = c, e
		}
	}
	if p.ClipBound > 0 && p.clippingError(g, p.ClipBound) <= p.clippingError(g, stats.Quantile(g.norms, p.ClipQuantile)) {
		p.Clipping, p.ClipNorm, p.ClipQuantile = settings.ClippingFlat, p.ClipBound, 0
		p.SplitNoise()
		return
	}
	if !(best > 0) || p.clippingError(g, stats.Quantile(g.norms, max(0, 1-gap*(1-p.ClipQuantile)))) < muchWorse*least {
		return
	}
	digits := math.Pow(10, math.Floor(math.Log10(best))-1)
	p.Clipping, p.ClipNorm, p.ClipQuantile = settings.ClippingFlat, math.Ceil(best/digits)*digits, 0
	p.SplitNoise()
}

// clippingError is, up to a factor, the mean squared error of parameters that solve Σ
// clip(g) + noise = 0 with clip norm c. With k the share of the information Σ|g|² that
// clipping keeps, it is
//
//	(Σ|clip(g)|² + |Σ(clip(g) − g)|² + P(C/μ)²)/k²:
//
// the variance of sampling, the bias (scores have mean 0), and the noise of all steps.
func (p *Plan) clippingError(g gradients, c float64) float64 {
	n := float64(p.Records) / float64(len(g.rows))
	all, kept, sampling := 0.0, 0.0, 0.0
	bias := make([]float64, p.Latent)
	for _, row := range g.rows {
		norm := math.Sqrt(simd.Dot(row, row))
		factor := math.Min(1, c/norm)
		if norm == 0 {
			continue
		}
		all, kept, sampling = all+norm*norm, kept+factor*norm*norm, sampling+factor*factor*norm*norm
		simd.Axpy(bias, factor-1, row)
	}
	return (n*sampling + n*n*simd.Dot(bias, bias) + float64(p.Latent)*c*c/(p.Mu*p.Mu)) * (all / kept) * (all / kept)
}

// gradients are the gradients of simulated records, and their norms in rising order.
type gradients struct {
	rows  [][]float64 // each (P)
	norms []float64
}

// gradientsOf are the finite gradients at theta of encoded records with k columns.
func gradientsOf(t *graph.Tape, theta, records []float64, k int) (g gradients) {
	const batch = 400
	machine := graph.NewMachine(t, batch)
	machine.Globals(theta, nil)
	for ; len(records) >= k; records = records[min(len(records), batch*k):] {
		b := min(batch, len(records)/k)
		machine.Records(records[:b*k], k, b, nil)
		for r := range b {
			row := make([]float64, t.P)
			if machine.Gradient(r, row); simd.Finite(row) {
				g.rows = append(g.rows, row)
				g.norms = append(g.norms, math.Sqrt(simd.Dot(row, row)))
			}
		}
	}
	slices.Sort(g.norms)
	return g
}
