package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestLowerBoundOfRandomisedResponse: its guesses are right with probability
// e^ε/(1+e^ε), the most that ε allows, so that the bound is near ε and, with the
// confidence, below it.
func TestLowerBoundOfRandomisedResponse(t *testing.T) {
	const epsilon, canaries, games = 1.0, 1000, 200
	rng := rand.New(rand.NewPCG(5, 5))
	above, sum := 0, 0.0
	for range games {
		right := 0
		for range canaries {
			if rng.Float64() < 1/(1+math.Exp(-epsilon)) {
				right++
			}
		}
		b := lowerBound(canaries, canaries, right, 0, 0.95)
		sum += b / games
		if b > epsilon {
			above++
		}
	}
	// P(Binomial(200, 0.05) > 35) < 1e-9
	if above > 35 {
		t.Errorf("%d of %d bounds at confidence 0.95 are above epsilon", above, games)
	}
	if sum < 0.8 {
		t.Errorf("the mean bound is %.3f, far below epsilon %v", sum, epsilon)
	}
}

// TestPValue compares with the binomial tail at delta 0, and checks that delta makes the
// p-value larger.
func TestPValue(t *testing.T) {
	const r, v, epsilon = 100, 85, 1.2
	q := 1 / (1 + math.Exp(-epsilon))
	want := 1 - distuv.Binomial{N: r, P: q}.CDF(v-1)
	if got := pValue(1000, r, v, epsilon, 0); math.Abs(got-want) > 1e-12 {
		t.Errorf("p-value %v, want %v", got, want)
	}
	// The largest 2/i·P(v - i <= W < v) is at least the one of i = 1.
	least := want + 2*1000*1e-5*(distuv.Binomial{N: r, P: q}.Prob(v-1))
	if got := pValue(1000, r, v, epsilon, 1e-5); got < least {
		t.Errorf("p-value %v with delta, want at least %v", got, least)
	}
	if got := pValue(1000, r, v, epsilon, 0.5); got != 1 {
		t.Errorf("p-value %v, want 1", got)
	}
}

// TestGuessesByChanceRefuteNothing: half of the coins are guessed by anyone.
func TestGuessesByChanceRefuteNothing(t *testing.T) {
	if b := lowerBound(1000, 100, 55, 1e-6, 0.999); b != 0 {
		t.Errorf("55 right guesses of 100 refute epsilon %v", b)
	}
}
