package accountant

import (
	"math"
	"sync"

	"d3p/internal/privacy/event"
)

// RenyiBound is the answer of the Rényi accountant: an upper bound on ε that
// is valid but loose.
type RenyiBound struct {
	Epsilon float64
	Order   float64 // α at which it is attained
}

const maxRenyiOrder = 4096

// renyiOrders are the integer orders tried.
func renyiOrders() []int {
	var orders []int
	for a := 2; a <= maxRenyiOrder; a += 1 + a/16 {
		orders = append(orders, a)
	}
	return orders
}

// Renyi is an upper bound on ε(delta) by Rényi differential privacy at integer
// orders (Mironov, Talwar, Zhang 2019, arXiv:1908.10530) and the conversion of
// Canonne et al. 2020, arXiv:2004.00010, Proposition 12. It shares no code with
// the two engines but the table of pairs, so it is their cross-check:
// it can never be below the certified lower bound. *UnsupportedError for
// pairs without a closed-form divergence.
func Renyi(ev event.Event, rel event.Relation, delta float64) (RenyiBound, error) {
	if !(delta > 0 && delta < 1) {
		return RenyiBound{}, &InputError{Name: "delta", Value: delta, Want: "a number in (0, 1)"}
	}
	led, err := compile(ev, rel)
	if err != nil {
		return RenyiBound{}, err
	}
	best := RenyiBound{Epsilon: math.Inf(1)}
	for _, order := range renyiOrders() {
		worst := 0.0
		for _, d := range led.directions[:1] { // the divergences of all are the same, see renyi
			left, err := d.finiteDelta(delta)
			if err != nil {
				return RenyiBound{}, err
			}
			rho, err := d.renyi(order)
			if err != nil {
				return RenyiBound{}, err
			}
			a := float64(order)
			worst = math.Max(worst, rho+math.Log1p(-1/a)-(math.Log(left)+math.Log(a))/(a-1))
		}
		if worst < best.Epsilon {
			best = RenyiBound{Epsilon: math.Max(0, worst), Order: float64(order)}
		}
		if worst > 2*best.Epsilon && order > 64 { // larger orders only get worse
			break
		}
	}
	return best, nil
}

// logFactorials is log n! up to the largest order.
var logFactorials = sync.OnceValue(func() []float64 {
	table := make([]float64, maxRenyiOrder+1)
	for n := range table {
		table[n], _ = math.Lgamma(float64(n) + 1)
	}
	return table
})

// renyi is the Rényi divergence of the whole direction at an integer order.
func (d *direction) renyi(order int) (float64, error) {
	a := float64(order)
	rho := d.mu2 * a / 2
	for _, p := range d.parts {
		var one float64
		switch p.key.kind {
		case removePair, addPair: // add is never above remove (Mironov et al., Theorem 5)
			one = sampledGaussianRenyi(order, p.key.s, p.key.q)
		case laplaceKind:
			b := p.key.s
			one = logAddExp(math.Log(a/(2*a-1))+(a-1)/b, math.Log((a-1)/(2*a-1))-a/b) / (a - 1)
		case blackBoxKind:
			e := p.key.s // randomised response
			norm := math.Log1p(math.Exp(-e))
			one = logAddExp((a-1)*e-norm, -(a-1)*e-e-norm) / (a - 1)
		default:
			return 0, &UnsupportedError{What: "Rényi accounting of " + p.key.kind.String(), Why: "the divergence has no closed form"}
		}
		rho += float64(p.count) * one
	}
	return rho, nil
}

// sampledGaussianRenyi is the divergence of (1-q)N(0,s²) + qN(1,s²) from
// N(0,s²) at integer order α:
// log Σ_k binom(α,k) (1-q)^{α-k} q^k e^{k(k-1)/(2s²)} / (α-1).
func sampledGaussianRenyi(order int, s, q float64) float64 {
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
		logSum = logAddExp(logSum, lgA-lgK-lgR+(a-k)*logRest+k*logQ+excess)
	}
	return logAddExp(0, logSum) / (a - 1)
}
