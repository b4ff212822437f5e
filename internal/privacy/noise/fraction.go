package noise

import "math/big"

// fraction is a uniform number of (0, 1) whose binary digits are drawn as far as comparisons
// need them.
type fraction struct {
	digits *big.Int // the first digits
	count  uint     // of them
	more   *Stream
}

// newFraction is a fraction that begins with the digits of word; s gives the others.
func newFraction(word uint64, s *Stream) *fraction {
	return &fraction{new(big.Int).SetUint64(word), 64, s}
}

// below reports whether the fraction is below a number, which value returns with a relative
// error of at most 2^(50-prec). It ends with probability 1.
func (u *fraction) below(value func(prec uint) *big.Float) bool {
	for {
		prec := u.count + 128
		at := new(big.Float).SetMantExp(value(prec), int(u.count)) // in units of the last digit
		margin := new(big.Float).SetMantExp(at, 51-int(prec))
		low, _ := new(big.Float).Sub(at, margin).Int(nil)
		high, _ := new(big.Float).Add(at, margin).Int(nil) // rounded down, like low
		switch {
		case u.digits.Cmp(low) < 0:
			return true
		case u.digits.Cmp(high) > 0:
			return false
		}
		u.digits.Lsh(u.digits, 64).Or(u.digits, new(big.Int).SetUint64(u.more.Uint64()))
		u.count += 64
	}
}
