package posterior

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/interp"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
	"d3p/internal/stats"
)

// A level with a standard deviation below knownLevel is known: the normal likelihood is good enough
// for it. Levels are levelStep standard deviations apart, at most mostLevels on either side, and end
// where the density is e^-leastLevel of the largest.
const knownLevel, levelStep, mostLevels, leastLevel = 0.4, 0.6, 12, 10.0

// leveled returns post, where joins holds, with a better distribution of the level of its linear predictor, an intercept.
// The fit by p released r; records are simulated at several levels. Where an outcome is rare, gradients
// hardly depend on the level, and the fit has not arrived: of 40 logistic regressions with an outcome of
// 2 % (N = 300, ε = 0.3) 17 % of the intervals of a normal likelihood held the intercept. It returns nil
// where the level is known well enough, where the model has effects of groups, and where the columns' law
// may be wrong, because the rate at a level depends on their scale.
func leveled(p *plan.Plan, r Releases, post *Posterior) *Posterior {
	if !p.ScoresAreGradients() {
		return nil
	}
	m := p.Model()
	at := levelOf(m)
	if at < 0 || m.P > mostMoved {
		return nil
	}
	const count = laws * lastDraws
	seeds := noise.Public(p.InitSeed).Child(6)
	draws := make([]float64, count*m.P)
	post.Draws(draws, seeds.Stream(noise.Initialisation))
	mean, covariance := meanCovariance(draws, m.P)
	s := newSimulation(p, r.Steps)
	if math.Sqrt(covariance.At(at, at)) < knownLevel || len(findScales(m, newScores(m, mean, s.law, s.random()), mean)) > 0 {
		return nil
	}
	a := levelSearch{s, r, p.Units(), at, mean, covariance}.explained()
	if a == nil {
		return nil
	}
	of := stats.GridQuantiles(a.grid, a.density, count)
	shuffle(of, random(seeds, 0))
	for i := range of {
		a.set(draws[i*m.P:(i+1)*m.P], of[i])
	}
	return post.withDraws(draws)
}

// levelOf is the place in θ of the level of the only linear predictor of m, if it is one number
// without bounds; else -1.
func levelOf(m *models.Model) int {
	list := m.LinearPredictors()
	if len(list) != 1 || list[0].Level == nil || list[0].Cuts || list[0].Level.Size != 1 {
		return -1
	}
	return list[0].Level.Offset
}

// levelSearch has the inputs of levels.
type levelSearch struct {
	simulation
	releases   Releases
	records    int // N
	at         int // the level's place in θ
	mean       []float64
	covariance *mat.SymDense // of the posterior so far
}

// explained are the levels by the columns' law; nil where they cannot be computed, where the law
// guesses shares of levels or a scale by its bounds, or where constant columns explain the releases as well.
func (s levelSearch) explained() *levels {
	constant := s
	constant.law = s.law.Constant()
	var by [2]*levels
	var wait sync.WaitGroup
	wrong := wrongShare(s.model, s.law)
	if wrong >= boundsNarrow || s.guessesShares() {
		return nil
	}
	for i, x := range []levelSearch{s, constant} {
		if i == 0 || wrong > 0 {
			wait.Go(func() { by[i] = x.levels() })
		}
	}
	wait.Wait()
	if by[0] == nil || wrong > 0 && (by[1] == nil || by[0].evidence()-by[1].evidence() < math.Log(wrong/(1-wrong))) {
		return nil
	}
	return by[0]
}

// guessesShares reports whether the law has no bought shares of a predictor's levels.
func (s levelSearch) guessesShares() bool {
	return slices.ContainsFunc(s.model.Given(), func(name string) bool {
		return !s.model.Spec.Data.Column(name).Numeric() && s.law.Column(name).Shares == nil
	})
}

// atLevel is the posterior of the other coordinates at one level: a normal.
type atLevel struct {
	level  float64
	center []float64     // (P), with the level
	root   *mat.TriDense // (P-1)×(P-1), of the covariance
	log    float64       // of the level's density, but for a constant
}

// levels are the posterior of a level and of the others beside it.
type levels struct {
	levelSearch
	list          []atLevel // by level, rising
	first         atLevel   // at the mean
	grid, density []float64 // of the level: log densities
}

// levels goes from the mean to both sides.
func (s levelSearch) levels() *levels {
	places, prior := s.releases.places(s.random()), s.model.NewPriorDensity()
	first := s.atLevel(s.mean, places, prior)
	if first == nil {
		return nil
	}
	out, top := &levels{levelSearch: s, list: []atLevel{*first}, first: *first}, first.log
	step := levelStep * math.Sqrt(s.covariance.At(s.at, s.at))
	for _, by := range []float64{step, -step} {
		last := first
		for range mostLevels {
			from := slices.Clone(last.center)
			from[s.at] += by
			if last = s.atLevel(from, places, prior); last == nil {
				break
			}
			out.list = append(out.list, *last)
			if top = max(top, last.log); last.log < top-leastLevel {
				break
			}
		}
	}
	slices.SortFunc(out.list, func(a, b atLevel) int { return cmp.Compare(a.level, b.level) })
	return out.onGrid()
}

// levelSteps is the number of places at which the moments at a level are taken, one after the other; a
// place with a step below nearStep standard deviations is the last one, and a step has at most longStep.
const levelSteps, nearStep, longStep = 3, 0.5, 3.0

// atLevel is the posterior beside the level of from (P): Newton steps from there with the moments of
// records that are simulated at one truth; nil where it is not finite.
func (s levelSearch) atLevel(from []float64, places [][]place, prior *models.PriorDensity) *atLevel {
	n := len(from)
	free := allBut(n, s.at)
	out := &atLevel{level: from[s.at], center: slices.Clone(from)}
	for range levelSteps {
		value, slope, precision := s.local(out.center, places, prior)
		if precision == nil {
			return nil
		}
		var c, root mat.Cholesky
		var step mat.VecDense
		push, covariance := mat.NewVecDense(n-1, pick(slope, free)), mat.NewSymDense(n-1, nil)
		if !c.Factorize(submatrix(precision, free)) || c.SolveVecTo(&step, push) != nil || c.InverseTo(covariance) != nil || !root.Factorize(covariance) {
			return nil
		}
		square := mat.Dot(&step, push)
		out.log = value + (square-c.LogDet())/2
		out.root = mat.NewTriDense(n-1, mat.Lower, nil)
		root.LTo(out.root)
		step.ScaleVec(min(1, longStep/math.Sqrt(square)), &step)
		addStep(out.center, free, &step)
		if square < nearStep*nearStep {
			break
		}
	}
	return out
}

// local is the log posterior density at theta (P), but for a constant, its gradient and its negative
// Hessian, nil where one is not finite.
func (s levelSearch) local(theta []float64, places [][]place, prior *models.PriorDensity) (value float64, slope []float64, precision *mat.SymDense) {
	n, sums := len(theta), s.releases.Gradients
	total := min(max(s.records, slopeRecords), 3*slopeRecords)
	x := s.momentsAt(func(int) []float64 { return theta }, effects{origin: theta}, places, s.records, total)
	off := make([]float64, n)
	simd.MulScalar(off, sums.LikelihoodSlope, 1/sums.Totals[0])
	simd.Sub(off, off, x.mean)
	variance := x.noisy(sums.noiseVariance())
	slope, precision, _ = normalEquations(x, variance, off)
	likelihood := logNormal(off, variance)
	if precision == nil || math.IsInf(likelihood, -1) {
		return 0, nil, nil
	}
	ofPrior := make([]float64, n)
	value = prior.Density(ofPrior, theta) + likelihood
	simd.Add(slope, slope, ofPrior)
	sd := make([]float64, n)
	for j := range sd {
		sd[j] = math.Log(s.covariance.At(j, j)) / 2
	}
	precision.AddSym(precision, priorInformation(prior, &Posterior{Mean: theta, LogSD: sd}, allBut(n, -1)))
	return value, slope, precision
}

// allBut lists the coordinates below n without one of them.
func allBut(n, but int) (list []int) {
	for j := range n {
		if j != but {
			list = append(list, j)
		}
	}
	return list
}

// onGrid has the density of the level on a grid, by Akima's spline, which few simulated records with
// the rare outcome do not bend far; nil where there are too few levels.
func (l *levels) onGrid() *levels {
	const points, fewest = 1000, 5
	var at, logs []float64
	for _, x := range l.list {
		at, logs = append(at, x.level), append(logs, x.log)
	}
	var spline interp.AkimaSpline
	if len(at) < fewest || !passes(&spline, at, logs) {
		return nil
	}
	l.grid, l.density = atMiddles(&spline, at, points)
	return l
}

// evidence is the log of the integral of the density.
func (l *levels) evidence() float64 {
	top, sum := slices.Max(l.density), 0.0
	for _, x := range l.density {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum*(l.grid[1]-l.grid[0]))
}

// set gives a draw theta (P) another level, and moves the others as their posterior beside it has
// moved and widened since the mean.
func (l *levels) set(theta []float64, level float64) {
	n := len(theta)
	free := allBut(n, l.at)
	rest := mat.NewVecDense(n-1, nil) // beside what the level explains
	for i, j := range free {
		byLevel := l.covariance.At(j, l.at) / l.covariance.At(l.at, l.at)
		rest.SetVec(i, theta[j]-l.mean[j]-byLevel*(theta[l.at]-l.mean[l.at]))
	}
	var z, low, high mat.VecDense
	if z.SolveVec(l.first.root, rest) != nil {
		return
	}
	k, _ := slices.BinarySearchFunc(l.list, level, func(a atLevel, x float64) int { return cmp.Compare(a.level, x) })
	k = max(1, min(k, len(l.list)-1))
	below, above := l.list[k-1], l.list[k]
	share := (level - below.level) / (above.level - below.level)
	low.MulVec(below.root, &z)
	high.MulVec(above.root, &z)
	theta[l.at] = level
	for i, j := range free {
		theta[j] = (1-share)*(below.center[j]+low.AtVec(i)) + share*(above.center[j]+high.AtVec(i))
	}
}
