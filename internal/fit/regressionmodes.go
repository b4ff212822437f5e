package fit

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/stats"
	"d3p/internal/sufficient"
)

// belief is a normal approximation of the posterior of φ, where errors have a shape.
type belief struct {
	mode       []float64
	covariance *mat.SymDense
	shape      int // of the errors, in stats.Shapes
}

func (s regressionStep) belief() belief {
	return belief{mode: s.Theta, covariance: mat.NewSymDense(len(s.Theta), slices.Clone(s.Covariance))}
}

// near reports whether the mode of x is less than part standard deviations away from that
// of b.
func (b belief) near(x belief, part float64) bool {
	for j, v := range x.mode {
		if !(math.Abs(v-b.mode[j]) < part*math.Sqrt(b.covariance.At(j, j))) {
			return false
		}
	}
	return true
}

// candidate is a mode of the posterior with errors of one shape. The effect of clipping on the
// steps depends on the truth, so each has its own posterior, by the belief at the mode.
type candidate struct {
	*regression
	belief
	score float64 // log probability of the mode's surroundings, up to a constant
}

// believe returns the candidates for the posterior of φ given the plan's moments and steps,
// the most probable first.
func believe(p *plan.Plan, steps []regressionStep) []candidate {
	before := belief{mode: make([]float64, p.Latent)}
	if len(steps) > 0 {
		before = steps[len(steps)-1].belief()
	}
	list := candidates(p, steps, before)
	if len(list) == 0 { // no start has a density
		unit := mat.NewSymDense(p.Latent, nil)
		for j := range p.Latent {
			unit.SetSym(j, j, 1)
		}
		return []candidate{{newRegression(p, steps, before), belief{mode: before.mode, covariance: unit}, 0}}
	}
	by := list[0].belief
	for by.shape = 1; by.shape < len(stats.Shapes); by.shape++ {
		list = append(list, candidates(p, steps, by)...)
	}
	slices.SortStableFunc(list, byScore)
	return list
}

func byScore(a, b candidate) int { return cmp.Compare(b.score, a.score) }

// candidates are those of the shape of before, the most probable first: its modes from several
// starts, of other errors than normal ones that from before.
func candidates(p *plan.Plan, steps []regressionStep, before belief) (list []candidate) {
	bare := newRegression(p, nil, belief{shape: before.shape})
	first := bare
	if len(steps) > 0 {
		first = newRegression(p, steps, before)
	}
	var seen []belief
	starts := [][]float64{before.mode}
	if before.shape == 0 {
		starts = first.starts(before.mode)
	}
	for _, start := range starts {
		at, ok := first.climb(start)
		if !ok || slices.ContainsFunc(seen, func(x belief) bool { return x.near(at, 0.5) }) {
			continue
		}
		seen = append(seen, at)
		r := first
		for range beliefRounds {
			if len(steps) == 0 {
				break
			}
			r = newRegression(p, steps, at)
			next, ok := r.climb(at.mode)
			if !ok {
				break
			}
			arrived := next.near(at, 0.1)
			if at = next; arrived {
				break
			}
		}
		if slices.ContainsFunc(list, func(x candidate) bool { return x.near(at, 0.5) }) {
			continue
		}
		list = append(list, candidate{r, at, bare.score(at, steps)})
	}
	slices.SortStableFunc(list, byScore)
	return list
}

// beliefRounds is the largest number of rounds of a belief.
const beliefRounds = 4

// starts are start and the regression of the releases with errors of several sizes. A wrong
// mode explains small errors by large ones.
func (r *regression) starts(start []float64) [][]float64 {
	starts, phi := [][]float64{start}, mat.NewVecDense(len(r.Places), nil)
	phi.MulVec(r.Inverse, mat.NewVecDense(len(r.Places), r.likelihood.Solved()))
	for _, logS := range []float64{0, -1, -2.5, -4} {
		x := slices.Clone(start)
		for j, place := range r.Places {
			x[place] = phi.AtVec(j)
		}
		x[r.Sigma] = start[r.Sigma] + logS
		starts = append(starts, x)
	}
	return starts
}

// climb is the mode that Newton steps reach from start.
func (r *regression) climb(start []float64) (by belief, ok bool) {
	mode, covariance := sufficient.Mode(r.density, start)
	var c mat.Cholesky
	value := r.density(make([]float64, len(start)), mode)
	return belief{mode, covariance, r.by.shape}, value-value == 0 && c.Factorize(covariance)
}

// leastError is a relative error of the law's predictions of gradients, beside that of S.
const leastError = 0.15

// score is the log probability around a mode, from prior, moments and steps. The law's
// records predict the steps' clipped gradients at the mode.
func (r *regression) score(by belief, steps []regressionStep) float64 {
	var c mat.Cholesky
	c.Factorize(by.covariance)
	score := math.Log(stats.Shapes[by.shape].Prior) + r.density(make([]float64, len(by.mode)), by.mode) + c.LogDet()/2
	return score + r.misses(by, steps)
}

// misses is the log density of what the steps' sums miss by the predictions of a belief.
func (r *regression) misses(by belief, steps []regressionStep) float64 {
	if len(steps) == 0 {
		return 0
	}
	squares, logDet := r.missedSquares(by, steps)
	return -floats.Sum(squares)/2 - float64(len(squares))*logDet/2
}

// missedSquares are, of each coefficient in φ and last of log s, the sum of squares of what the steps'
// sums miss, by its covariance: of a right belief chi-squared, with a degree of freedom a step. All
// have that covariance, whose log determinant is logDet; without one squares have no limit.
func (r *regression) missedSquares(by belief, steps []regressionStep) (squares []float64, logDet float64) {
	records := r.simulate(belief{by.mode, mat.NewSymDense(len(by.mode), nil), by.shape})
	place, n := make([]float64, len(r.Places)), r.moments.Records
	sums := mat.NewDense(len(steps), len(place)+1, nil) // beside their predictions
	noise, sampling, size := make([]float64, len(steps)), make([]float64, len(steps)), make([]float64, len(steps))
	for t, s := range steps {
		logS := r.at(place, s.Theta)
		x := records.gradients(place, math.Exp(2*logS)).clip(s.ClipNorm)
		for j, place := range r.Places {
			sums.Set(t, j, s.Sum[place]-n*x.ofSlope[j])
		}
		sums.Set(t, len(place), s.Sum[r.Sigma]-n*x.ofSquare)
		noise[t], sampling[t] = r.plan.GradientNoise*s.ClipNorm, math.Sqrt(n*x.kept/float64(len(place)+1))
		size[t] = floats.Norm(append(x.ofSlope, x.ofSquare), 2) * math.Hypot(r.moments.Noise, leastError*n)
	}
	// Steps share the records, and errors of the law as far as their norms are alike.
	shared := mat.NewSymDense(len(steps), nil)
	for t, s := range steps {
		for u, x := range steps[:t+1] {
			alike := min(s.ClipNorm, x.ClipNorm) / max(s.ClipNorm, x.ClipNorm)
			shared.SetSym(t, u, sampling[t]*sampling[u]+alike*size[t]*size[u])
		}
		shared.SetSym(t, t, shared.At(t, t)+noise[t]*noise[t])
	}
	var c mat.Cholesky
	var solved mat.Dense
	if !c.Factorize(shared) || c.SolveTo(&solved, sums) != nil {
		return slices.Repeat([]float64{math.MaxFloat64}, len(place)+1), 0
	}
	solved.MulElem(&solved, sums)
	for j := range len(place) + 1 {
		squares = append(squares, mat.Sum(solved.ColView(j)))
	}
	return squares, c.LogDet()
}

// longTails is the probability that errors have longer tails than the normal's.
func longTails(list []candidate) (sum float64) {
	for i, weight := range weights(list) {
		if stats.Shapes[list[i].by.shape].Long() {
			sum += weight
		}
	}
	return sum
}

// weights are the probabilities of candidates, the most probable first. Where none explains the
// steps, as of squares without a limit, it is the first.
func weights(list []candidate) []float64 {
	total, weights := 0.0, make([]float64, len(list))
	for i, x := range list {
		weights[i] = math.Exp(x.score - list[0].score)
		if math.IsNaN(weights[i]) {
			weights[i] = 0
			if i == 0 {
				weights[i] = 1
			}
		}
		total += weights[i]
	}
	floats.Scale(1/total, weights)
	return weights
}
