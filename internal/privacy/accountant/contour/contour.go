// Package contour computes δ(ε) as an integral, to ten digits and without proof.
package contour

import (
	"math"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/numeric"
)

// Integral is the engine that inverts the moment generating function M on the
// line Re z = θ,
//
//	δ(ε) = 1/(2π) ∫ M(θ+it) e^{-ε(θ+it)} / ((θ+it)(1+θ+it)) dt,
//
// by the trapezoidal rule, which converges exponentially. Alghamdi et al.
// 2023, arXiv:2208.09595. Its terms do not depend on ε, so one evaluation
// serves a whole stretch of the curve around the tilt.
type Integral struct {
	theta, logM float64 // K(θ)
	mean        float64 // phase that was taken out of the terms
	dt          float64
	reach       float64   // of ε around mean: further off, the sum is that of another period
	re, im      []float64 // M(θ+it)/M(θ) e^{-it mean} / ((θ+it)(1+θ+it)), t = k dt
}

const (
	contourLogEta = -39.1 // log 1e-17: aliasing
	contourStop   = 1e-16
	contourWork   = 2e7  // node evaluations before giving up
	leastShare    = 1e-6 // of the sum of the terms' absolute values: a smaller sum has lost its digits
)

// NewIntegral evaluates the terms for the tilt theta; ok is false when the
// transform decays too slowly for the engine (few steps, or rare events only).
func NewIntegral(d *bracket.Losses, tail, theta float64, c *bracket.Composition) (k *Integral, ok bool) {
	// Near δ = 1 the best tilt is tiny, and the period would be long. A larger tilt loses
	// digits: under the best one the mean is about log(1+1/θ) above ε, so that a tilt of
	// 8/log(1+1/θ) leaves e^-8 of the sum.
	_, variance := c.Moments(theta)
	theta = math.Max(theta, math.Min(1/math.Sqrt(variance), 8/math.Log1p(1/theta)))
	for fine := 1; fine <= 8; fine *= 2 {
		if fine > 1 {
			c = d.Compose(tail, fine)
		}
		k, tMax, ok := invert(c, theta)
		if !ok {
			return nil, false
		}
		step := 0.0
		for i := range c.Nodes {
			step = math.Max(step, c.Nodes[i].Step)
		}
		if tMax*step < 10 { // 16 nodes resolve ten radians per panel to 1e-12
			return k, true
		}
	}
	return nil, false
}

// phases holds one part's tilted weights and the rotation of every node from
// one t to the next.
type phases struct {
	count              float64
	weight, angle      []float64 // angle: dt (L - mean)/2
	cos, sin, dcos, ds []float64 // of k·angle and of angle
	smooth             bool
	apart              float64 // of the pair
	above              float64 // tilted mass of the losses above 0
}

func newPhases(n *bracket.Nodes, theta, dt float64) phases {
	w, mean, _ := n.Tilted(theta)
	s := phases{count: n.Count, weight: w, smooth: n.Smooth, apart: n.Apart}
	for i, l := range n.Loss {
		if l > 0 {
			s.above += w[i]
		}
	}
	size := len(w)
	buf := make([]float64, 5*size)
	s.angle, s.cos, s.sin, s.dcos, s.ds = buf[:size], buf[size:2*size], buf[2*size:3*size], buf[3*size:4*size], buf[4*size:]
	for i, l := range n.Loss {
		s.angle[i] = dt * (l - mean) / 2
		s.ds[i], s.dcos[i] = math.Sincos(s.angle[i])
		s.cos[i] = 1
	}
	return s
}

// transform is log E[e^{it(L-mean)}] at t = k dt, as (log modulus, argument).
// The sum of e^{2iφ}-1 = -2 sin²φ + i sin 2φ is accurate for small t.
func (s *phases) transform(k int) (logAbs, arg float64) {
	exact := k%exactEvery == 0
	var re, im float64
	for i, w := range s.weight {
		var c, sn float64
		if exact {
			sn, c = math.Sincos(float64(k) * s.angle[i])
		} else {
			c = s.cos[i]*s.dcos[i] - s.sin[i]*s.ds[i]
			sn = s.sin[i]*s.dcos[i] + s.cos[i]*s.ds[i]
		}
		s.cos[i], s.sin[i] = c, sn
		re -= w * 2 * sn * sn
		im += w * 2 * sn * c
	}
	return numeric.LogAbs1p(re, im, math.Hypot(1+re, im)), math.Atan2(im, 1+re)
}

// revival is about the largest log modulus of transform from t on: two clusters of losses
// cancel at some t and add up again at twice that t.
func (s *phases) revival(t float64) float64 {
	if s.apart == 0 {
		return math.Inf(-1)
	}
	return math.Log1p(s.above * math.Expm1(-0.5*t*t*s.apart*s.apart))
}

func invert(c *bracket.Composition, theta float64) (k *Integral, tMax float64, ok bool) {
	mean, variance := c.Moments(theta)
	sd := math.Sqrt(variance)
	w := c.Window(theta, mean, sd, contourLogEta)
	// The period of the sum in ε: beyond it lie δ(ε-period) e^{-θ period} <=
	// e^contourLogEta and the tilted mass outside the window.
	period := math.Max(1.05*(w.Below+w.Above), -contourLogEta/theta)
	k = &Integral{theta: theta, logM: c.LogMoment(theta), mean: mean, dt: 2 * math.Pi / period, reach: period - math.Max(w.Below, w.Above)}
	size := 0
	spin := make([]phases, len(c.Nodes))
	for i := range c.Nodes {
		spin[i] = newPhases(&c.Nodes[i], theta, k.dt)
		size += len(spin[i].weight)
	}
	// term is number n: 1/((θ+it)(1+θ+it)) relative to its value at t = 0 is (zr - i zi)/norm
	term := func(n int) (re, im float64, last bool) {
		t := float64(n) * k.dt
		zr, zi := theta*(1+theta)-t*t, t*(1+2*theta)
		norm := zr*zr + zi*zi
		logAbs, arg := -0.5*c.Mu2*t*t, 0.0
		smooth := logAbs // such a transform never revives
		for i := range spin {
			a, p := spin[i].transform(n)
			logAbs += spin[i].count * a
			arg += spin[i].count * p
			if spin[i].smooth {
				smooth += spin[i].count * math.Max(a, spin[i].revival(t))
			}
		}
		m := math.Exp(logAbs)
		sn, cs := math.Sincos(arg)
		return m * (cs*zr + sn*zi) / norm, m * (sn*zr - cs*zi) / norm, math.Exp(smooth)*theta*(1+theta)/math.Sqrt(norm) < contourStop
	}
	most := int(math.Min(1e6, contourWork/float64(size+20)))
	if math.IsNaN(k.dt) {
		return nil, 0, false
	}
	for n := range most {
		if n == exactEvery && !endsBelow(most, term) {
			break
		}
		re, im, last := term(n)
		k.re, k.im = append(k.re, re), append(k.im, im)
		if last {
			return k, float64(n) * k.dt, true
		}
	}
	return nil, 0, false
}

// endsBelow reports whether one of a few terms below `most`, each at half the place of the
// one before, is the last.
func endsBelow(most int, term func(n int) (re, im float64, last bool)) bool {
	for n := most / exactEvery * exactEvery; n > 0; n = n / 2 / exactEvery * exactEvery {
		if _, _, last := term(n); last {
			return true
		}
	}
	return false
}

// exactEvery is the number of terms after which the rounding of the rotation is reset.
const exactEvery = 16

// LogDelta is log δ(ε) and its derivative, and reports whether they keep digits after
// rounding. They are NaN if they keep none.
func (k *Integral) LogDelta(epsilon float64) (value, slope float64, precise bool) {
	u := k.mean - epsilon
	sum, der := 0.5*k.re[0], 0.5*k.theta*k.re[0]
	size := sum
	var ds, dc float64 = math.Sincos(u * k.dt)
	sn, cs := 0.0, 1.0
	for n := 1; n < len(k.re); n++ {
		if n%16 == 0 {
			sn, cs = math.Sincos(u * k.dt * float64(n))
		} else {
			cs, sn = cs*dc-sn*ds, sn*dc+cs*ds
		}
		re, im := k.re[n]*cs-k.im[n]*sn, k.re[n]*sn+k.im[n]*cs
		t := float64(n) * k.dt
		sum += re
		size += math.Abs(re)
		der += k.theta*re - t*im
	}
	return k.logM - epsilon*k.theta + math.Log(sum*k.dt/math.Pi), -der / sum, sum > leastShare*size && math.Abs(u) <= k.reach
}

// Epsilon solves log δ(ε) = logDelta by Newton's method from start, and
// returns the slope d log δ/dε there; ε may be negative.
func (k *Integral) Epsilon(logDelta, start float64) (epsilon, slope float64, ok bool) {
	epsilon = start
	for range 100 {
		v, s, precise := k.LogDelta(epsilon)
		if math.IsNaN(v) || !(s < 0) {
			return 0, 0, false
		}
		step := (logDelta - v) / s
		limit := math.Max(0.3*math.Abs(epsilon), 1/k.theta)
		step = math.Max(-limit, math.Min(limit, step))
		epsilon += step
		if math.Abs(step) <= 1e-13*math.Abs(epsilon) {
			return epsilon, s, precise
		}
	}
	_, s, precise := k.LogDelta(epsilon)
	return epsilon, s, s < 0 && precise
}
