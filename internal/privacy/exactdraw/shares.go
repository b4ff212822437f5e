package exactdraw

import (
	"math"
	"slices"
)

// best are shares of the components by which the mixture is nowhere far below the envelope:
// they make the greatest log ratio over a grid of r small, smoothed, by multiplicative
// steps that never increase it (those of EM).
func (q *proposal) best(e *envelope) []float64 {
	const points, sharp, rounds = 200, 8.0, 100
	n := len(q.widths)
	shares, next := make([]float64, n), make([]float64, n)
	for k := range shares {
		shares[k] = 1 / float64(n)
	}
	// of each component at each point, over the envelope and over the greatest there
	density, greatest := make([]float64, points*n), make([]float64, points)
	far := 8 * q.least[n-1]
	for i := range points {
		r := far * math.Pow(float64(i)/points, 2)
		here := density[i*n : (i+1)*n]
		for k, s := range q.least {
			here[k] = e.rise(r) - r*r/(2*s*s) - float64(q.d)*math.Log(s)
		}
		greatest[i] = slices.Max(here)
		for k := range here {
			here[k] = math.Exp(here[k] - greatest[i])
		}
	}
	sums, logs := make([]float64, points), make([]float64, points)
	for range rounds {
		for i := range points {
			sums[i] = 0
			for k, share := range shares {
				sums[i] += share * density[i*n+k]
			}
			logs[i] = math.Log(sums[i]) + greatest[i]
		}
		least := slices.Min(logs)
		clear(next)
		for i, log := range logs {
			weight := math.Exp(-sharp*(log-least)) / sums[i]
			for k, share := range shares {
				next[k] += weight * share * density[i*n+k]
			}
		}
		shares, next = next, shares
		normalise(shares)
		for k := range shares {
			shares[k] = max(shares[k], leastShare)
		}
		normalise(shares)
	}
	return shares
}

// normalise makes the numbers of a list add up to 1.
func normalise(list []float64) {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	for k := range list {
		list[k] /= sum
	}
}

// leastShare is that of a component. Without it the places of a narrow component, which no
// normal reaches, could count.
const leastShare = 0x1p-20

// excess is at least U(φ*) − U − log q at every place: the greatest value over small steps of r,
// each with the envelope at its near end and the mixture at its far one.
func (q *proposal) excess(e *envelope) float64 {
	n := len(q.least)
	s, half := q.least[n-1], math.Sqrt(float64(q.d))/(2*coarse)
	most, r := math.Inf(-1), 0.0
	for {
		next := r + max(0.002, r/500)
		near := max(0, q.scale[0]*r-q.slip)
		far := q.scale[1]*next + q.slip
		most = max(most, e.tilt*far-e.rise(near)-q.atLeast(next))
		r = next
		// of the widest component alone, with the prior alone: a quadratic in r, and its slope
		tail := e.tilt*(q.scale[1]*r+q.slip) - e.prior/2*math.Pow(max(0, q.scale[0]*r-q.slip), 2) - q.log[n-1] + math.Pow(r/s+half, 2)/2
		slope := q.scale[1]*e.tilt - q.scale[0]*e.prior*(q.scale[0]*r-q.slip) + (r/s+half)/s
		if curved := q.scale[0]*q.scale[0]*e.prior > 1/(s*s); !curved {
			panic("exactdraw: no component is as wide as the prior")
		}
		if r > s && slope < 0 && tail < most {
			return most + 1e-6
		}
	}
}
