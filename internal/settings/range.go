package settings

import (
	"fmt"
	"math"
)

// Range is the interval of the numbers that a setting may have.
type Range struct {
	Low, High float64 // High is +Inf when there is no bound
	Above     bool    // Low itself is outside
	Below     bool    // High itself is outside
}

func positive() Range { return Range{Low: 0, High: math.Inf(1), Above: true, Below: true} }

func atLeast(low float64) Range { return Range{Low: low, High: math.Inf(1), Below: true} }

// factor is a positive number by which a fit can multiply others, far from the ends of
// float64.
func factor() Range { return Range{Low: 1e-30, High: 1e30, Above: true, Below: true} }

// inside is the open interval (0, 1).
func inside() Range { return Range{Low: 0, High: 1, Above: true, Below: true} }

// check reports a number outside; NaN is outside of every range.
func (r Range) check(x float64) *Mistake {
	low := x > r.Low || !r.Above && x == r.Low
	high := x < r.High || !r.Below && x == r.High
	switch {
	case low && high:
		return nil
	case math.IsInf(x, 1) && math.IsInf(r.High, 1):
		return mistake("", "%g is not finite", x)
	}
	return mistake("", "%g is not %s", x, r)
}

// String is the range in words, as in "is not positive".
func (r Range) String() string {
	low := fmt.Sprintf("at least %g", r.Low)
	if r.Above {
		low = fmt.Sprintf("above %g", r.Low)
	}
	switch {
	case math.IsInf(r.High, 1) && r.Above && r.Low == 0:
		return "positive"
	case math.IsInf(r.High, 1):
		return low
	case r.Below:
		return fmt.Sprintf("%s and below %g", low, r.High)
	}
	return fmt.Sprintf("%s and at most %g", low, r.High)
}
