package records

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"

	"d3p/internal/models/encoding"
)

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

// scanNumber reads such a number from start on and returns its end, or -1 if there is no
// number or it is too large.
//
// Clinger 1990, "How to read floating point numbers accurately": when the
// digits fit 53 bits and the power of ten is exact, one multiplication or
// division rounds correctly. Everything else goes to strconv.
func scanNumber(s []byte, start int) (x float64, end int) {
	i := start
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	mantissa, end := scanDigits(s, i, 0)
	digits, exponent := end-i, 0
	if i = end; i < len(s) && s[i] == '.' {
		mantissa, end = scanDigits(s, i+1, mantissa)
		exponent = i + 1 - end
		digits, i = digits-exponent, end
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

// scanDigits reads the digits from i on and appends them to value, which may
// overflow beyond 18 of them. Eight at a time: bytes of a word that hold no
// digit are found by adding, and pairs, fours and eights of digits are joined by
// multiplying. Lemire 2021, "Number parsing at a gigabyte per second",
// arXiv:2101.11408, section 8.
func scanDigits(s []byte, i int, value uint64) (uint64, int) {
	for len(s)-i >= 8 {
		t := binary.LittleEndian.Uint64(s[i:]) ^ 0x3030303030303030
		n := bits.TrailingZeros64(((t+0x7676767676767676)|t)&0x8080808080808080) / 8
		if n == 0 {
			return value, i
		}
		t <<= 64 - 8*n // zeros before the digits
		t = t * 2561 >> 8 & 0x00ff00ff00ff00ff
		t = t * 6553601 >> 16 & 0x0000ffff0000ffff
		t = t * 42949672960001 >> 32
		value, i = value*digitPower[n]+t, i+n
		if n < 8 {
			return value, i
		}
	}
	for ; i < len(s) && s[i]-'0' <= 9; i++ {
		value = value*10 + uint64(s[i]-'0')
	}
	return value, i
}

// digitPower holds 10^n.
var digitPower = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// scanExponent reads an optional sign and at least one digit; end is -1 without a digit.
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

// notation is how a file of text writes numbers.
type notation struct {
	decimalComma bool     // 3,14
	thousands    [][]byte // between groups of three digits; all spellings of the declared one
}

// sameSeparator are the spellings of separators of thousands that a keyboard has one of.
var sameSeparator = map[string][]string{" ": {" ", "\u00a0", "\u202f"}, "'": {"'", "\u2019"}}

func notationOf(e encoding.Encoding) (n notation) {
	n.decimalComma = e.Decimal == ","
	spellings := sameSeparator[e.Thousands]
	if spellings == nil && e.Thousands != "" {
		spellings = []string{e.Thousands}
	}
	for _, s := range spellings {
		n.thousands = append(n.thousands, []byte(s))
	}
	return n
}

// parse reads a number. Where decimals are commas a point is no part of it, unless it separates
// thousands.
func (n notation) parse(cell []byte) (x float64, ok bool) {
	if !n.decimalComma && n.thousands == nil {
		return parseNumber(cell)
	}
	var buf [64]byte // of most numbers; a longer one is read, too, as in text without quotes
	decimal := byte('.')
	if n.decimalComma {
		decimal = ','
	}
	whole, fraction, pointed := bytes.Cut(cell, []byte{decimal})
	number, ok := n.joined(buf[:0], whole)
	if !ok || n.decimalComma && (bytes.IndexByte(number, '.') >= 0 || bytes.IndexByte(fraction, '.') >= 0) {
		return 0, false
	}
	if pointed {
		number = append(append(number, '.'), fraction...)
	}
	return parseNumber(number)
}

// joined appends the part of a number before the decimal sign to a buffer, without separators of
// thousands; ok is false unless they make groups of three digits.
func (n notation) joined(to, whole []byte) (_ []byte, ok bool) {
	for _, separator := range n.thousands {
		first, groups, found := bytes.Cut(whole, separator)
		if !found {
			continue
		}
		if digits := bytes.TrimLeft(first, "+-"); len(digits) < 1 || len(digits) > 3 {
			return nil, false
		}
		to = append(to, first...)
		for found {
			var group []byte
			group, groups, found = bytes.Cut(groups, separator)
			if len(group) != 3 || bytes.ContainsFunc(group, func(r rune) bool { return r < '0' || r > '9' }) {
				return nil, false
			}
			to = append(to, group...)
		}
		return to, true
	}
	return append(to, whole...), true
}

// withoutSymbol is a cell without the symbol of its column, before or after it, and the spaces between.
func withoutSymbol(cell, symbol []byte) []byte {
	number, found := bytes.CutSuffix(cell, symbol)
	if !found {
		number, found = bytes.CutPrefix(cell, symbol)
	}
	if !found {
		return cell
	}
	return bytes.TrimSpace(number)
}
