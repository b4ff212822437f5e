package parquet

import (
	"bytes"
	"math"
	"testing"
)

// TestLongDecimals: a decimal of any length is read at once. The digits of the long ones
// would take minutes.
func TestLongDecimals(t *testing.T) {
	c := new(Cells)
	for _, b := range [][]byte{{0x7f}, {0x80}, bytes.Repeat([]byte{0x7f}, 4096), bytes.Repeat([]byte{0x7f}, 32<<20), bytes.Repeat([]byte{0x80}, 32<<20)} {
		element{physical: physicalBytes}.bytes(Decimal, b, c)
	}
	for i, want := range []float64{127, -128, math.Inf(1), math.Inf(1), math.Inf(-1)} {
		if c.Floats[i] != want {
			t.Errorf("decimal %d is %v, want %v", i, c.Floats[i], want)
		}
	}
}
