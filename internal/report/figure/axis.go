package figure

import (
	"fmt"
	"math"
	"strconv"
)

// axis maps values to 0..1 along an edge of the frame.
type axis struct {
	name   string
	lo, hi float64
	log    bool
	ticks  []float64
	label  func(float64) string
}

// unit is the place of v, from 0 at lo to 1 at hi; values beyond stay inside.
func (a axis) unit(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	if !(hi > lo) {
		return 0.5
	}
	return min(1, max(0, (v-lo)/(hi-lo)))
}

// linear is an axis from lo to hi, or a little further, with about n ticks at
// round numbers.
func linear(name string, lo, hi float64, n int) axis {
	if !(hi > lo) {
		lo, hi = lo-1, lo+1
	}
	return axis{name: name, lo: lo, hi: hi, label: plain, ticks: roundTicks(lo, hi, n)}
}

// roundTicks are about n round numbers from lo to hi: whole multiples of 1, 2 or
// 5 times a power of 10.
func roundTicks(lo, hi float64, n int) (ticks []float64) {
	step := roundStep((hi - lo) / float64(n))
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+1e-9*step; k++ {
		ticks = append(ticks, k*step)
	}
	return ticks
}

// decades is a logarithmic axis with a tick at every power of 100, or of 10
// when there are few.
func decades(name string, lo, hi float64) axis {
	a := axis{name: name, lo: lo, hi: hi, log: true, label: power}
	from, to := int(math.Round(math.Log10(lo))), int(math.Round(math.Log10(hi)))
	step := 1
	if to-from > 5 {
		step = 2
	}
	for k := from; k <= to; k += step {
		a.ticks = append(a.ticks, math.Pow10(k))
	}
	return a
}

// fractions is the axis from 0 to 1, in percent.
func fractions(name string) axis {
	return axis{name: name, hi: 1, ticks: []float64{0, 0.25, 0.5, 0.75, 1}, label: func(v float64) string {
		return strconv.FormatFloat(100*v, 'f', -1, 64) + " %"
	}}
}

// roundStep is 1, 2 or 5 times a power of 10, at least x.
func roundStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// plain prints the number at a tick.
func plain(v float64) string {
	if math.Abs(v) < 1e-12 {
		return "0"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func power(v float64) string { return fmt.Sprintf("1e%d", int(math.Round(math.Log10(v)))) }
