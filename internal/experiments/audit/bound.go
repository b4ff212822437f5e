package main

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// lowerBound is the largest epsilon that an audit refutes at the given confidence, 0 if it
// refutes none. A fair coin puts each canary into the table; an attacker guessed r coins, v
// of them correctly, and abstained from the others. Steinke, Nasr and Jagielski 2023,
// arXiv:2305.08846, Theorem 5.2.
func lowerBound(canaries, r, v int, delta, confidence float64) float64 {
	low, high := 0.0, 30.0
	if pValue(canaries, r, v, low, delta) > 1-confidence {
		return 0
	}
	for range 60 {
		middle := (low + high) / 2
		if pValue(canaries, r, v, middle, delta) <= 1-confidence {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// pValue bounds the probability of v or more right guesses of r under (epsilon,
// delta)-differential privacy.
func pValue(canaries, r, v int, epsilon, delta float64) float64 {
	right := distuv.Binomial{N: float64(r), P: 1 / (1 + math.Exp(-epsilon))}
	beta := 0.0
	for k := v; k <= r; k++ {
		beta += right.Prob(float64(k))
	}
	alpha, sum := 0.0, 0.0
	for i := 1; i <= v; i++ {
		sum += right.Prob(float64(v - i))
		alpha = max(alpha, sum/float64(i))
	}
	return min(1, beta+2*float64(canaries)*delta*alpha)
}
