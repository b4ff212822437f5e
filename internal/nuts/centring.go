package nuts

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// centring is a change of coordinates for scales and what they scale, such as the standard
// deviation of group effects and the effects. Scale coordinates s are logarithms and stay.
// Every other coordinate θ_j of the density becomes w_j: with the change δ of s,
//
//	θ_j = m_j·Π e^{ρδ}/R(δ) + (w_j − m_j)·Π R(δ)^(−1/2),  R(δ) = a·e^{−2δ} + b + c·e^{2δ},
//
// products over scales. R is the ratio of the precision of θ_j given all others to that at
// δ = 0, and the first term is its mean: both are exact for normal effects of normal
// records, in centred (a, b) and in non-centred (b, c) models. So w_j has a constant
// precision and mean given the scales: it is centred for groups with many records,
// non-centred for those with few, and in between for others. Papaspiliopoulos, Roberts and
// Sköld 2007, Statist. Sci. 22; Gorinova, Moore and Hoffman 2020, arXiv:1906.03028.
type centring struct {
	scales  []int
	origin  []float64     // s at δ = 0, by scale
	pairs   [][]dependent // by scale
	middle  []float64     // m (D)
	density Density       // of θ

	theta, ratio, mean []float64 // (D), scratch: θ, ΠR, m·Πe^{ρδ}/R
}

// dependent is a coordinate whose precision depends on a scale.
type dependent struct {
	j            int
	a, b, c, rho float64
}

// at sets R, its logarithmic slope in δ, and e^{ρδ}.
func (d *dependent) at(delta, square float64) (ratio, slope, growth float64) {
	low, high := d.a/square, d.c*square
	ratio = low + d.b + high
	return ratio, 2 * (high - low) / ratio, math.Exp(d.rho * delta)
}

// scaleStep is the change of a scale coordinate that shows how precisions depend on it.
// Smaller parts c than leastRising and a than leastFalling are not worth a change of
// coordinates; the latter matter more, as they grow where the scale is small.
const scaleStep, leastRising, leastFalling = 1, 0.03, 0.01

// newCentring takes precisions from Hessians at theta, h there and those at changed scales.
// It is nil if no precision depends on a scale.
func newCentring(c *curvature, theta, width []float64, h *mat.SymDense, scales []int) (*centring, error) {
	p := len(theta)
	t := &centring{
		scales: scales, middle: slices.Clone(theta), density: c.density,
		theta: make([]float64, p), ratio: make([]float64, p), mean: make([]float64, p),
	}
	isScale := make([]bool, p)
	for _, s := range scales {
		isScale[s] = true
	}
	x, used, path := make([]float64, p), false, conditional(h, scales)
	var precision [2]*mat.SymDense
	gradient := [2][]float64{make([]float64, p), make([]float64, p)}
	for i, s := range scales {
		for side := range precision {
			delta := scaleStep * float64(2*side-1)
			for j := range x {
				x[j] = theta[j] + delta*path[i][j]
			}
			var err error
			if precision[side], err = c.at(x, width); err != nil {
				return nil, err
			}
			if _, err = c.density(gradient[side], x); err != nil {
				return nil, err
			}
		}
		var list []dependent
		for j := range p {
			low, middle, high := precision[0].At(j, j), h.At(j, j), precision[1].At(j, j)
			if isScale[j] || !(low > 0 && middle > 0 && high > 0) {
				continue
			}
			d, depends := newDependent(j, low/middle, high/middle)
			if !depends {
				continue
			}
			// precision times mean, in Newton's approximation: of an effect a constant, or of
			// a coordinate whose mean is a constant the precision
			step := scaleStep * path[i][j]
			if d.a > 0 && math.Abs(high*(theta[j]+step)+gradient[1][j]) < math.Abs(low*(theta[j]-step)+gradient[0][j])/math.E {
				d.rho = -2
			}
			list, used = append(list, d), true
		}
		t.origin, t.pairs = append(t.origin, theta[s]), append(t.pairs, list)
	}
	if !used {
		return nil, nil
	}
	return t, nil
}

// conditional is the change of all coordinates with each scale, of mean given that scale
// where the other scales stay, in the normal approximation of precision h.
func conditional(h *mat.SymDense, scales []int) [][]float64 {
	p := h.SymmetricDim()
	rest := make([]int, 0, p)
	for j := range p {
		if !slices.Contains(scales, j) {
			rest = append(rest, j)
		}
	}
	inner := mat.NewSymDense(len(rest), nil)
	for a, j := range rest {
		for b, k := range rest[a:] {
			inner.SetSym(a, a+b, h.At(j, k))
		}
	}
	var factor mat.Cholesky
	normal := factor.Factorize(inner)
	path := make([][]float64, len(scales))
	for i, s := range scales {
		path[i] = make([]float64, p)
		path[i][s] = 1
		across := mat.NewVecDense(len(rest), nil)
		for a, j := range rest {
			across.SetVec(a, -h.At(j, s))
		}
		if normal && factor.SolveVecTo(across, across) == nil {
			for a, j := range rest {
				path[i][j] = across.AtVec(a)
			}
		}
	}
	return path
}

// newDependent fits R to its values at −scaleStep and scaleStep, and reports whether the
// precision depends on the scale and falls, if it does, as R can.
func newDependent(j int, low, high float64) (dependent, bool) {
	const square = math.E * math.E // e^(2·scaleStep)
	if low <= high {
		c := min(1, (high-low)/(square-1/square))
		return dependent{j: j, b: 1 - c, c: c, rho: 1}, c >= leastRising
	}
	a := min(1, (1-min(high, 1))/(1-1/square))
	if a < 0.5 {
		a = min(1, max(0, low-1)/(square-1))
	}
	predicted := math.Log((a*square + 1 - a) / (a/square + 1 - a))
	return dependent{j: j, a: a, b: 1 - a}, a >= leastFalling && math.Abs(math.Log(low/high)/predicted-1) < 0.3
}

// toTheta sets theta and its parts from w. It returns log |dθ/dw|.
func (t *centring) toTheta(w []float64) (logDet float64) {
	copy(t.mean, t.middle)
	for j := range t.ratio {
		t.ratio[j] = 1
	}
	for i, s := range t.scales {
		delta := w[s] - t.origin[i]
		square := math.Exp(2 * delta)
		for k := range t.pairs[i] {
			d := &t.pairs[i][k]
			ratio, _, growth := d.at(delta, square)
			t.ratio[d.j] *= ratio
			t.mean[d.j] *= growth / ratio
		}
	}
	for j, r := range t.ratio {
		if r == 1 {
			t.theta[j] = w[j]
			continue
		}
		logDet -= math.Log(r) / 2
		t.theta[j] = t.mean[j] + (w[j]-t.middle[j])/math.Sqrt(r)
	}
	return logDet
}

// in is the density of w, with the volume of the change. It implements Density.
func (t *centring) in(gradient, w []float64) (float64, error) {
	logDet := t.toTheta(w)
	value, err := t.density(gradient, t.theta)
	if err != nil {
		return 0, err
	}
	for i, s := range t.scales {
		delta := w[s] - t.origin[i]
		square, sum := math.Exp(2*delta), 0.0
		for k := range t.pairs[i] {
			d := &t.pairs[i][k]
			_, slope, _ := d.at(delta, square)
			change := t.mean[d.j]*(d.rho-slope) - (t.theta[d.j]-t.mean[d.j])*slope/2
			sum += change*gradient[d.j] - slope/2
		}
		gradient[s] += sum
	}
	for j, r := range t.ratio {
		if r != 1 {
			gradient[j] /= math.Sqrt(r)
		}
	}
	return value + logDet, nil
}

// centringRounds is the most changes of coordinates: each may find a mode nearer to where most
// of the posterior is, and the precisions there.
const centringRounds = 3

// centred is the normal approximation in the coordinates of a centring at theta. It is nil
// without scales that matter, or without a mode in those coordinates.
func centred(c *curvature, theta, width []float64, scales []int) (best *laplace, found *centring, err error) {
	if len(scales) == 0 {
		return nil, nil, nil
	}
	for range centringRounds {
		h, err := c.at(theta, width)
		if err != nil {
			return nil, nil, err
		}
		t, err := newCentring(c, theta, width, h, scales)
		if err != nil || t == nil {
			return best, found, err
		}
		next, err := newLaplace(&curvature{density: t.in, rng: c.rng, parts: c.parts}, theta)
		if errors.Is(err, errNoMode) {
			return best, found, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if best != nil && !(next.bound > best.bound) {
			break
		}
		best, found = next, t
		if next.normal {
			break
		}
		t.toTheta(next.mode)
		theta, width = slices.Clone(t.theta), next.width
	}
	return best, found, nil
}
