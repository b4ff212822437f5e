package nuts

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// laplace is the normal approximation of the posterior at a mode: the start of a chain, and
// its first metric.
type laplace struct {
	mode       []float64     // P
	hessian    *mat.SymDense // negative, there
	width      []float64     // of its differences
	covariance *mat.SymDense // its inverse
	// normal: at draws of the approximation the log density is close to the
	// approximation's, so a short warm-up suffices.
	normal bool
	// bound is a lower bound of the logarithm of the density's integral, up to a constant:
	// the mean over those draws of its logarithm less that of the approximation.
	bound float64
}

// Limits of the search for a mode.
const (
	newtonSteps   = 100
	newtonTries   = 8    // of larger and larger damping
	newtonArrived = 1e-4 // of the log density that a full step would gain
	normalTrials  = 10
	normalMiss    = 2  // of the log density, at every trial
	shrinkages    = 8  // of a start towards 0, by the factor shrinkage each
	narrowings    = 12 // of the first widths, by the same factor
	shrinkage     = 0.1
)

var errNoMode = errors.New("no mode")

// newLaplace climbs from start by damped Newton steps. If it ends without a mode where the
// density is less than at a point nearer to 0, it climbs from that point: where coefficients
// are about units as small as a year or a dollar, a start of size 1 predicts every record
// with certainty, and only the prior curves there. The error is errNoMode if the log density
// has no peak, as in a funnel, or an error of the density.
func newLaplace(c *curvature, start []float64) (*laplace, error) {
	a, err := newAscent(c.density, start)
	if err != nil {
		return nil, err
	}
	l, err := a.climb(c, firstWidths(len(start)))
	if !errors.Is(err, errNoMode) {
		return l, err
	}
	near, err := nearer(c.density, start, a.value)
	if err != nil {
		return nil, err
	}
	if near == nil {
		return nil, errNoMode
	}
	width, err := near.widths()
	if err != nil {
		return nil, err
	}
	return near.climb(c, width)
}

// newAscent begins at start.
func newAscent(density Density, start []float64) (*ascent, error) {
	a := &ascent{density: density, x: slices.Clone(start), gradient: make([]float64, len(start)), damping: 1e-3}
	var err error
	a.value, err = density(a.gradient, a.x)
	return a, err
}

// nearer begins at the densest of some points between start and 0, or is nil if none has a
// finite log density above least.
func nearer(density Density, start []float64, least float64) (best *ascent, err error) {
	x := slices.Clone(start)
	for range shrinkages {
		for j := range x {
			x[j] *= shrinkage
		}
		a, err := newAscent(density, x)
		if err != nil {
			return nil, err
		}
		if isFinite(a.value) && !(a.value <= least) {
			best, least = a, a.value
		}
	}
	return best, nil
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// widths are the first widths of differences, narrower where the log density is not about
// quadratic: there it differs by more than 1.
func (a *ascent) widths() ([]float64, error) {
	width := firstWidths(len(a.x))
	x, unused := slices.Clone(a.x), make([]float64, len(a.x))
	for j := range width {
		for range narrowings {
			bend := -2 * a.value
			for _, step := range []float64{-width[j], width[j]} {
				x[j] = a.x[j] + step
				v, err := a.density(unused, x)
				if err != nil {
					return nil, err
				}
				bend += v
			}
			if math.Abs(bend) <= 1 {
				break
			}
			width[j] *= shrinkage
		}
		x[j] = a.x[j]
	}
	return width, nil
}

// climb is the normal approximation at the mode where the ascent ends. The widths of
// differences begin at width.
func (a *ascent) climb(c *curvature, width []float64) (*laplace, error) {
	if !isFinite(a.value) {
		return nil, errNoMode
	}
	for range newtonSteps {
		h, err := c.at(a.x, width)
		if err != nil {
			return nil, err
		}
		for j := range width { // a tenth of a standard deviation
			if v := h.At(j, j); v > 0 {
				width[j] = 0.1 / math.Sqrt(v)
			}
		}
		var factor mat.Cholesky
		if factor.Factorize(h) {
			step := solve(&factor, a.gradient)
			if step != nil && gain(step, a.gradient) < newtonArrived {
				l := &laplace{mode: a.x, hessian: h, width: width}
				return l, l.compare(c.density, a.value, c.rng)
			}
		}
		accepted, err := a.step(h)
		if err != nil {
			return nil, err
		}
		if !accepted {
			break
		}
	}
	return nil, errNoMode
}

func firstWidths(p int) []float64 { return slices.Repeat([]float64{1e-3}, p) }

// ascent is a way up to a mode.
type ascent struct {
	density        Density
	x, gradient    []float64
	value, damping float64
}

// step takes a damped Newton step, and returns false if no step goes up.
func (a *ascent) step(curvature *mat.SymDense) (bool, error) {
	p := len(a.x)
	trial, next := make([]float64, p), make([]float64, p)
	var factor mat.Cholesky
	for range newtonTries {
		damped := mat.NewSymDense(p, nil)
		damped.CopySym(curvature)
		for j := range p {
			damped.SetSym(j, j, curvature.At(j, j)+a.damping*math.Max(math.Abs(curvature.At(j, j)), 1e-6))
		}
		if factor.Factorize(damped) {
			if step := solve(&factor, a.gradient); step != nil {
				for j := range trial {
					trial[j] = a.x[j] + step[j]
				}
				v, err := a.density(next, trial)
				if err != nil {
					return false, err
				}
				if v > a.value && !math.IsInf(v, 1) {
					a.value, a.x, a.gradient = v, trial, next
					a.damping = math.Max(a.damping/10, 1e-9)
					return true, nil
				}
			}
		}
		a.damping *= 10
	}
	return false, nil
}

func solve(factor *mat.Cholesky, gradient []float64) []float64 {
	var step mat.VecDense
	if factor.SolveVecTo(&step, mat.NewVecDense(len(gradient), gradient)) != nil {
		return nil
	}
	return step.RawVector().Data
}

// gain is the increase of a normal's log density by a Newton step.
func gain(step, gradient []float64) float64 {
	g := 0.0
	for j, s := range step {
		g += s * gradient[j] / 2
	}
	return math.Abs(g)
}

// compare compares the log density, top at the mode, with the normal's at draws of it.
func (l *laplace) compare(density Density, top float64, rng Rand) error {
	var factor mat.Cholesky
	l.covariance, l.normal = &mat.SymDense{}, true
	if !factor.Factorize(l.hessian) || factor.InverseTo(l.covariance) != nil {
		return errNoMode
	}
	p := len(l.mode)
	x, z, gradient := make([]float64, p), make([]float64, p), make([]float64, p)
	for range normalTrials {
		square := l.draw(x, z, rng)
		value, err := density(gradient, x)
		if err != nil {
			return err
		}
		if !(math.Abs(value-top+square/2) <= normalMiss) {
			l.normal = false
		}
		l.bound += (value + square/2) / normalTrials
	}
	l.bound -= factor.LogDet() / 2
	return nil
}

// draw sets x to a draw of the approximation and returns its squared distance from
// the mode, in standard deviations.
func (l *laplace) draw(x, z []float64, rng Rand) (square float64) {
	var factor mat.Cholesky
	factor.Factorize(l.covariance) // its inverse was positive definite
	var lower mat.TriDense
	factor.LTo(&lower)
	for j := range z {
		z[j] = rng.Normal()
		square += z[j] * z[j]
	}
	var step mat.VecDense
	step.MulVec(&lower, mat.NewVecDense(len(z), z))
	for j := range x {
		x[j] = l.mode[j] + step.AtVec(j)
	}
	return square
}

// DenseMost is the largest number of scalars for which Dense pays. Above it the square of
// their number costs more than correlations do.
const DenseMost = 200

// startTries is the number of starts to try for a finite log density.
const startTries = 100

// errNoStart has no better remedy: the model has no density where its priors are.
var errNoStart = errors.New("no starting point has a finite posterior density (give start values in the model file, or priors with lighter tails)")

// SampleNear runs a chain of D scalars from one of the starts that near sets. With Dense,
// if it finds a mode from there, the chain starts from a draw of the normal approximation
// at the mode, with its metric. So chains that find different modes disagree, as they
// should. The error is that of the density or the context, or reports that no start has a
// finite density.
func SampleNear(ctx context.Context, density Density, size int, near func(start []float64), o Options, rng Rand) (*Chain, error) {
	o = o.withDefaults()
	start := make([]float64, size)
	for range startTries {
		near(start)
		if o.Dense {
			chain, err := fromMode(ctx, density, o, start, rng)
			if !errors.Is(err, errNoMode) {
				return chain, err
			}
		}
		chain, err := Sample(ctx, density, start, o, rng)
		if !errors.Is(err, ErrNoStart) {
			return chain, err
		}
		a, err := nearer(density, start, math.Inf(-1))
		if err != nil {
			return nil, err
		}
		if a != nil {
			return Sample(ctx, density, a.x, o, rng)
		}
	}
	return nil, errNoStart
}

// shortWarmup is the number of warm-up transitions if the posterior is close to its initial
// normal approximation.
const shortWarmup = 200

// fromMode runs the chain from the normal approximation at a mode, in the coordinates of a
// centring if that approximation is poor without.
func fromMode(ctx context.Context, density Density, o Options, start []float64, rng Rand) (*Chain, error) {
	c := &curvature{rng: rng, density: func(gradient, x []float64) (float64, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return density(gradient, x)
	}}
	l, t, err := approximate(c, start, o.Scales)
	if err != nil {
		return nil, err
	}
	if t != nil {
		c.density = t.in
	}
	o.Fixed = l.normal
	if l.normal && o.Warmup > shortWarmup {
		o.skipWarmup(o.Warmup - shortWarmup)
	}
	from, z := make([]float64, len(start)), make([]float64, len(start))
	l.draw(from, z, rng)
	o.Covariance = l.covariance
	chain, err := Sample(ctx, c.density, from, o, rng)
	if errors.Is(err, ErrNoStart) {
		return nil, errNoMode
	}
	if err == nil && t != nil {
		for draw := range slices.Chunk(chain.Draws, len(start)) {
			t.toTheta(draw)
			copy(draw, t.theta)
		}
	}
	return chain, err
}

// approximate is the normal approximation at a mode, in the coordinates of a centring at the
// start if it has a mode. Else, if the approximation in θ is poor, the coordinates are those of a
// centring at the mode, where a scale may be far from most of the posterior.
func approximate(c *curvature, start []float64, scales []int) (*laplace, *centring, error) {
	if l, t, err := centred(c, start, firstWidths(len(start)), scales); err != nil || l != nil {
		return l, t, err
	}
	l, err := newLaplace(c, start)
	if err != nil || l.normal {
		return l, nil, err
	}
	better, t, err := centred(c, l.mode, l.width, scales)
	if err != nil || better != nil {
		return better, t, err
	}
	return l, nil, nil
}

// skipWarmup leaves out transitions, which count as done.
func (o *Options) skipWarmup(skipped int) {
	if progress := o.Progress; progress != nil {
		for i := range skipped {
			progress(i + 1)
		}
		o.Progress = func(done int) { progress(skipped + done) }
	}
	o.Warmup -= skipped
}
