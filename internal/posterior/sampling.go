package posterior

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/law"
	"d3p/internal/nuts"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
)

// The first moments are those at the fit's location, the next ones over the draws of the
// round before. The first rounds have the law that was bought, the last two each drawn
// one. The last round draws the release.
const (
	sharedRounds            = 2
	roundWarmup, roundDraws = 150, 250
	lastWarmup, lastDraws   = 150, 400
)

// laws is the number of laws by which records are simulated. Each law gives a part of the
// draws, so that intervals contain the uncertainty about the law. chains is the number of
// equal parts of the released draws; each part has draws of every law. Draws of one law may stray where
// those of the others are right: they are left out, and at least leastLaws must stay.
const laws, leastLaws, chains = 6, 5, 4

// sampled draws from the posterior that has the exact prior and the synthetic
// likelihood of the mean released gradient, by each of several laws; nil where that is
// not possible.
func sampled(ctx context.Context, p *plan.Plan, r Releases) *Posterior {
	seeds := noise.Public(p.InitSeed).Child(2)
	first := newSearch(p, r, p.Law(), p.InitSeed)
	for round := range sharedRounds {
		if !first.round(ctx, random(seeds, round)) {
			return nil
		}
	}
	list := make([]*search, laws)
	var wait sync.WaitGroup
	for k := range list {
		l, of := p.Law(), seeds.Child(uint64(k))
		if k > 0 && l.Bought() {
			l = l.Drawn(random(of, 0))
		}
		list[k] = first.by(l, p.InitSeed+uint64(k))
		wait.Go(func() {
			if !list[k].round(ctx, random(of, 1)) || !list[k].last(ctx, random(of, 2)) {
				list[k] = nil
			}
		})
	}
	wait.Wait()
	if slices.Contains(list, nil) {
		return nil
	}
	if len(staying(list, first.start)) < laws {
		list = staying(list, first.start, jointOrGuide(p, r).Mean)
	}
	if len(list) < leastLaws {
		return nil
	}
	post := ofLaws(p, r, list)
	post.Tries = post.Tries.Plus(first.tries)
	return post
}

// search goes towards the posterior by rounds of moments and draws.
type search struct {
	plan         *plan.Plan
	sums         GradientSums
	simulated    simulation
	places       [][]place
	released     []float64 // f
	scales       []scale
	coefficients []bool
	floor        []float64

	start      []float64 // where the fit ended, settled
	mean       []float64
	covariance *mat.SymDense
	draws      []float64 // S×P of the last round; nil: none
	tries      nuts.Tries
	likelihood *synthetic
}

func newSearch(p *plan.Plan, r Releases, l *law.Law, seed uint64) *search {
	m := p.Model()
	s := &search{plan: p, sums: r.Gradients, simulated: newSimulation(p, r.Steps), start: settledEnd(p, r)}
	s.simulated.law, s.simulated.seed = l, seed
	rng := s.simulated.random()
	s.mean = s.start
	s.released, s.covariance = make([]float64, m.P), mat.NewSymDense(m.P, nil)
	simd.MulScalar(s.released, s.sums.LikelihoodSlope, 1/s.sums.Totals[0])
	s.places = r.places(rng)
	s.scales = findScales(m, newScores(m, s.mean, l, s.simulated.random()), s.mean)
	s.coefficients = realValuedAlone(m, s.scales)
	s.floor = m.PriorPrecision(s.simulated.random())
	return s
}

// by is s with another law.
func (s *search) by(l *law.Law, seed uint64) *search {
	out := *s
	out.tries = nuts.Tries{}
	out.simulated.law, out.simulated.seed = l, seed
	return &out
}

// round draws once more, and reports whether that was possible.
func (s *search) round(ctx context.Context, rng *noise.Random) bool {
	if !s.draw(ctx, s.simulated.recordsOfSlope(s.plan.Units()), nuts.Options{Warmup: roundWarmup, Draws: roundDraws}, rng) {
		return false
	}
	s.mean, s.covariance = meanCovariance(s.draws, len(s.mean))
	return true
}

// last draws the release.
func (s *search) last(ctx context.Context, rng *noise.Random) bool {
	records := min(meanRecords*s.plan.Units(), mostSimulated) / 2
	return s.draw(ctx, max(records, s.simulated.recordsOfSlope(s.plan.Units())), nuts.Options{Warmup: lastWarmup, Draws: lastDraws}, rng)
}

func (s *search) draw(ctx context.Context, records int, o nuts.Options, rng *noise.Random) bool {
	m := s.simulated.model
	truths := func(i int) []float64 {
		if s.draws == nil {
			return s.mean
		}
		i = i * strideOfTruths % roundDraws
		return s.truth(s.draws[i*m.P : (i+1)*m.P])
	}
	moments := s.simulated.momentsAt(truths, effects{s.scales, s.mean}, s.places, s.plan.Units(), records)
	moments.scale(measuredFactors(s.sums, moments, s.coefficients, s.simulated.batches, s.simulated.law.Bought(), lawRatiosOf(s.plan)), s.covariance)
	unlike := s.simulated.ofUnlikeErrors(s.mean, s.places[0], s.plan.Units())
	s.likelihood = newSynthetic(s.released, s.sums.noiseVariance(), unlike, moments)
	if s.likelihood == nil {
		return false
	}
	s.simulated.gain = s.likelihood.gain
	t := &target{m.NewPriorDensity(), s.likelihood, s.mean, m.Scales(), m.StandardNormal()}
	draws, tries := t.sample(ctx, o, rng)
	s.draws, s.tries = draws, s.tries.Plus(tries)
	return s.draws != nil
}

// mostStrayed is how many standard deviations of a posterior a coefficient may lie from that of the
// fit's end and that of the joint normal, unless it is within leastStrayed of the prior's. Where gradients hardly depend on a
// parameter, a round can go far past the truth, to where they do: of four Poisson tables with a
// mean of .02 (N = 4000, ε = 1) one had the intercept 4.92 ± .04 after a fit that ended at -3.8.
// A fit that did not quite arrive is many small standard deviations off, too: the cutpoint below 1 %
// of 100,000 records was -4.88 ± .04 after a fit that ended at -4.55, the truth -4.85.
// Of some 360 fits (N = 1000 to 100,000), those whose draws were far beyond the truth had moved by .83
// standard deviations of the prior or more, those whose draws were right by .38 or less.
const mostStrayed, leastStrayed = 8, 0.5

// staying are those of list whose draws have stayed near one of these locations (P) at least.
func staying(list []*search, near ...[]float64) []*search {
	return slices.DeleteFunc(slices.Clone(list), func(s *search) bool {
		return !slices.ContainsFunc(near, func(at []float64) bool { return !s.strayed(at) })
	})
}

// strayed reports whether the draws have left the location from (P).
func (s *search) strayed(from []float64) bool {
	mean, covariance := meanCovariance(s.draws, len(from))
	for j, is := range s.coefficients {
		moved := math.Abs(mean[j] - from[j])
		if is && moved > mostStrayed*math.Sqrt(covariance.At(j, j)) && moved*math.Sqrt(s.floor[j]) > leastStrayed {
			return true
		}
	}
	return false
}

// strideOfTruths has no factor in common with roundDraws, so that truths are other
// draws until all were used, the first ones from all over the chain.
const strideOfTruths = 97

// truthSpread is how far from the mean a truth lies, in units of a draw's distance. At
// 1 rounds did not settle where coefficients are large: a wide posterior makes slopes
// flat, which makes the next one wide. Effects and their scales keep the whole distance: a
// mean rate grows with the variance between groups, also where no effect is known.
const truthSpread = 0.5

// truth lies between the mean of the draws and one of them.
func (s *search) truth(draw []float64) []float64 {
	truth := slices.Clone(draw)
	isEffect := effectsOf(s.scales, len(truth))
	for _, x := range s.scales {
		isEffect[x.at] = true
	}
	for j, m := range s.mean {
		if !isEffect[j] {
			truth[j] = m + truthSpread*(draw[j]-m)
		}
	}
	return truth
}

// realValuedAlone marks the coordinates that are real-valued and no effect of a scale.
func realValuedAlone(m *models.Model, scales []scale) []bool {
	list, isEffect := make([]bool, m.P), effectsOf(scales, m.P)
	for _, j := range realValued(m) {
		list[j] = !isEffect[j]
	}
	return list
}

// random is the generator of a round.
func random(seeds noise.Root, number int) *noise.Random {
	return noise.NewRandom(seeds.Child(uint64(number)).Stream(noise.Initialisation))
}

// shuffle puts values in random order: those that draws get have one of their own, and so have draws.
func shuffle(values []float64, rng *noise.Random) {
	for i := range values {
		j := i + int(rng.Uint64()%uint64(len(values)-i))
		values[i], values[j] = values[j], values[i]
	}
}

// ofLaws is the posterior of the draws of all laws, dealt out to the chains.
func ofLaws(p *plan.Plan, r Releases, list []*search) *Posterior {
	var draws []float64
	for c := range chains {
		for i := c; i < lastDraws; i += chains {
			for _, l := range list {
				draws = append(draws, l.draws[i*p.Latent:(i+1)*p.Latent]...)
			}
		}
	}
	mean, _ := meanCovariance(draws, p.Latent)
	post := samplePosterior(p, r, draws, chains, withoutNoise(list, mean))
	for _, s := range list {
		post.Tries = post.Tries.Plus(s.tries)
	}
	return post
}

// withoutNoise is the covariance without the noise, that of a likelihood with more information, at
// the mean (P) of the draws of all laws; nil if it has none. What the laws disagree about counts
// as noise.
func withoutNoise(list []*search, mean []float64) *mat.SymDense {
	n := len(mean)
	within, more := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for _, l := range list {
		noisy, exact := l.likelihood.information(mean)
		noisy.ScaleSym(-1, noisy)
		more.AddSym(more, noisy)
		more.AddSym(more, exact)
		_, own := meanCovariance(l.draws, n)
		within.AddSym(within, own)
	}
	within.ScaleSym(1/float64(len(list)), within)
	more.ScaleSym(1/float64(len(list)), more)
	var c mat.Cholesky
	precision, without := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	if !c.Factorize(within) || c.InverseTo(precision) != nil {
		return nil
	}
	precision.AddSym(precision, more)
	if !simd.Finite(precision.RawSymmetric().Data) || !c.Factorize(precision) || c.InverseTo(without) != nil {
		return nil
	}
	return without
}

// target is the density of a posterior.
type target struct {
	prior      *models.PriorDensity
	likelihood *synthetic
	start      []float64              // (P)
	scales     []int                  // coordinates that are logarithms of scales
	standard   *models.StandardNormal // coordinates of the chain
}

// density implements nuts.Density.
func (t *target) density(gradient, theta []float64) (float64, error) {
	value := t.prior.Density(gradient, theta) + t.likelihood.addDensity(gradient, theta)
	if !simd.Finite(gradient) || math.IsNaN(value) {
		return math.Inf(-1), nil
	}
	return value, nil
}

// sample draws θ by a chain that begins near the mode next to the start, S×P; nil where the density is
// not finite at the start: SampleNear would try that start again and again. Group effects that are known well
// beside a standard deviation that is not need other coordinates (nuts.Options.Scales): in θ, steps are as
// short as the best known combination.
func (t *target) sample(ctx context.Context, o nuts.Options, rng *noise.Random) ([]float64, nuts.Tries) {
	if value, _ := t.density(make([]float64, len(t.start)), t.start); math.IsInf(value, 0) {
		return nil, nuts.Tries{}
	}
	o.Dense, o.Scales = true, t.scales
	chain, tries, err := nuts.UntilMixed(o, func(o nuts.Options) (*nuts.Chain, error) {
		return nuts.SampleNear(ctx, t.standard.Density(t.density), len(t.start), func(start []float64) { t.standard.Standard(start, t.start) }, o, rng)
	})
	if err != nil {
		return nil, tries
	}
	t.standard.Thetas(chain.Draws)
	return chain.Draws, tries
}

// shrinkage is the part of the correlations of few draws that is dropped, so that
// their covariance has an inverse.
const shrinkage = 0.05

// meanCovariance are the mean and the shrunk covariance of draws (S×P).
func meanCovariance(draws []float64, latent int) ([]float64, *mat.SymDense) {
	mean, covariance := drawMoments(draws, latent)
	for j := range latent {
		for k := range j {
			covariance.SetSym(j, k, (1-shrinkage)*covariance.At(j, k))
		}
	}
	return mean, covariance
}

// drawMoments are the mean and the covariance of draws (S×P).
func drawMoments(draws []float64, latent int) ([]float64, *mat.SymDense) {
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
	return mean, covariance
}
