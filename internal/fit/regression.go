package fit

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/nuts"
	"d3p/internal/posterior"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
	"d3p/internal/sufficient"
)

// regressionStep is the release of a step of a fit by second moments.
type regressionStep struct {
	// Theta is φ (P), the mode of the posterior at that step; Covariance (P×P) is the
	// posterior's.
	Theta      []float64 `json:"theta"`
	Covariance []float64 `json:"covariance"`
	Sum        []float64 `json:"sum"`       // of clipped gradients with noise (P)
	ClipNorm   float64   `json:"clip_norm"` // C
}

// regression is the posterior of a linear regression given its second moments and the steps
// so far: the exact prior times their likelihood.
type regression struct {
	*plan.Regression
	plan       *plan.Plan
	moments    *sufficient.Moments // with errors of the belief's shape
	prior      *models.PriorDensity
	likelihood *sufficient.Likelihood
	by         belief

	gamma, slope, towards []float64
}

// newRegression is the posterior given the plan's moments and steps. The belief by decides
// the effect of clipping on the steps.
func newRegression(p *plan.Plan, steps []regressionStep, by belief) *regression {
	r := &regression{Regression: p.Regression(), plan: p, moments: p.Regression().Moments[by.shape], by: by, prior: p.Model().NewPriorDensity()}
	k := len(r.Places)
	r.gamma, r.slope, r.towards = make([]float64, k), make([]float64, k+1), make([]float64, k+1)
	var list []sufficient.Step
	center, variance := make([]float64, k), 1.0
	if len(steps) > 0 {
		records := r.simulate(by)
		variance = math.Exp(2 * r.at(center, by.mode))
		for _, s := range steps {
			list = append(list, r.step(s, records))
		}
	}
	// g = Baseᵀ Σx(y − xγ)/s² + noise
	shape := mat.NewSymDense(k, nil)
	shape.SymOuterK(1, r.Inverse.T())
	r.likelihood = sufficient.NewLikelihood(r.moments, shape, list, center, variance)
	return r
}

// at sets gamma to γ at φ, and returns log s.
func (r *regression) at(gamma, phi []float64) float64 {
	for i := range gamma {
		gamma[i] = 0
		for j, place := range r.Places {
			gamma[i] += r.Base.At(i, j) * phi[place]
		}
	}
	return r.LogUnit + phi[r.Sigma]
}

// step is a released gradient in the form of sums over the records.
func (r *regression) step(s regressionStep, records *drawnRecords) sufficient.Step {
	k := len(r.Places)
	out := sufficient.Step{At: make([]float64, k), Slope: make([]float64, k)}
	logS := r.at(out.At, s.Theta)
	variance := math.Exp(2 * logS)
	g := records.gradients(out.At, variance)
	c := g.clip(s.ClipNorm)
	n := r.moments.Records
	for j, place := range r.Places {
		whole := (s.Sum[place]-n*c.ofSlope[j])/c.slope + n*g.whole.ofSlope[j]
		for i := range k {
			out.Slope[i] += r.Inverse.At(j, i) * whole * variance
		}
	}
	out.Square = variance * (n + (s.Sum[r.Sigma]-n*c.ofSquare)/c.square + n*g.whole.ofSquare)
	slope, square := r.errors(c, s.ClipNorm)
	missing := unknownPart * n
	ofSlope := missing * (1/c.slope - 1) * math.Exp(2*(r.LogUnit-logS)) * records.uncertainty
	ofSquare := missing * (1/c.square - 1) * math.Abs(g.whole.ofSquare)
	out.SlopeNoise, out.SquareNoise = math.Hypot(math.Sqrt(slope), ofSlope)*variance, math.Hypot(math.Sqrt(square), ofSquare)*variance
	return out
}

// density is the log density of φ.
func (r *regression) density(gradient, phi []float64) float64 {
	logS := r.at(r.gamma, phi)
	value := r.prior.Density(gradient, phi)
	value += r.likelihood.Density(r.towards, r.gamma, logS)
	for j, place := range r.Places {
		for i := range r.gamma {
			gradient[place] += r.Base.At(i, j) * r.towards[i]
		}
	}
	gradient[r.Sigma] += r.towards[len(r.gamma)]
	if !simd.Finite(gradient) || math.IsNaN(value) {
		clear(gradient)
		return math.Inf(-1)
	}
	return value
}

// normals are count draws from a normal, for a density without a chain.
func normals(by belief, count int, rng *noise.Random) (draws []float64) {
	var c mat.Cholesky
	var root mat.TriDense
	if !c.Factorize(by.covariance) {
		panic("fit: a covariance without a root")
	}
	c.LTo(&root)
	z := make([]float64, len(by.mode))
	for range count {
		for j := range z {
			z[j] = rng.Normal()
		}
		for i, x := range by.mode {
			for j := range i + 1 {
				x += root.At(i, j) * z[j]
			}
			draws = append(draws, x)
		}
	}
	return draws
}

// without approximates the covariance of the posterior at φ without privacy noise.
func (r *regression) without(phi []float64) *mat.SymDense {
	k := len(r.Places)
	variance := math.Exp(2 * r.at(r.gamma, phi))
	var half, all mat.Dense
	half.Mul(r.likelihood.Positive(), r.Base)
	all.Mul(r.Base.T(), &half)
	// the second derivatives of the log prior, by differences
	up, down, x := make([]float64, len(phi)), make([]float64, len(phi)), slices.Clone(phi)
	information := mat.NewSymDense(len(phi), nil)
	for j := range phi {
		const h = 1e-4
		x[j] = phi[j] + h
		r.prior.Density(up, x)
		x[j] = phi[j] - h
		r.prior.Density(down, x)
		x[j] = phi[j]
		information.SetSym(j, j, max(0, (down[j]-up[j])/(2*h)))
	}
	for i, a := range r.Places {
		for j, b := range r.Places[:i+1] {
			information.SetSym(a, b, information.At(a, b)+(all.At(i, j)+all.At(j, i))/(2*variance))
		}
	}
	information.SetSym(r.Sigma, r.Sigma, information.At(r.Sigma, r.Sigma)+2*r.moments.Records)
	covariance := mat.NewSymDense(len(phi), nil)
	var c mat.Cholesky
	if k == 0 || !c.Factorize(information) || c.InverseTo(covariance) != nil {
		return mat.NewSymDense(len(phi), nil)
	}
	return covariance
}

// regress takes the remaining steps of a fit by second moments.
func (l *Loop) regress(ctx context.Context, oracle Oracle, after func(step int)) error {
	s := &l.state
	release := make([]float64, l.plan.Release)
	for !l.Done() {
		if ctx.Err() != nil {
			return ErrStopped
		}
		list := believe(l.plan, s.Regression)
		next := regressionStep{Theta: list[0].mode, Covariance: slices.Clone(list[0].covariance.RawSymmetric().Data), ClipNorm: clipNorm(list, s.Step)}
		if _, err := oracle.Step(release, next.Theta, next.ClipNorm); err != nil {
			return err
		}
		next.Sum = slices.Clone(release)
		s.Regression = append(s.Regression, next)
		copy(s.Lambda, next.Theta)
		s.ClipNorm = next.ClipNorm
		s.Step++
		if s.Trace.wants(s.Step) {
			s.Trace.add(s.Step, next.Theta)
		}
		after(s.Step)
	}
	return nil
}

const regressionChains, regressionWarmup, regressionDraws = 4, 100, 500

// leastWeight is the probability below which the posterior leaves out a candidate, fewestDraws
// the number of draws that show whether its chain mixes.
const leastWeight, fewestDraws = 0.01, 50

// regressed is the posterior of a fit by second moments: each candidate has as many of a chain's
// draws as its weight demands.
func (l *Loop) regressed(ctx context.Context) *posterior.Posterior {
	list := believe(l.plan, l.state.Regression)
	weights := weights(list)
	kept := slices.IndexFunc(weights, func(w float64) bool { return w < leastWeight })
	if kept < 0 {
		kept = len(list)
	}
	draws, tries := make([][]float64, regressionChains), make([]nuts.Tries, regressionChains)
	var wait sync.WaitGroup
	for c := range draws {
		rng := noise.NewRandom(noise.Public(l.plan.InitSeed).Child(8).Child(uint64(c)).Stream(noise.Initialisation))
		wait.Go(func() { draws[c], tries[c] = l.chain(ctx, list[:kept], rng) })
	}
	wait.Wait()
	post := posterior.OfPrivateSample(l.plan, l.releases(), slices.Concat(draws...), regressionChains, list[0].without(list[0].mode))
	for _, t := range tries {
		post.Tries = post.Tries.Plus(t)
	}
	if steps := l.state.Regression; len(steps) > 0 {
		squares, _ := list[0].missedSquares(list[0].belief, steps)
		post.StepMisfit = posterior.NewStepMisfit(squares, longTails(list))
	}
	return post
}

// chain is a chain of draws from all candidates, in turns.
func (l *Loop) chain(ctx context.Context, list []candidate, rng *noise.Random) (draws []float64, tries nuts.Tries) {
	ofCandidates, due, weights := make([][]float64, len(list)), make([]float64, len(list)), weights(list)
	for i, by := range list {
		density := newRegression(l.plan, l.state.Regression, by.by)
		options := nuts.Options{Warmup: regressionWarmup, Draws: max(fewestDraws, int(math.Ceil(weights[i]*regressionDraws))+1), Dense: true, Covariance: by.covariance}
		sampled, tried, err := nuts.UntilMixed(options, func(o nuts.Options) (*nuts.Chain, error) {
			return nuts.Sample(ctx, func(gradient, x []float64) (float64, error) { return density.density(gradient, x), nil }, by.mode, o, rng)
		})
		if err != nil {
			ofCandidates[i] = normals(by.belief, options.Draws, rng)
			continue
		}
		ofCandidates[i], tries = sampled.Draws, tries.Plus(tried)
	}
	n := l.plan.Latent
	for range regressionDraws {
		floats.Add(due, weights)
		next := floats.MaxIdx(due)
		due[next]--
		draws = append(draws, ofCandidates[next][:n]...)
		ofCandidates[next] = ofCandidates[next][n:]
	}
	return draws, tries
}
