package privacy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/privacy"
)

// The float64 sum of B unit terms in an unlucky order stays within half the
// allowance of the exact one, and the allowance is not wildly larger than what
// such an order can do.
func TestRoundingAllowanceCoversSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, b := range []int{1, 10, 1000, 100000} {
		var sum, carry float64 // carry: what the additions lost, itself nearly exact
		for range b {
			x := 1 - rng.Float64()/8
			next := sum + x
			if math.Abs(sum) >= math.Abs(x) {
				carry += sum - next + x
			} else {
				carry += x - next + sum
			}
			sum = next
		}
		if err, most := math.Abs(carry), privacy.RoundingAllowance(b, 1)/2; !(err <= most) {
			t.Errorf("%d terms: off by %g, allowed %g", b, err, most)
		}
	}
}
