// Package decimal prints bounds, rounded so that they stay bounds.
package decimal

import (
	"math"
	"strconv"
	"strings"
)

// Up prints x with `digits` significant digits, never below x.
func Up(x float64, digits int) string { return rounded(x, digits, math.Inf(1)) }

// Down prints x with `digits` significant digits, never above x.
func Down(x float64, digits int) string { return rounded(x, digits, math.Inf(-1)) }

// rounded is the decimal number nearest to x, or its neighbour if the nearest is on the
// wrong side.
func rounded(x float64, digits int, side float64) string {
	text := strconv.FormatFloat(x, 'e', digits-1, 64)
	shown, _ := strconv.ParseFloat(text, 64)
	if right := shown == x || (shown > x) == (side > 0); !right && !math.IsInf(x, 0) && !math.IsNaN(x) {
		mantissa, exponent, _ := strings.Cut(text, "e")
		m, _ := strconv.ParseInt(strings.Replace(mantissa, ".", "", 1), 10, 64)
		e, _ := strconv.Atoi(exponent)
		if power := int64(math.Pow10(digits - 1)); (m == power) != (m == -power) && (m > 0) != (side > 0) {
			m, e = 10*m, e-1 // the neighbour towards zero has one digit more
		}
		m += int64(math.Copysign(1, side))
		shown, _ = strconv.ParseFloat(strconv.FormatInt(m, 10)+"e"+strconv.Itoa(e-digits+1), 64)
	}
	return strconv.FormatFloat(shown, 'g', digits, 64)
}
