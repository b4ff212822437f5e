package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/stats"
)

// scale is a coordinate log sd whose parameter multiplies effects: the likelihood
// depends on the products z·sd only. Raising log sd by t and multiplying every
// effect by e⁻ᵗ leaves it unchanged.
type scale struct {
	at      int   // of log sd
	effects []int // of z
}

// minInformation, in units of the prior's, stands for an effect without information.
const minInformation = 1e-6

// scaleTolerance is the relative residual at which a gradient counts as a
// combination of others.
const scaleTolerance = 1e-6

// findScales lists the scales of m by the scores q at theta (P): the gradient of
// log sd is Σ z_j times that of z_j, over the effects of one parameter that have its
// labels in the dims that both parameters have.
func findScales(m *models.Model, q scores, theta []float64) []scale {
	var list []scale
	for i := range m.Params {
		sd := &m.Params[i]
		if isReal(sd) {
			continue
		}
		for k := range sd.Size {
			for j := range m.Params {
				if z := &m.Params[j]; isReal(z) {
					if effects := effectsOfElement(sd, k, z); len(effects) > 1 && q.scales(theta, sd.Offset+k, effects) {
						list = append(list, scale{sd.Offset + k, effects})
					}
				}
			}
		}
	}
	return list
}

// effectsOfElement lists the coordinates of z that have the labels of element k of sd.
func effectsOfElement(sd *models.Param, k int, z *models.Param) []int {
	want := indices(sd, k)
	var list []int
	for j := range z.Size {
		same := true
		for dim, i := range indices(z, j) {
			if other, shared := want[dim]; shared && other != i {
				same = false
			}
		}
		if same {
			list = append(list, z.Offset+j)
		}
	}
	return list
}

// indices are the places of element k of p in its dims.
func indices(p *models.Param, k int) map[string]int {
	out := make(map[string]int, len(p.Dims))
	for d := len(p.Dims) - 1; d >= 0; d-- {
		n := len(p.Dims[d].Labels)
		out[p.Dims[d].Name] = k % n
		k /= n
	}
	return out
}

// scales reports whether the gradient of the coordinate at is Σ z_j times those of the effects.
func (q scores) scales(theta []float64, at int, effects []int) bool {
	left, square := 0.0, 0.0
	for r := range q.records {
		row := q.row(r)
		x := row[at]
		square += x * x
		for _, j := range effects {
			x -= theta[j] * row[j]
		}
		left += x * x
	}
	return square > 0 && left <= scaleTolerance*scaleTolerance*square
}

// effectsOf marks the coordinates, of latent ones, that some scale multiplies.
func effectsOf(scales []scale, latent int) []bool {
	list := make([]bool, latent)
	for _, s := range scales {
		for _, j := range s.effects {
			list[j] = true
		}
	}
	return list
}

// scaleEstimate is the posterior of a scale: log sd has the variance exact without
// the privacy noise and total with it. One unit of log sd moves effects[i] by
// slope[i].
type scaleEstimate struct {
	scale
	slope        []float64
	exact, total float64
}

// estimate moves a scale to its posterior mean, and its effects with it. In units
// of the sd at which they were fitted, the released gradients measure effect j as
// ζ_j = θ̄_j + ḡ_j/h_j with variance 1/k_j, k_j = h²/((1 + k)h + v̄). So log sd = l + t has
// the posterior
//
//	p(t) ∝ prior(l + t) Π_j N(ζ_j; 0, e²ᵗ + 1/k_j),
//
// which is integrated on a grid, and over the offsets o that the effects share, with which the
// other coordinates move. A mean-field fit has neither its mean, since it holds the effects fixed
// while sd moves, nor its width. The information h and its variance v, both (P), are brought to
// the new unit.
func (s scale) estimate(post *Posterior, prior *models.PriorDensity, c *curvature, h, v []float64, o offsets) scaleEstimate {
	precision, exactly := make([]float64, len(s.effects)), make([]float64, len(s.effects))
	measured := make([]float64, len(s.effects))
	for i, j := range s.effects {
		exactly[i] = math.Max(h[j], minInformation)
		precision[i] = exactly[i] * exactly[i] / (exactly[i]*c.sampling(j) + c.noiseVariance())
		measured[i] = (c.Place[j]+c.LikelihoodSlope[j]/exactly[i])/c.Totals[0] - post.Mean[j]
	}
	o.removeShared(measured, precision)
	for i, j := range s.effects {
		measured[i] += post.Mean[j]
	}
	theta := slices.Clone(post.Mean)
	logPrior := func(t float64) float64 {
		theta[s.at] = post.Mean[s.at] + t
		return prior.LogDensity(theta)
	}
	turned := o.rotate(measured, precision)
	t, total := integrate(func(t float64) float64 { return logPrior(t) + logMarginal(t, turned.value, turned.known) })
	out := scaleEstimate{scale: s, total: total}
	// the variance if the same effects were measured without the noise
	known := o.rotate(measured, exactly).known
	_, out.exact = integrate(func(u float64) float64 { return logPrior(u) + expectedMarginal(u, t, known) })
	out.exact = math.Min(out.exact, total)
	post.Mean[s.at] += t
	unit, effects := math.Exp(t), turned.shrunk(t)
	o.settle(post.Mean, effects, t, c.floor)
	for i, j := range s.effects {
		reliability := unit * unit / (unit*unit + 1/precision[i])
		post.Mean[j] = effects[i] / unit
		out.slope = append(out.slope, post.Mean[j]*(1-2*reliability))
		h[j] *= unit * unit
		v[j] *= unit * unit * unit * unit
	}
	return out
}

// logMarginal is log Π_j N(ζ_j; 0, e²ᵗ + 1/k_j).
func logMarginal(t float64, zeta, k []float64) float64 {
	sum := 0.0
	for j, z := range zeta {
		variance := math.Exp(2*t) + 1/k[j]
		sum -= (math.Log(variance) + z*z/variance) / 2
	}
	return sum
}

// expectedMarginal is the mean of logMarginal(u) when the effects have sd e^t.
func expectedMarginal(u, t float64, k []float64) float64 {
	sum := 0.0
	for _, k := range k {
		variance := math.Exp(2*u) + 1/k
		sum -= (math.Log(variance) + (math.Exp(2*t)+1/k)/variance) / 2
	}
	return sum
}

// integrate is the mean and the variance of the density ∝ exp(f(t)) on [−6, 6].
func integrate(f func(t float64) float64) (mean, variance float64) {
	const half, width = 300, 0.02
	var at, value [2*half + 1]float64
	for i := range value {
		at[i] = width * float64(i-half)
		if value[i] = f(at[i]); math.IsNaN(value[i]) {
			value[i] = math.Inf(-1) // overflow
		}
	}
	return stats.GridMoments(at[:], value[:])
}

// widen adds the scale's variance to the covariances of guide and noise.
func (s scaleEstimate) widen(ofGuide, ofNoise *mat.SymDense) {
	direction := mat.NewVecDense(ofGuide.SymmetricDim(), nil)
	direction.SetVec(s.at, 1)
	for i, j := range s.effects {
		direction.SetVec(j, s.slope[i])
	}
	ofGuide.SetSym(s.at, s.at, 0)
	ofNoise.SetSym(s.at, s.at, 0)
	ofGuide.SymRankOne(ofGuide, s.exact, direction)
	ofNoise.SymRankOne(ofNoise, s.total-s.exact, direction)
}

// effects are the coordinates φ in which the likelihood is nearly linear: φ is θ but
// for the effects of a scale. The likelihood depends on their products with the scale,
// so their φ is that product, in units of the scale at an origin, and the φ of the
// scale is constant.
type effects struct {
	scales []scale
	origin []float64 // P
}

// factor is the scale s at theta in units of that at the origin.
func (e effects) factor(s scale, theta []float64) float64 {
	return math.Exp(theta[s.at] - e.origin[s.at])
}

// phi sets dst (P) to φ at theta.
func (e effects) phi(dst, theta []float64) {
	copy(dst, theta)
	for _, s := range e.scales {
		factor := e.factor(s, theta)
		dst[s.at] = e.origin[s.at]
		for _, j := range s.effects {
			dst[j] *= factor
		}
	}
}

// pull turns a gradient in θ at theta, of a function of φ, into that in φ.
func (e effects) pull(gradient, theta []float64) {
	for _, s := range e.scales {
		factor := e.factor(s, theta)
		gradient[s.at] = 0
		for _, j := range s.effects {
			gradient[j] /= factor
		}
	}
}

// push is the reverse of pull at φ.
func (e effects) push(gradient, theta, phi []float64) {
	for _, s := range e.scales {
		factor := e.factor(s, theta)
		gradient[s.at] = 0
		for _, j := range s.effects {
			gradient[s.at] += gradient[j] * phi[j]
			gradient[j] *= factor
		}
	}
}

// widening has what turns the information among the free parameters into covariances that
// contain what is not known of the scales.
type widening struct {
	free   []int // coordinates
	scales []scaleEstimate
	prior  *mat.SymDense
	releasedMeans
	ratio         []float64     // of noisyInformation
	noise         float64       // v̄
	designEffects designEffects // of the free coordinates
	stays         bool          // the mean stays where the fit has it, see mayMove
}

// covariances are those without the noise, (Λ + H)⁻¹ of the likelihood's information where rows are
// independent, and (Λ + K)⁻¹ of that which is trusted, as means over the scales' posteriors. Beside effects with a larger sd the
// intercept is known less well, and the coefficient of a column that is constant within
// groups.
func (w widening) covariances(likelihood, trusted *mat.SymDense) (exact, total *mat.SymDense) {
	exact = w.mean(likelihood, func(s scaleEstimate) float64 { return s.exact }, func(h *mat.SymDense) *mat.SymDense {
		if w.designEffects != nil {
			h = noisyInformation(h, w.designEffects, nearlyNone*w.noise)
		}
		return inverse(h, w.prior)
	})
	total = w.mean(trusted, func(s scaleEstimate) float64 { return s.total }, func(h *mat.SymDense) *mat.SymDense {
		return inverse(noisyInformation(h, w.ratio, w.noise), w.prior)
	})
	return exact, total
}

// mean is the mean of covariance(h) where the logs of the scales have these variances, by
// the three nodes of Gauss and Hermite; nil where a covariance is.
func (w widening) mean(h *mat.SymDense, variance func(scaleEstimate) float64, covariance func(h *mat.SymDense) *mat.SymDense) *mat.SymDense {
	sum := mat.NewSymDense(len(w.free), nil)
	for _, n := range w.nodes(variance) {
		at := covariance(n.scaled(h))
		if at == nil {
			return nil
		}
		at.ScaleSym(n.weight, at)
		sum.AddSym(sum, at)
	}
	return sum
}

// node is a place of the scales, with its weight: one unit of a free coordinate there is unit at the estimates.
type node struct {
	weight float64
	unit   []float64
}

// nodes are those of Gauss and Hermite for logs of the scales with these variances: one where there is no scale, else three.
func (w widening) nodes(variance func(scaleEstimate) float64) []node {
	same := slices.Repeat([]float64{1}, len(w.free))
	if len(w.scales) == 0 {
		return []node{{1, same}}
	}
	list := []node{{2.0 / 3, same}}
	for _, reach := range []float64{-math.Sqrt(3), math.Sqrt(3)} {
		n := node{1.0 / 6, slices.Clone(same)}
		for _, s := range w.scales {
			for _, k := range s.effects {
				if i := slices.Index(w.free, k); i >= 0 {
					n.unit[i] = math.Exp(reach * math.Sqrt(variance(s)))
				}
			}
		}
		list = append(list, n)
	}
	return list
}

// scaled is the information h at the node.
func (n node) scaled(h *mat.SymDense) *mat.SymDense {
	out := mat.NewSymDense(len(n.unit), nil)
	for i, x := range n.unit {
		for j, y := range n.unit[:i+1] {
			out.SetSym(i, j, x*h.At(i, j)*y)
		}
	}
	return out
}
