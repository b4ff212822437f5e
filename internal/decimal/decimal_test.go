package decimal

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestRounded(t *testing.T) {
	for _, c := range []struct {
		x        float64
		digits   int
		up, down string
	}{
		{0, 6, "0", "0"},
		{1, 6, "1", "1"},
		{math.Pi, 4, "3.142", "3.141"},
		{-math.Pi, 4, "-3.141", "-3.142"},
		{0.99999999, 4, "1", "0.9999"},
		{-0.99999999, 4, "-0.9999", "-1"},
		{1.0000000000000002, 6, "1.00001", "1"},
		{0.9999999999999999, 6, "1", "0.999999"},
		{1.23456789e-9, 3, "1.24e-09", "1.23e-09"},
		{math.Inf(1), 6, "+Inf", "+Inf"},
	} {
		if up, down := Up(c.x, c.digits), Down(c.x, c.digits); up != c.up || down != c.down {
			t.Errorf("%v with %d digits: %s, %s, want %s, %s", c.x, c.digits, up, down, c.up, c.down)
		}
	}
}

// The printed bounds hold, and no other number of as many digits lies between them.
func TestRoundedHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		x := math.Exp(60 * (rng.Float64() - 0.5))
		if rng.IntN(2) == 0 {
			x = -x
		}
		digits := 1 + rng.IntN(9)
		up, down := exact(t, Up(x, digits)), exact(t, Down(x, digits))
		if v := new(big.Rat).SetFloat64(x); up.Cmp(v) < 0 || down.Cmp(v) > 0 {
			t.Fatalf("%v lies outside [%s, %s]", x, Down(x, digits), Up(x, digits))
		}
		unit := math.Pow10(int(math.Floor(math.Log10(math.Abs(x)))) + 1 - digits)
		if wide, _ := new(big.Rat).Sub(up, down).Float64(); wide > unit*(1+1e-9) {
			t.Fatalf("%v with %d digits: [%s, %s]", x, digits, Down(x, digits), Up(x, digits))
		}
	}
}

func exact(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%s is no number", strconv.Quote(text))
	}
	return r
}
