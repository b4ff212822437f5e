package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/sufficient"
)

// normalApproximation is a normal approximation of the posterior of φ.
type normalApproximation struct {
	mode       []float64
	covariance *mat.SymDense
}

func (s regressionStep) belief() normalApproximation {
	return normalApproximation{s.Theta, mat.NewSymDense(len(s.Theta), slices.Clone(s.Covariance))}
}

// near reports whether the mode of x is less than part standard deviations away from that
// of b.
func (b normalApproximation) near(x normalApproximation, part float64) bool {
	for j, v := range x.mode {
		if !(math.Abs(v-b.mode[j]) < part*math.Sqrt(b.covariance.At(j, j))) {
			return false
		}
	}
	return true
}

// candidate is a mode of the posterior. The effect of clipping on the steps depends on the
// truth, so each mode has its own posterior, by the belief at the mode.
type candidate struct {
	*regression
	normalApproximation
	score float64 // log probability of the mode's surroundings, up to a constant
}

// believe returns the candidates for the posterior of φ given the plan's moments and steps,
// the most probable first.
func believe(p *plan.Plan, steps []regressionStep) []candidate {
	before := normalApproximation{mode: make([]float64, p.Latent)}
	if len(steps) > 0 {
		before = steps[len(steps)-1].belief()
	}
	bare := newRegression(p, nil, normalApproximation{})
	first := bare
	if len(steps) > 0 {
		first = newRegression(p, steps, before)
	}
	var list []candidate
	var seen []normalApproximation
	for _, start := range first.starts(before.mode) {
		at, ok := first.climb(start)
		if !ok || slices.ContainsFunc(seen, func(x normalApproximation) bool { return x.near(at, 0.5) }) {
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
	if len(list) == 0 { // no start has a density
		unit := mat.NewSymDense(p.Latent, nil)
		for j := range p.Latent {
			unit.SetSym(j, j, 1)
		}
		list = []candidate{{first, normalApproximation{before.mode, unit}, 0}}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		if a.score > b.score {
			return -1
		}
		return 1
	})
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
func (r *regression) climb(start []float64) (by normalApproximation, ok bool) {
	mode, covariance := sufficient.Mode(r.density, start)
	var c mat.Cholesky
	value := r.density(make([]float64, len(start)), mode)
	return normalApproximation{mode, covariance}, value-value == 0 && c.Factorize(covariance)
}

// leastError is a relative error of the law's predictions of gradients, beside that of S.
const leastError = 0.05

// score is the log probability around a mode, from prior, moments and steps. The law's
// records predict the steps' clipped gradients at the mode.
func (r *regression) score(by normalApproximation, steps []regressionStep) float64 {
	var c mat.Cholesky
	c.Factorize(by.covariance)
	score := r.density(make([]float64, len(by.mode)), by.mode) + c.LogDet()/2
	if len(steps) == 0 {
		return score
	}
	records := r.simulate(normalApproximation{by.mode, mat.NewSymDense(len(by.mode), nil)})
	place, n := make([]float64, len(r.Places)), r.Moments.Records
	for _, s := range steps {
		logS := r.at(place, s.Theta)
		x := records.gradients(place, math.Exp(2*logS)).clip(s.ClipNorm)
		noise := r.plan.GradientNoise * s.ClipNorm
		variance := noise*noise + n*x.kept/float64(len(place)+1)
		square := 0.0
		for _, v := range append(x.ofSlope, x.ofSquare) {
			square += v * v
		}
		variance += square * (r.Moments.Noise*r.Moments.Noise + math.Pow(leastError*n, 2))
		miss := func(sum, mean float64) {
			score -= math.Pow(sum-n*mean, 2)/(2*variance) + math.Log(variance)/2
		}
		for j, place := range r.Places {
			miss(s.Sum[place], x.ofSlope[j])
		}
		miss(s.Sum[r.Sigma], x.ofSquare)
	}
	return score
}

// shared are n candidates, each as often as its weight demands.
func shared(list []candidate, n int) []candidate {
	total, weights := 0.0, make([]float64, len(list))
	for i, x := range list {
		weights[i] = math.Exp(x.score - list[0].score)
		total += weights[i]
	}
	out, sum, i := make([]candidate, n), weights[0], 0
	for c := range out {
		for sum < (float64(c)+0.5)/float64(n)*total && i+1 < len(list) {
			i++
			sum += weights[i]
		}
		out[c] = list[i]
	}
	return out
}
