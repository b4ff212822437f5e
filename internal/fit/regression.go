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
	"d3p/internal/stats"
	"d3p/internal/sufficient"
)

// regressionStep is the release of a step of a fit by second moments.
type regressionStep struct {
	Theta    []float64 `json:"theta"`     // φ (P)
	Sum      []float64 `json:"sum"`       // of clipped gradients, noisy (P)
	ClipNorm float64   `json:"clip_norm"` // C
	// Slope and Square are the parts of the derivatives of Sum in the coefficients and in
	// log σ that clipping keeps; Clipped and Whole are the expected derivative of a record
	// in log σ with and without it.
	Slope   float64 `json:"slope"`
	Square  float64 `json:"square"`
	Clipped float64 `json:"clipped"`
	Whole   float64 `json:"whole"`
	// OfSlope and OfSquare are the standard deviations of what Slope and Square leave out.
	OfSlope  float64 `json:"of_slope"`
	OfSquare float64 `json:"of_square"`
}

// unknownPart of what clipping takes away is not known, since the errors of all records
// share what is not known of the coefficients.
const unknownPart = 0.3

// regression is the posterior of a linear regression, given its second moments and the
// steps so far: the exact prior times their likelihood.
type regression struct {
	*plan.Regression
	plan       *plan.Plan
	prior      *models.PriorDensity
	likelihood *sufficient.Likelihood

	gamma, slope, towards []float64
}

func newRegression(p *plan.Plan, steps []regressionStep) *regression {
	r := &regression{Regression: p.Regression(), plan: p, prior: p.Model().NewPriorDensity()}
	k := len(r.Places)
	var list []sufficient.Step
	for _, s := range steps {
		list = append(list, r.step(s))
	}
	// g = Baseᵀ Σx(y − xγ)/s² + noise
	shape := mat.NewSymDense(k, nil)
	shape.SymOuterK(1, r.Inverse.T())
	r.likelihood = sufficient.NewLikelihood(r.Moments, shape, list)
	r.gamma, r.slope, r.towards = make([]float64, k), make([]float64, k+1), make([]float64, k+1)
	return r
}

// at sets gamma to γ at φ and returns log s.
func (r *regression) at(gamma, phi []float64) float64 {
	for i := range gamma {
		gamma[i] = 0
		for j, place := range r.Places {
			gamma[i] += r.Base.At(i, j) * phi[place]
		}
	}
	return r.LogUnit + phi[r.Sigma]
}

// step is a released gradient as sums over the records.
func (r *regression) step(s regressionStep) sufficient.Step {
	k := len(r.Places)
	out := sufficient.Step{At: make([]float64, k), Slope: make([]float64, k)}
	logS := r.at(out.At, s.Theta)
	variance := math.Exp(2 * logS)
	for i := range k {
		for j, place := range r.Places {
			out.Slope[i] += r.Inverse.At(j, i) * s.Sum[place] * variance / s.Slope
		}
	}
	n := r.Moments.Records
	out.Square = variance * (n + (s.Sum[r.Sigma]-n*s.Clipped)/s.Square + n*s.Whole)
	noise := r.plan.GradientNoise * s.ClipNorm
	out.SlopeNoise, out.SquareNoise = math.Hypot(noise, s.OfSlope)*variance/s.Slope, math.Hypot(noise, s.OfSquare)*variance/s.Square
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

// skewedPart of what clipping takes away may point in one direction: errors are not
// normal, and predictors not as the law has them.
const skewedPart = 0.1

// shuffledNormals are the middles of n parts of a normal, in random order: means over them
// have less error than those over draws.
func shuffledNormals(n int, rng *noise.Random) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/float64(n)-1)
	}
	for i := n - 1; i > 0; i-- {
		j := int(rng.Uniform() * float64(i+1))
		x[i], x[j] = x[j], x[i]
	}
	return x
}

// clipTrials is the number of clip norms that are compared; none may
// keep less than leastKept of the information.
const clipTrials, leastKept = 24, 0.05

// next is the step that follows: where, and with which clip norm. The gradients there are
// those of records drawn from the law, with errors by what is known so far.
func (r *regression) next(start []float64, rng *noise.Random) regressionStep {
	mode, covariance := r.mode(start)
	s := regressionStep{Theta: mode, Slope: 1, Square: 1, ClipNorm: 1}
	k := len(r.Places)
	logS := r.at(r.gamma, mode)
	variance := math.Exp(2 * logS)
	// covariance of γ
	ofPhi, half, ofGamma := mat.NewDense(k, k, nil), mat.NewDense(k, k, nil), mat.NewDense(k, k, nil)
	for i, a := range r.Places {
		for j, b := range r.Places {
			ofPhi.Set(i, j, covariance.At(a, b))
		}
	}
	half.Mul(r.Base, ofPhi)
	ofGamma.Mul(half, r.Base.T())
	n := len(r.Rows) / k
	squares, ofSigma, norms, score := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	errors := shuffledNormals(n, rng)
	for i := range n {
		x := r.Rows[i*k : (i+1)*k]
		v, length := variance, 0.0
		for a := range x {
			for b := range x {
				v += x[a] * x[b] * ofGamma.At(a, b)
			}
			c := 0.0
			for b := range x {
				c += r.Base.At(b, a) * x[b]
			}
			length += c * c
		}
		xi := errors[i]
		residual := v * xi * xi
		squares[i] = length * residual / (variance * variance)
		ofSigma[i] = residual/variance - 1
		norms[i] = math.Sqrt(squares[i] + ofSigma[i]*ofSigma[i])
		score[i] = xi*xi - 1
	}
	sorted := slices.Sorted(slices.Values(norms))
	multiplier := r.plan.GradientNoise * r.plan.GradientNoise / float64(r.plan.Steps)
	least := math.Inf(1)
	records := r.Moments.Records
	for trial := range clipTrials {
		c := stats.Quantile(sorted, 0.6+0.4*float64(trial+1)/clipTrials)
		all, kept, clipped, whole, sampling, ofScore, keptScore, lost := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
		for i, norm := range norms {
			f := math.Min(1, c/max(norm, 1e-300))
			all, kept = all+squares[i], kept+f*squares[i]
			sampling += f * f * norm * norm
			lost += (1 - f) * norm
			whole, clipped = whole+ofSigma[i], clipped+f*ofSigma[i]
			ofScore, keptScore = ofScore+ofSigma[i]*score[i], keptScore+f*ofSigma[i]*score[i]
		}
		whole, clipped = whole/float64(n), clipped/float64(n)
		slope, square := kept/all, keptScore/ofScore
		bias := records * (whole - clipped)
		skewed := skewedPart * records * lost / float64(n)
		e := (records*sampling/float64(n)+bias*bias/16+skewed*skewed)/(slope*slope) + c*c*multiplier*(float64(k)/(slope*slope)+1/(square*square))
		if e < least && slope > leastKept && square > leastKept && c > plan.MinClipNorm && c < plan.MaxClipNorm {
			least = e
			s.ClipNorm, s.Slope, s.Square, s.Clipped, s.Whole = c, slope, square, clipped, whole
		}
	}
	trace := 0.0
	for _, place := range r.Places {
		trace += covariance.At(place, place) / float64(k)
	}
	unit := math.Exp(2 * (r.LogUnit - logS))
	s.OfSlope = unknownPart * (1 - s.Slope) * records * unit * math.Sqrt(trace)
	s.OfSquare = unknownPart * (1 - s.Square) * records * math.Abs(s.Whole)
	return s
}

// mode is the best of the modes from start and from the regressions of what was released,
// with errors of several sizes: where the errors are small, a wrong mode explains all by
// large ones. Best is the one with the most probability, as a normal.
func (r *regression) mode(start []float64) ([]float64, *mat.SymDense) {
	k := len(r.Places)
	starts := [][]float64{start}
	gamma, phi := r.likelihood.Solved(), mat.NewVecDense(k, nil)
	phi.MulVec(r.Inverse, mat.NewVecDense(k, gamma))
	for _, logS := range []float64{0, -1, -2.5, -4} {
		x := slices.Clone(start)
		for j, place := range r.Places {
			x[place] = phi.AtVec(j)
		}
		x[r.Sigma] = start[r.Sigma] + logS
		starts = append(starts, x)
	}
	best, spread := start, mat.NewSymDense(len(start), nil) // where no start has a density
	for j := range start {
		spread.SetSym(j, j, 1)
	}
	most, gradient := math.Inf(-1), make([]float64, len(start))
	for _, from := range starts {
		at, covariance := sufficient.Mode(r.density, from)
		value := r.density(gradient, at)
		var c mat.Cholesky
		if !c.Factorize(covariance) {
			continue
		}
		if value += c.LogDet() / 2; value > most {
			best, spread, most = at, covariance, value
		}
	}
	return best, spread
}

// normals are draws from a normal, for a density that has no chain.
func normals(mean []float64, covariance *mat.SymDense, rng *noise.Random) [][]float64 {
	var c mat.Cholesky
	var root mat.TriDense
	if !c.Factorize(covariance) {
		panic("fit: a covariance without a root")
	}
	c.LTo(&root)
	draws, n := make([][]float64, regressionChains), len(mean)
	z := make([]float64, n)
	for k := range draws {
		for range regressionDraws {
			for j := range z {
				z[j] = rng.Normal()
			}
			for i, x := range mean {
				for j := range i + 1 {
					x += root.At(i, j) * z[j]
				}
				draws[k] = append(draws[k], x)
			}
		}
	}
	return draws
}

// without is about the covariance of the posterior at φ without privacy noise.
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
	start := make([]float64, l.plan.Latent)
	release := make([]float64, l.plan.Release)
	for !l.Done() {
		if ctx.Err() != nil {
			return ErrStopped
		}
		if s.Step > 0 {
			start = s.Regression[s.Step-1].Theta
		}
		rng := noise.NewRandom(noise.Public(l.plan.InitSeed).Child(7).Child(uint64(s.Step)).Stream(noise.Initialisation))
		next := newRegression(l.plan, s.Regression).next(start, rng)
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

// regressed is the posterior of a fit by second moments.
func (l *Loop) regressed() *posterior.Posterior {
	start := make([]float64, l.plan.Latent)
	if s := l.state.Regression; len(s) > 0 {
		start = s[len(s)-1].Theta
	}
	draws := make([][]float64, regressionChains)
	var wait sync.WaitGroup
	mode, covariance := newRegression(l.plan, l.state.Regression).mode(start)
	for c := range draws {
		r := newRegression(l.plan, l.state.Regression)
		rng := noise.NewRandom(noise.Public(l.plan.InitSeed).Child(8).Child(uint64(c)).Stream(noise.Initialisation))
		wait.Go(func() {
			chain, err := nuts.Sample(context.Background(), func(gradient, x []float64) (float64, error) { return r.density(gradient, x), nil },
				mode, nuts.Options{Warmup: regressionWarmup, Draws: regressionDraws, Dense: true, Covariance: covariance}, rng)
			if err == nil {
				draws[c] = chain.Draws
			}
		})
	}
	wait.Wait()
	if slices.ContainsFunc(draws, func(x []float64) bool { return x == nil }) {
		draws = normals(mode, covariance, noise.NewRandom(noise.Public(l.plan.InitSeed).Child(9).Stream(noise.Initialisation)))
	}
	return posterior.OfPrivateSample(l.plan, l.releases(), slices.Concat(draws...), regressionChains, newRegression(l.plan, nil).without(mode))
}
