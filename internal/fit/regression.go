package fit

import (
	"context"
	"math"
	"slices"
	"sync"

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
	prior      *models.PriorDensity
	likelihood *sufficient.Likelihood
	by         normalApproximation

	gamma, slope, towards []float64
}

// newRegression is the posterior given the plan's moments and steps. The belief by decides
// the effect of clipping on the steps.
func newRegression(p *plan.Plan, steps []regressionStep, by normalApproximation) *regression {
	r := &regression{Regression: p.Regression(), plan: p, by: by, prior: p.Model().NewPriorDensity()}
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
	r.likelihood = sufficient.NewLikelihood(r.Moments, shape, list, center, variance)
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
	n := r.Moments.Records
	for j, place := range r.Places {
		whole := (s.Sum[place]-n*c.ofSlope[j])/c.slope + n*g.ofSlope[j]
		for i := range k {
			out.Slope[i] += r.Inverse.At(j, i) * whole * variance
		}
	}
	out.Square = variance * (n + (s.Sum[r.Sigma]-n*c.ofSquare)/c.square + n*g.ofSquare)
	noise := r.plan.GradientNoise * s.ClipNorm
	missing := unknownPart * n
	ofSlope := missing * (1 - c.slope) * math.Exp(2*(r.LogUnit-logS)) * records.uncertainty
	ofSquare := missing * (1 - c.square) * math.Abs(g.ofSquare)
	out.SlopeNoise, out.SquareNoise = math.Hypot(noise, ofSlope)*variance/c.slope, math.Hypot(noise, ofSquare)*variance/c.square
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

// normals are draws from a normal, for a density without a chain.
func normals(by normalApproximation, rng *noise.Random) [][]float64 {
	var c mat.Cholesky
	var root mat.TriDense
	if !c.Factorize(by.covariance) {
		panic("fit: a covariance without a root")
	}
	c.LTo(&root)
	draws, n := make([][]float64, regressionChains), len(by.mode)
	z := make([]float64, n)
	for k := range draws {
		for range regressionDraws {
			for j := range z {
				z[j] = rng.Normal()
			}
			for i, x := range by.mode {
				for j := range i + 1 {
					x += root.At(i, j) * z[j]
				}
				draws[k] = append(draws[k], x)
			}
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
	information.SetSym(r.Sigma, r.Sigma, information.At(r.Sigma, r.Sigma)+2*r.Moments.Records)
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
		r := believe(l.plan, s.Regression)[0]
		next := regressionStep{Theta: r.mode, Covariance: slices.Clone(r.covariance.RawSymmetric().Data), ClipNorm: r.clipNorm(r.normalApproximation)}
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

const regressionChains, regressionWarmup, regressionDraws = 4, 200, 500

// regressed is the posterior of a fit by second moments. The candidates share the chains by
// their weights.
func (l *Loop) regressed() *posterior.Posterior {
	draws, tries := make([][]float64, regressionChains), make([]nuts.Tries, regressionChains)
	var wait sync.WaitGroup
	list := believe(l.plan, l.state.Regression)
	for c, by := range shared(list, regressionChains) {
		chain := newRegression(l.plan, l.state.Regression, by.by)
		rng := noise.NewRandom(noise.Public(l.plan.InitSeed).Child(8).Child(uint64(c)).Stream(noise.Initialisation))
		wait.Go(func() {
			options := nuts.Options{Warmup: regressionWarmup, Draws: regressionDraws, Dense: true, Covariance: by.covariance}
			sampled, tried, err := nuts.UntilMixed(options, func(o nuts.Options) (*nuts.Chain, error) {
				return nuts.Sample(context.Background(), func(gradient, x []float64) (float64, error) { return chain.density(gradient, x), nil }, by.mode, o, rng)
			})
			if err == nil {
				draws[c], tries[c] = sampled.Draws, tried
			}
		})
	}
	wait.Wait()
	if slices.ContainsFunc(draws, func(x []float64) bool { return x == nil }) {
		draws = normals(list[0].normalApproximation, noise.NewRandom(noise.Public(l.plan.InitSeed).Child(9).Stream(noise.Initialisation)))
	}
	post := posterior.OfPrivateSample(l.plan, l.releases(), slices.Concat(draws...), regressionChains, list[0].without(list[0].mode))
	for _, t := range tries {
		post.Tries = post.Tries.Plus(t)
	}
	return post
}
