package records

import "strconv"

// pow10 holds the powers of ten that float64 represents exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// parseNumber reads a decimal number without surrounding spaces: an optional
// sign, digits with at most one point, an optional exponent. The result is
// correctly rounded. Words such as nan and inf, and hexadecimal, do not parse.
func parseNumber(s []byte) (x float64, ok bool) {
	x, end := scanNumber(s, 0)
	return x, end == len(s) && end > 0
}

// scanNumber reads such a number from start on and returns where it ends, or
// -1 when there is none or it is too large.
//
// Clinger 1990, "How to read floating point numbers accurately": when the
// digits fit 53 bits and the power of ten is exact, one multiplication or
// division rounds correctly. Everything else goes to strconv.
func scanNumber(s []byte, start int) (x float64, end int) {
	i := start
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	var mantissa uint64
	first, point := i, -1
	for ; i < len(s); i++ {
		if d := s[i] - '0'; d <= 9 {
			mantissa = mantissa*10 + uint64(d)
		} else if s[i] == '.' && point < 0 {
			point = i
		} else {
			break
		}
	}
	digits, exponent := i-first, 0
	if point >= 0 {
		digits--
		exponent = point + 1 - i
	}
	if digits == 0 {
		return 0, -1
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		e, after := scanExponent(s, i+1)
		if after < 0 {
			return 0, -1
		}
		exponent, i = exponent+e, after
	}
	// 18 digits cannot overflow uint64
	if digits > 18 || mantissa >= 1<<53 || exponent < -22 || exponent > 22 {
		x, err := strconv.ParseFloat(string(s[start:i]), 64)
		if err != nil {
			return 0, -1
		}
		return x, i
	}
	x = float64(mantissa)
	if exponent < 0 {
		x /= pow10[-exponent]
	} else if exponent > 0 {
		x *= pow10[exponent]
	}
	if s[start] == '-' {
		x = -x
	}
	return x, i
}

// scanExponent reads an optional sign and at least one digit; end is -1 when
// there is none.
func scanExponent(s []byte, i int) (e, end int) {
	negative := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		negative = s[i] == '-'
		i++
	}
	first := i
	for ; i < len(s) && s[i]-'0' <= 9; i++ {
		e = min(e*10+int(s[i]-'0'), 1<<20) // beyond any float64; strconv decides
	}
	if i == first {
		return 0, -1
	}
	if negative {
		e = -e
	}
	return e, i
}
