package records

import "strconv"

// pow10 holds the powers of ten that float64 represents exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// parseNumber reads a decimal number without surrounding spaces: an optional
// sign, digits with at most one point, an optional exponent. The result is
// correctly rounded. Words such as nan and inf, and hexadecimal, do not parse.
//
// Clinger 1990, "How to read floating point numbers accurately": when the
// digits fit 53 bits and the power of ten is exact, one multiplication or
// division rounds correctly. Everything else goes to strconv.
func parseNumber(s []byte) (x float64, ok bool) {
	i, negative := 0, false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		negative = s[i] == '-'
		i++
	}
	var mantissa uint64
	digits, exponent, point := 0, 0, false
	for ; i < len(s); i++ {
		c := s[i]
		if d := c - '0'; d <= 9 {
			mantissa = mantissa*10 + uint64(d)
			digits++
			if point {
				exponent--
			}
		} else if c == '.' && !point {
			point = true
		} else {
			break
		}
	}
	if digits == 0 {
		return 0, false
	}
	if i < len(s) {
		if s[i]|0x20 != 'e' {
			return 0, false
		}
		e, ok := parseExponent(s[i+1:])
		if !ok {
			return 0, false
		}
		exponent += e
	}
	// 18 digits cannot overflow uint64
	if digits > 18 || mantissa >= 1<<53 || exponent < -22 || exponent > 22 {
		x, err := strconv.ParseFloat(string(s), 64)
		return x, err == nil
	}
	x = float64(mantissa)
	if exponent < 0 {
		x /= pow10[-exponent]
	} else {
		x *= pow10[exponent]
	}
	if negative {
		x = -x
	}
	return x, true
}

// parseExponent reads an optional sign and at least one digit.
func parseExponent(s []byte) (e int, ok bool) {
	i, negative := 0, false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		i = 1
	}
	if i == len(s) {
		return 0, false
	}
	for ; i < len(s); i++ {
		d := s[i] - '0'
		if d > 9 {
			return 0, false
		}
		e = min(e*10+int(d), 1<<20) // beyond any float64; strconv decides
	}
	if negative {
		e = -e
	}
	return e, true
}
