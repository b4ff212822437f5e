package records

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// FuzzParseNumber compares with strconv: what we accept is correctly rounded,
// and we accept every decimal that it does.
func FuzzParseNumber(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "+1", "1.", ".5", ".", "", "-", "1e", "1e+", "1e5", "1E-5", "1e9", "1e19", "9e-9", "123456789012345678901234567890",
		"0.1", "9007199254740993", "1e22", "1e23", "1e-22", "1e-23", "4.35", "1e400", "1e-400", "0x1p3", "1_0", "nan", "inf",
		"2.2250738585072014e-308", "179769313486231570000000000000000000000e270", "1..2", "1e5e5", "0000000000000000000000001", "7.0000000000000000000000000000",
		"1e99999999999999999999", "9007199254740993e1", "9007199254740995e-3", "\xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseNumber([]byte(s))
		want, err := strconv.ParseFloat(s, 64)
		decimal := err == nil && !strings.ContainsAny(s, "xX_nN")
		if ok != decimal {
			t.Fatalf("parseNumber(%q) accepts: %v, want %v", s, ok, decimal)
		}
		if ok && math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("parseNumber(%q) = %g, want %g", s, got, want)
		}
	})
}
