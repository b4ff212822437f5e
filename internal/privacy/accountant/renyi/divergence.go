// Package renyi has the Rényi divergences of dominating pairs in closed form. It shares
// only the table of pairs with the engines.
package renyi

import (
	"math"
	"sync"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

const maxOrder = 4096

// Orders are the integer orders tried.
func Orders() []int {
	var orders []int
	for a := 2; a <= maxOrder; a += 1 + a/16 {
		orders = append(orders, a)
	}
	return orders
}

// Divergence is the divergence of one loss of the pair at an integer order. ok is false if
// it has no closed form.
func Divergence(k pairs.Key, order int) (rho float64, ok bool) {
	a := float64(order)
	switch k.Kind {
	case pairs.Remove, pairs.Add: // add is never above remove (Mironov et al., Theorem 5)
		return sampledGaussian(order, k.S, k.Q), true
	case pairs.Laplace:
		b := k.S
		return numeric.LogAddExp(math.Log(a/(2*a-1))+(a-1)/b, math.Log((a-1)/(2*a-1))-a/b) / (a - 1), true
	case pairs.BlackBox:
		e := k.S // randomised response
		norm := math.Log1p(math.Exp(-e))
		return numeric.LogAddExp((a-1)*e-norm, -(a-1)*e-e-norm) / (a - 1), true
	}
	return 0, false
}

// logFactorials is log n! up to the largest order.
var logFactorials = sync.OnceValue(func() []float64 {
	table := make([]float64, maxOrder+1)
	for n := range table {
		table[n], _ = math.Lgamma(float64(n) + 1)
	}
	return table
})

// sampledGaussian is the divergence of (1-q)N(0,s²) + qN(1,s²) from
// N(0,s²) at integer order α:
// log Σ_k binom(α,k) (1-q)^{α-k} q^k e^{k(k-1)/(2s²)} / (α-1).
func sampledGaussian(order int, s, q float64) float64 {
	a := float64(order)
	logSum := math.Inf(-1)
	logFactorial := logFactorials()
	lgA := logFactorial[order]
	logQ, logRest := math.Log(q), math.Log1p(-q)
	for k := 0.0; k <= a; k++ {
		lgK, lgR := logFactorial[int(k)], logFactorial[order-int(k)]
		// the terms k = 0 and 1 are those of a probability; only the excess
		// e^{k(k-1)/(2s²)} - 1 of the others counts, which keeps small results exact
		x := k * (k - 1) / (2 * s * s)
		if x == 0 {
			continue
		}
		excess := x
		if x < 30 {
			excess = math.Log(math.Expm1(x))
		}
		logSum = numeric.LogAddExp(logSum, lgA-lgK-lgR+(a-k)*logRest+k*logQ+excess)
	}
	return numeric.LogAddExp(0, logSum) / (a - 1)
}
