package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/privacy/noise"
	"d3p/internal/stats"
)

// drawnRecords are records of a regression by a belief: x of the law, and residuals x·(γ −
// γ̂) + e, which are normal given x. Each record counts twice, with both signs of its
// residual.
type drawnRecords struct {
	*regression
	center []float64 // γ̂ (K)
	// sd is the standard deviation of the residual, length the norm of the gradient in φ
	// per unit of residual: |xᵀBase|.
	sd, length []float64
	normal     []float64 // the middles of parts of a normal
	// uncertainty is the root of the mean variance of the coefficients in φ.
	uncertainty float64
}

// simulate draws the records of a belief.
func (r *regression) simulate(by normalApproximation) *drawnRecords {
	k := len(r.Places)
	n := len(r.Rows) / k
	s := &drawnRecords{regression: r, center: make([]float64, k), sd: make([]float64, n), length: make([]float64, n), normal: shuffledNormals(n, r.plan.Random(7))}
	variance := math.Exp(2 * r.at(s.center, by.mode))
	ofPhi, half, ofGamma, square := mat.NewDense(k, k, nil), mat.NewDense(k, k, nil), mat.NewDense(k, k, nil), mat.NewDense(k, k, nil)
	for i, a := range r.Places {
		for j, b := range r.Places {
			ofPhi.Set(i, j, by.covariance.At(a, b))
		}
		s.uncertainty += by.covariance.At(a, a) / float64(k)
	}
	s.uncertainty = math.Sqrt(s.uncertainty)
	half.Mul(r.Base, ofPhi)
	ofGamma.Mul(half, r.Base.T())
	square.Mul(r.Base, r.Base.T())
	for i := range n {
		x := r.Rows[i*k : (i+1)*k]
		s.sd[i], s.length[i] = math.Sqrt(variance+quadratic(ofGamma, x)), math.Sqrt(quadratic(square, x))
	}
	return s
}

// quadratic is xᵀAx for a symmetric A.
func quadratic(a *mat.Dense, x []float64) float64 {
	sum := 0.0
	for i, v := range x {
		row := a.RawRowView(i)
		one := row[i] * v
		for j := range i {
			one += 2 * row[j] * x[j]
		}
		sum += one * v
	}
	return sum
}

// shuffledNormals are the middles of n parts of a normal, in random order. Means over them
// have less error than means over draws.
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

// gradients are the gradients of drawn records at γ and s. Record i has the norm norms[2i]
// with one sign of its residual and norms[2i+1] with the other.
type gradients struct {
	*drawnRecords
	residual []float64 // (2n)
	variance float64   // s²
	norms    []float64 // (2n)
	ofSlope  []float64 // (K) mean gradient in φ of the coefficients
	ofSquare float64   // mean derivative in log s
}

func (s *drawnRecords) gradients(gamma []float64, variance float64) *gradients {
	n, k := len(s.sd), len(gamma)
	g := &gradients{drawnRecords: s, residual: make([]float64, 2*n), variance: variance, norms: make([]float64, 2*n)}
	for i, sd := range s.sd {
		mean := 0.0
		for j, x := range s.Rows[i*k : (i+1)*k] {
			mean += x * (s.center[j] - gamma[j])
		}
		for sign := range 2 {
			e := mean + sd*s.normal[i]*float64(1-2*sign)
			g.residual[2*i+sign] = e
			g.norms[2*i+sign] = math.Hypot(s.length[i]*e, e*e-variance) / variance
		}
	}
	all := g.clip(math.Inf(1))
	g.ofSlope, g.ofSquare = all.ofSlope, all.ofSquare
	return g
}

// clipped has the means of gradients after clipping with one norm.
type clipped struct {
	ofSlope  []float64 // (K) and ofSquare: their means
	ofSquare float64
	// slope and square are their parts in the derivatives of the means in the coefficients
	// and in log s.
	slope, square float64
	kept, lost    float64 // means of the squared norm after clipping, and of the squared norm cut off
}

func (g *gradients) clip(norm float64) clipped {
	k := len(g.center)
	out, ofX := clipped{ofSlope: make([]float64, k)}, make([]float64, k)
	slope, square, slopes, squares := 0.0, 0.0, 0.0, 0.0
	for i, sd := range g.sd {
		sum := 0.0
		for sign := range 2 {
			at := 2*i + sign
			f, e := 1.0, g.residual[at]
			if g.norms[at] > norm {
				f = norm / g.norms[at]
			}
			z := g.normal[i] * float64(1-2*sign)
			one, of := e*sd*z*g.length[i]*g.length[i], (e*e/g.variance-1)*(z*z-1)
			slope, slopes = slope+f*one, slopes+one
			square, squares = square+f*of, squares+of
			out.ofSquare += f * (e*e/g.variance - 1)
			out.kept += f * f * g.norms[at] * g.norms[at]
			out.lost += (1 - f) * g.norms[at]
			sum += f * e
		}
		for j, x := range g.Rows[i*k : (i+1)*k] {
			ofX[j] += sum * x
		}
	}
	n := float64(len(g.norms))
	out.slope, out.square = slope/slopes, square/squares
	out.ofSquare, out.kept, out.lost = out.ofSquare/n, out.kept/n, out.lost/n
	for j := range k {
		for i, x := range ofX {
			out.ofSlope[j] += g.Base.At(i, j) * x / (n * g.variance)
		}
	}
	return out
}

// unknownPart is the unknown share of the part cut off: the errors of all records share the
// uncertainty of the coefficients. skewedPart of it may point in one direction, because
// errors are not normal and predictors differ from the law.
const unknownPart, skewedPart = 0.3, 0.1

// clipTrials is the number of compared clip norms. Each must keep at least leastKept of the
// information.
const clipTrials, leastKept = 24, 0.05

// clipNorm is the clip norm with the least mean squared error of a step at the mode of a
// belief.
func (r *regression) clipNorm(by normalApproximation) float64 {
	place := make([]float64, len(r.Places))
	variance := math.Exp(2 * r.at(place, by.mode))
	g := r.simulate(by).gradients(place, variance)
	sorted := slices.Sorted(slices.Values(g.norms))
	multiplier := r.plan.GradientNoise * r.plan.GradientNoise / float64(r.plan.Steps)
	best, least, records := 1.0, math.Inf(1), r.Moments.Records
	for trial := range clipTrials {
		c := stats.Quantile(sorted, 0.6+0.4*float64(trial+1)/clipTrials)
		x := g.clip(c)
		bias := records * (g.ofSquare - x.ofSquare)
		skewed := skewedPart * records * x.lost
		e := (records*x.kept+bias*bias/16+skewed*skewed)/(x.slope*x.slope) +
			c*c*multiplier*(float64(len(place))/(x.slope*x.slope)+1/(x.square*x.square))
		if e < least && x.slope > leastKept && x.square > leastKept && c > plan.MinClipNorm && c < plan.MaxClipNorm {
			best, least = c, e
		}
	}
	return best
}
