package ballsandbins

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// epoch holds the grid of one epoch: values of W and of the sum are multiples of g.
type epoch struct {
	s, m float64
	g    float64
	cut  float64 // outcomes x above are left out
}

func (e *epoch) weight(x float64) float64 { return math.Exp((2*x - 1) / (2 * e.s * e.s)) }

// excluded is the P-mass of epochs with some outcome above x.
func (e *epoch) excluded(x float64) float64 {
	return numeric.NormalTail((x-1)/e.s) + (e.m-1)*numeric.NormalTail(x/e.s)
}

// single is the law of one W on the grid, spread over neighbouring points and merged into
// points. Both keep the mean below the cut.
func (e *epoch) single() (spread, merged []float64) {
	n := int(math.Ceil(e.weight(e.cut)/e.g)) + 1
	mass, right := make([]float64, n), make([]float64, n)
	p := pairs.Piece{
		Width:      math.Min(e.s, 2*e.s*e.s),
		Loss:       e.weight,
		LogDensity: func(x, _ float64) float64 { z := x / e.s; return -0.5*z*z - numeric.LogSqrt2Pi - math.Log(e.s) },
	}
	x := -pairs.Reach * e.s
	for i := range n {
		edge := math.Min(e.cut, e.s*e.s*math.Log(float64(i+1)*e.g)+0.5)
		base := float64(i) * e.g
		p.Integrate(x, edge, func(w, q float64) {
			mass[i] += q
			right[i] += q * (w - base) / e.g
		})
		right[i] = math.Min(mass[i], right[i])
		x = math.Max(x, edge)
	}
	spread, merged = make([]float64, n+1), make([]float64, n+1)
	for i := range n {
		spread[i] += mass[i] - right[i]
		spread[i+1] += right[i]
	}
	mergeLinear(merged, mass, right)
	return spread, merged
}

// mergeLinear merges cells of width 1, mass[i] with mean i + right[i]/mass[i], into groups
// whose mean is a grid point, splitting cells at random. It drops the rest at the end,
// which only lowers the result.
func mergeLinear(out, mass, right []float64) {
	for at, share := 0, 1.0; at < len(mass); {
		waiting := share * mass[at]
		lack := share * (mass[at] - right[at]) // distance to grid point at+1, times mass
		if lack <= 0 {
			out[at+1] += waiting
			at, share = at+1, 1
			continue
		}
		g, i := at+1, at+1
		for ; i < len(mass); i++ {
			extra := float64(i-g)*mass[i] + right[i]
			if extra >= lack {
				b := lack / extra
				out[g] += waiting + b*mass[i]
				at, share = i, 1-b
				break
			}
			lack -= extra
			waiting += mass[i]
		}
		if i == len(mass) {
			return
		}
	}
}

// momentRun is the number of powers of a ratio that logMoments takes as products.
const momentRun = 64

// logMoments is log E[e^{tilt ΣW}] under Q and under P, up to rounding.
func (e *epoch) logMoments(single []float64, tilt float64) (underQ, underP float64) {
	step := tilt * e.g
	top := math.Max(0, step*float64(len(single)))
	ratio, run := math.Exp(step), momentRun
	if math.Abs(step)*momentRun > 600 { // a power is beyond float64
		run = 1
	}
	var v, biased float64
	for start := 0; start < len(single); start += run {
		f := math.Exp(step*float64(start) - top)
		for i, q := range single[start:min(start+run, len(single))] {
			t := q * f
			v += t
			biased += t * float64(start+i)
			f *= ratio
		}
	}
	underQ = e.m * (top + math.Log(v))
	return underQ, underQ + math.Log(biased/v*e.g)
}

// spread is the standard deviation of the sum under Q.
func (e *epoch) spread() float64 { return math.Sqrt(e.m * math.Expm1(1/(e.s*e.s))) }

// momentError bounds the rounding error of a log moment of one W: that of a sum of
// maxBallsCells products of up to momentRun factors.
const momentError = 4e-11

// window is the range in which the sum has all but e^ballsLogEta of its tilted mass, by
// Chernoff's bound. logM is the logarithm of the sum's normaliser.
func (e *epoch) window(single []float64, logM, tilt float64) (lo, hi float64) {
	moment := func(l float64) float64 {
		k, _ := e.logMoments(single, tilt+l)
		return k - logM - ballsLogEta + e.m*momentError
	}
	below, _ := numeric.LeastWidth(e.spread(), ballsLogEta, func(l float64) float64 { return moment(-l) / l })
	above, _ := numeric.LeastWidth(e.spread(), ballsLogEta, func(l float64) float64 { return moment(l) / l })
	return math.Max(0, -below), above
}

// reach is the range of the sum beyond which P has at most tail on either
// side. P is the biased law unless add.
func (e *epoch) reach(single []float64, add bool, tail float64) (lo, hi float64) {
	logTail := math.Log(tail)
	moment := func(l float64) float64 {
		underQ, underP := e.logMoments(single, l)
		if add {
			return underQ - logTail
		}
		return underP - logTail
	}
	below, _ := numeric.LeastWidth(e.spread(), logTail, func(l float64) float64 { return moment(-l) / l })
	above, _ := numeric.LeastWidth(e.spread(), logTail, func(l float64) float64 { return moment(l) / l })
	return math.Max(0, -below), above
}
