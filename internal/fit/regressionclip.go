package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/simd"
)

// drawnRecords are records of a regression by a belief: x of the law, and residuals x·(γ −
// γ̂) + e of the belief's shape. Each record counts twice, with a residual of a normal and one
// of its negative.
type drawnRecords struct {
	*regression
	center []float64 // γ̂ (K)
	// sd is the standard deviation of the residual, length the norm of the gradient in φ
	// per unit of residual: |xᵀBase|.
	sd, length []float64
	plan.ShapeErrors
	// uncertainty is the root of the mean variance of the coefficients in φ.
	uncertainty float64
}

// simulate draws the records of a belief.
func (r *regression) simulate(by belief) *drawnRecords {
	k := len(r.Places)
	n := len(r.Rows) / k
	s := &drawnRecords{regression: r, center: make([]float64, k), sd: make([]float64, n), length: make([]float64, n), ShapeErrors: r.Errors[by.shape]}
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

// gradients are the gradients of drawn records at γ and s. Record i has the norms norms[2i]
// and norms[2i+1] with its two residuals.
type gradients struct {
	*drawnRecords
	residual, norms []float64 // (2n)
	variance        float64   // s²
	sums            clippedSums
	whole           clipped
}

// clippedSums are sums over gradients, of factors f of clipping.
type clippedSums struct {
	ofX    []float64 // (K) Σfxe
	square float64   // Σfh, h = e²/s² − 1
	// derivatives of the sums in the coefficients and in log s, by their scores
	bySlope, bySquare float64
	slopes, squares   [3]float64 // Σg² of f to the powers 0, 1 and 2: of slopes and of h
	norms             float64    // Σf²|g|²
}

// add adds record i's part with residual at, to the power 0, 1 and 2 of f.
func (s *clippedSums) add(g *gradients, i, at int, f [3]float64) {
	e := g.residual[at]
	h, ofSlope := e*e/g.variance-1, e*g.length[i]/g.variance
	k := len(s.ofX)
	simd.Axpy(s.ofX, f[1]*e, g.Rows[i*k:(i+1)*k])
	s.square += f[1] * h
	s.bySlope += f[1] * e * g.sd[i] * g.Score[at] * g.length[i] * g.length[i]
	s.bySquare += f[1] * h * (g.Error[at]*g.Score[at] - 1)
	for power, f := range f {
		s.slopes[power] += f * ofSlope * ofSlope
		s.squares[power] += f * h * h
	}
	s.norms += f[2] * g.norms[at] * g.norms[at]
}

func (s *drawnRecords) gradients(gamma []float64, variance float64) *gradients {
	n, k := len(s.sd), len(gamma)
	g := &gradients{drawnRecords: s, residual: make([]float64, 2*n), norms: make([]float64, 2*n), variance: variance}
	g.sums.ofX = make([]float64, k)
	for i, sd := range s.sd {
		mean := 0.0
		for j, x := range s.Rows[i*k : (i+1)*k] {
			mean += x * (s.center[j] - gamma[j])
		}
		for at := 2 * i; at < 2*i+2; at++ {
			e := mean + sd*s.Error[at]
			slope, square := s.length[i]*e, e*e-variance
			g.residual[at], g.norms[at] = e, math.Sqrt(slope*slope+square*square)/variance
			g.sums.add(g, i, at, [3]float64{1, 1, 1})
		}
	}
	g.whole = g.clip(math.Inf(1))
	return g
}

// clipped has the means of gradients after clipping with one norm.
type clipped struct {
	ofSlope  []float64 // (K) and ofSquare: their means, in φ of the coefficients and in log s
	ofSquare float64
	// slope and square are their parts in the derivatives of the means in the coefficients
	// and in log s.
	slope, square float64
	// missSlope and missSquare are the variances, by record, of what sums of clipped gradients
	// over these parts tell wrongly of sums of whole ones: of a coefficient in φ and of log s.
	missSlope, missSquare float64
	// lostSlope and lostSquare are the mean sizes of what is cut off of a coefficient's and of
	// log s's derivative, kept is the mean squared norm after clipping.
	lostSlope, lostSquare, kept float64
}

func (g *gradients) clip(norm float64) clipped {
	k := len(g.center)
	sums, out := g.sums, clipped{ofSlope: make([]float64, k)}
	sums.ofX = slices.Clone(sums.ofX)
	for at, x := range g.norms {
		if x > norm {
			i, f := at/2, norm/x
			sums.add(g, i, at, [3]float64{0, f - 1, f*f - 1})
			out.lostSlope += (1 - f) * math.Abs(g.residual[at]) * g.length[i]
			out.lostSquare += (1 - f) * math.Abs(g.residual[at]*g.residual[at]/g.variance-1)
		}
	}
	n := float64(len(g.norms))
	out.slope, out.square = sums.bySlope/g.sums.bySlope, sums.bySquare/g.sums.bySquare
	out.ofSquare, out.kept = sums.square/n, sums.norms/n
	out.lostSlope, out.lostSquare = out.lostSlope/(n*g.variance*math.Sqrt(float64(k))), out.lostSquare/n
	out.missSlope = missed(sums.slopes, out.slope) / (n * float64(k))
	off := g.sums.square/n - out.ofSquare/out.square
	out.missSquare = missed(sums.squares, out.square)/n - off*off
	for j := range k {
		for i, x := range sums.ofX {
			out.ofSlope[j] += g.Base.At(i, j) * x / (n * g.variance)
		}
	}
	return out
}

// missed is Σ(g − fg/slope)².
func missed(of [3]float64, slope float64) float64 {
	return of[0] - 2*of[1]/slope + of[2]/(slope*slope)
}
