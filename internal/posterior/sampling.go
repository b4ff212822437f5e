package posterior

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/nuts"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
)

// The first moments are those at the fit's location, the next ones over the draws of the
// round before. The last round draws the release.
const (
	rounds                  = 4
	roundWarmup, roundDraws = 150, 250
	lastWarmup, lastDraws   = 150, 500
	lastChains              = 4
)

// sampled draws from the posterior that has the exact prior and the synthetic
// likelihood of the mean released gradient; nil where that is not possible.
func sampled(p *plan.Plan, r Releases) *Posterior {
	m, sums := p.Model(), r.Gradients
	simulated := simulation{m, p.Law(), p.InitSeed}
	f := make([]float64, m.P)
	simd.MulScalar(f, sums.LikelihoodSlope, 1/sums.Totals[0])
	places := r.places(simulated.random())
	mean := guide.Location(r.Guide, r.Lambda)
	scales := findScales(m, newScores(m, mean, simulated.law, simulated.random()), mean)
	coefficients, bought := realValuedAlone(m, scales), p.Law().Bought()
	truths := func(int) []float64 { return mean }
	covariance, seeds := mat.NewSymDense(m.P, nil), noise.Public(p.InitSeed).Child(2)
	floor := priorPrecision(p, random(seeds, rounds+lastChains))
	for round := 0; ; round++ {
		records := slopeRecords
		if round == rounds-1 {
			records = min(max(meanRecords*p.Records, slopeRecords), mostSimulated)
		}
		moments := simulated.momentsAt(truths, effects{scales, mean}, places, p.Records, records)
		moments.scale(measuredFactors(sums, moments, coefficients, bought), covariance)
		likelihood := newSynthetic(f, sums.noiseVariance(), moments)
		if round == rounds-1 {
			return lastRound(p, r, likelihood, mean, floor, seeds)
		}
		t := newTarget(m, likelihood, mean, floor)
		if t == nil {
			return nil
		}
		draws := t.sample(nuts.Options{Warmup: roundWarmup, Draws: roundDraws}, random(seeds, round))
		if draws == nil {
			return nil
		}
		mean, covariance = meanCovariance(draws, m.P)
		truths = func(i int) []float64 {
			i = i * strideOfTruths % roundDraws
			return between(mean, draws[i*m.P:(i+1)*m.P])
		}
	}
}

// strideOfTruths has no factor in common with roundDraws, so that truths are other
// draws until all were used, the first ones from all over the chain.
const strideOfTruths = 97

// truthSpread is how far from the mean a truth lies, in units of a draw's distance. At
// 1 rounds did not settle where coefficients are large: a wide posterior makes slopes
// flat, which makes the next one wide.
const truthSpread = 0.5

// between is the truth between the mean of the draws and one of them.
func between(mean, draw []float64) []float64 {
	truth := make([]float64, len(mean))
	for j, m := range mean {
		truth[j] = m + truthSpread*(draw[j]-m)
	}
	return truth
}

// lastRound samples by chains of their own targets, side by side.
func lastRound(p *plan.Plan, r Releases, likelihood *synthetic, mean, floor []float64, seeds noise.Root) *Posterior {
	draws := make([][]float64, lastChains)
	var wait sync.WaitGroup
	for c := range draws {
		t := newTarget(p.Model(), likelihood.clone(), mean, floor)
		if t == nil {
			return nil
		}
		wait.Go(func() {
			draws[c] = t.sample(nuts.Options{Warmup: lastWarmup, Draws: lastDraws}, random(seeds, rounds+c))
		})
	}
	wait.Wait()
	if slices.ContainsFunc(draws, func(x []float64) bool { return x == nil }) {
		return nil
	}
	return ofPrivateSample(p, r, slices.Concat(draws...), likelihood)
}

// random is the generator of a round, or of a chain of the last one.
func random(seeds noise.Root, number int) *noise.Random {
	return noise.NewRandom(seeds.Child(uint64(number)).Stream(noise.Initialisation))
}

// ofPrivateSample is the posterior of these draws. Without the noise, its
// covariance would be that of a likelihood with more information.
func ofPrivateSample(p *plan.Plan, r Releases, draws []float64, likelihood *synthetic) *Posterior {
	post := OfSample(p, draws, lastChains)
	post.Steps, post.Trace = r.Steps, r.Trace
	mean, total := meanCovariance(draws, p.Latent)
	noisy, exact := likelihood.information(mean)
	var c mat.Cholesky
	precision := mat.NewSymDense(p.Latent, nil)
	if !c.Factorize(total) || c.InverseTo(precision) != nil {
		return post
	}
	precision.AddSym(precision, exact)
	for i := range p.Latent {
		for j := range i + 1 {
			precision.SetSym(i, j, precision.At(i, j)-noisy.At(i, j))
		}
	}
	without := mat.NewSymDense(p.Latent, nil)
	if !simd.Finite(precision.RawSymmetric().Data) || !c.Factorize(precision) || c.InverseTo(without) != nil {
		return post
	}
	if _, beyond := split(total, without); beyond != nil {
		post.setNoise(beyond)
	}
	return post
}

// target is the density of a posterior in coordinates z, θ = start + root·z, in
// which it is about a standard normal.
type target struct {
	prior        *models.PriorDensity
	likelihood   *synthetic
	start        []float64
	rows         [][]float64 // of root, lower triangular
	theta, slope []float64
}

// newTarget takes the coordinates from the information at the start: that of the
// likelihood, and floor (P), 1/variance under the prior. It is nil without a
// likelihood, or where that has no root.
func newTarget(m *models.Model, likelihood *synthetic, start, floor []float64) *target {
	if likelihood == nil {
		return nil
	}
	information, _ := likelihood.information(start)
	for j, x := range floor {
		information.SetSym(j, j, information.At(j, j)+x)
	}
	covariance := mat.NewSymDense(m.P, nil)
	var c mat.Cholesky
	if !simd.Finite(information.RawSymmetric().Data) || !c.Factorize(information) || c.InverseTo(covariance) != nil || !c.Factorize(covariance) {
		return nil
	}
	n := m.P
	t := &target{prior: m.NewPriorDensity(), likelihood: likelihood, start: start, theta: make([]float64, n), slope: make([]float64, n)}
	for packed := lower(&c); len(t.rows) < n; {
		size := len(t.rows) + 1
		t.rows, packed = append(t.rows, packed[:size]), packed[size:]
	}
	return t
}

// at sets theta to the parameters at z.
func (t *target) at(z []float64) {
	for i, row := range t.rows {
		t.theta[i] = t.start[i] + simd.Dot(row, z[:i+1])
	}
}

// density implements nuts.Density.
func (t *target) density(gradient, z []float64) (float64, error) {
	t.at(z)
	value := t.prior.Density(t.slope, t.theta) + t.likelihood.addDensity(t.slope, t.theta)
	clear(gradient)
	for i, row := range t.rows {
		simd.Axpy(gradient[:i+1], t.slope[i], row)
	}
	if !simd.Finite(gradient) || math.IsNaN(value) {
		return math.Inf(-1), nil
	}
	return value, nil
}

// sample draws θ by a chain that begins at the start, S×P; nil where the density is
// not finite there.
func (t *target) sample(o nuts.Options, rng *noise.Random) []float64 {
	n := len(t.start)
	chain, err := nuts.Sample(context.Background(), t.density, make([]float64, n), o, rng)
	if err != nil {
		return nil
	}
	draws := make([]float64, 0, o.Draws*n)
	for z := chain.Draws; len(z) > 0; z = z[n:] {
		t.at(z[:n])
		draws = append(draws, t.theta...)
	}
	return draws
}

// shrinkage is the part of the correlations of few draws that is dropped, so that
// their covariance has an inverse.
const shrinkage = 0.05

// meanCovariance are the mean and covariance of draws (S×P).
func meanCovariance(draws []float64, latent int) ([]float64, *mat.SymDense) {
	n := len(draws) / latent
	mean, centred := make([]float64, latent), mat.NewDense(n, latent, nil)
	for i := range n {
		simd.Axpy(mean, 1/float64(n), draws[i*latent:(i+1)*latent])
	}
	for i := range n {
		simd.Sub(centred.RawRowView(i), draws[i*latent:(i+1)*latent], mean)
	}
	covariance := mat.NewSymDense(latent, nil)
	covariance.SymOuterK(1/float64(n-1), centred.T())
	for j := range latent {
		for k := range j {
			covariance.SetSym(j, k, (1-shrinkage)*covariance.At(j, k))
		}
	}
	return mean, covariance
}
