package dist

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Truncated is Base given that the value lies between two bounds, which may be
// values themselves:
//
//	p(x) = Base(x) / P(Lower <= X <= Upper),  Lower <= x <= Upper
//
// A nil bound means no bound; bounds of a count are constants. Johnson, Kotz and
// Balakrishnan 1994, vol. 1, ch. 13. The value may be censored on the right, too, as
// times are of people who enter a study at their Lower: Klein and Moeschberger 2003, ch. 3.
type Truncated struct {
	Base         Applied
	Lower, Upper *graph.Node
	Event        *graph.Node // of Censored; nil: every value is known
	// EventColumn and LowerColumn are the names of the columns that Event and Lower read; ""
	// of any other expression.
	EventColumn, LowerColumn string
}

// LogDensity divides by the mass between the bounds. A record whose value is not above its
// own lower bound contributes nothing.
func (t Truncated) LogDensity(b *graph.Builder, x Observed) *graph.Node {
	density := t.Base.LogDensity(b, x)
	if t.Event != nil {
		density = Censored{Base: t.Base, Event: t.Event}.LogDensity(b, x)
	}
	density = b.Sub(density, t.logMass(b))
	if t.Lower != nil && t.Lower.Stage()&graph.StageRecord != 0 && t.Lower.Stage()&graph.StageGlobal == 0 {
		return b.Where(b.Less(t.Lower, x.X), density, b.Const(0))
	}
	return density
}

// logMass is log P(Lower < X < Upper). Between two bounds it is a difference of the tails
// on the side on which they are small, so it keeps its digits far from the centre.
func (t Truncated) logMass(b *graph.Builder) *graph.Node {
	cdf := func(x *graph.Node) *graph.Node { return t.Base.LogCDF(b, x, t.Base.Args) }
	ccdf := func(x *graph.Node) *graph.Node { return t.Base.LogCCDF(b, x, t.Base.Args) }
	below, upper := t.mass(b)
	switch {
	case below == nil && upper == nil:
		return b.Const(0)
	case below == nil:
		return cdf(upper)
	case upper == nil:
		return ccdf(below)
	}
	above := b.Less(b.Const(-math.Ln2), cdf(below)) // more than half lies below Lower
	return b.Where(above,
		family.LogDiffExp(b, ccdf(below), ccdf(upper)),
		family.LogDiffExp(b, cdf(upper), cdf(below)))
}

// mass returns the largest value that Lower excludes and the largest that Upper allows. On
// the line these are the bounds themselves, because one value has no mass. Nil means no
// bound. A lower bound of 0 of a positive number becomes the smallest positive one: the
// gradient of a survival at 0 is 0, but not finite by its formula.
func (t Truncated) mass(b *graph.Builder) (below, upper *graph.Node) {
	if s := t.Base.Support(); !s.Discrete() {
		if below = t.Lower; below != nil && s.Kind == support.Positive && math.IsNaN(bound(below, 0)) {
			below = b.Max(below, b.Const(1e-300))
		}
		return below, t.Upper
	}
	if lower := bound(t.Lower, 0); lower > 0 {
		below = b.Const(math.Ceil(lower) - 1)
	}
	if t.Upper != nil {
		upper = b.Const(math.Floor(bound(t.Upper, 0)))
	}
	return below, upper
}

// Mean is the mean between the bounds; nil for a family without Tail.
func (t Truncated) Mean(b *graph.Builder) *graph.Node {
	if t.Base.Tail == nil {
		return nil
	}
	below, upper := t.mass(b)
	sum := t.Base.Mean(b)
	if below != nil {
		sum = t.Base.Tail(b, below, t.Base.Args)
	}
	if upper != nil {
		sum = b.Sub(sum, t.Base.Tail(b, upper, t.Base.Args))
	}
	return b.Mul(sum, b.Exp(b.Neg(t.logMass(b))))
}

// Support is the part of Base's support between the bounds if they are
// constant.
func (t Truncated) Support() support.Support {
	s := t.Base.Support()
	lower, upper := bound(t.Lower, math.Inf(-1)), bound(t.Upper, math.Inf(1))
	if math.IsNaN(lower) {
		lower = math.Inf(-1)
	}
	if math.IsNaN(upper) {
		upper = math.Inf(1)
	}
	switch s.Kind {
	case support.Positive:
		lower = math.Max(lower, 0)
	case support.UnitInterval:
		lower, upper = math.Max(lower, 0), math.Min(upper, 1)
	case support.Interval:
		lower, upper = math.Max(lower, s.Lower), math.Min(upper, s.Upper)
	case support.Real:
	case support.Count:
		s.Lower = math.Max(0, math.Ceil(lower))
		if upper = math.Floor(upper); !math.IsInf(upper, 1) && (s.Upper == 0 || upper < s.Upper) {
			s.Upper = upper
		}
		return s
	default:
		return s
	}
	switch {
	case math.IsInf(lower, -1) && math.IsInf(upper, 1):
		return support.Real.Whole()
	case lower == 0 && math.IsInf(upper, 1):
		return support.Positive.Whole()
	}
	return support.Support{Kind: support.Interval, Lower: lower, Upper: upper}
}

// bound is the number of a bound; `absent` without a bound, NaN if it is not constant.
func bound(x *graph.Node, absent float64) float64 {
	if x == nil {
		return absent
	}
	if v, ok := x.Value(); ok {
		return v
	}
	return math.NaN()
}

// Fits refuses a family without distribution function and bounds in the wrong order, and
// reports the errors of Base.
func (t Truncated) Fits(shape graph.Shape) error {
	if t.Base.LogCDF == nil || t.Base.LogCCDF == nil {
		return fmt.Errorf("%s has no distribution function and cannot be truncated (%s have)", t.Base.Name, listed(func(d *Distribution) bool { return d.LogCDF != nil && d.LogCCDF != nil }))
	}
	lower, upper := bound(t.Lower, math.Inf(-1)), bound(t.Upper, math.Inf(1))
	if t.Base.Support().Discrete() {
		if math.IsNaN(lower) || math.IsNaN(upper) {
			return fmt.Errorf("the bounds of a truncated %s must be numbers", t.Base.Name)
		}
		lower, upper = math.Max(0, math.Ceil(lower))-1, math.Floor(upper)
	}
	if t.Event != nil && t.Upper != nil {
		return errors.New("a censored value has no upper bound here")
	}
	if lower >= upper {
		return fmt.Errorf("truncated between %g and %g leaves nothing", bound(t.Lower, math.Inf(-1)), bound(t.Upper, math.Inf(1)))
	}
	for _, x := range []*graph.Node{t.Lower, t.Upper} {
		if x == nil {
			continue
		}
		for _, d := range x.Shape() {
			if i := shape.Index(d.Name); i < 0 || shape[i] != d {
				return fmt.Errorf("a bound %v has dim %s, which the value %v lacks", x.Shape(), d.Name, shape)
			}
		}
	}
	return t.Base.Fits(shape)
}

// listed names the distributions with a property.
func listed(has func(*Distribution) bool) string {
	var names []string
	for _, d := range Table {
		if has(d) {
			names = append(names, d.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Inputs are the inputs of Base and the given bounds.
func (t Truncated) Inputs() []*graph.Node {
	in := t.Base.Inputs()
	for _, x := range []*graph.Node{t.Lower, t.Upper} {
		if x != nil {
			in = append(in, x)
		}
	}
	return in
}

// Sampler draws from Base until the value lies between the bounds. It returns NaN after
// RejectionTries draws, as for an interval of hardly any mass.
func (t Truncated) Sampler(shape graph.Shape) Sampler {
	own := len(t.Base.Inputs())
	base := t.Base.Sampler(shape)
	var lowerAt, upperAt []int
	if t.Lower != nil {
		lowerAt = positions(shape, t.Lower.Shape())
	}
	if t.Upper != nil {
		upperAt = positions(shape, t.Upper.Shape())
	}
	draw := make([]float64, shape.Size())
	return func(dst []float64, values [][]float64, rng Rand) {
		for i := range dst {
			dst[i] = math.NaN()
		}
		bounds := values[own:]
		open := len(dst)
		for try := 0; open > 0 && try < family.RejectionTries; try++ {
			base(draw, values[:own], rng)
			for i, x := range draw {
				if !math.IsNaN(dst[i]) {
					continue
				}
				rest := bounds
				inside := true
				if lowerAt != nil {
					inside = x >= rest[0][lowerAt[i]]
					rest = rest[1:]
				}
				if upperAt != nil {
					inside = inside && x <= rest[0][upperAt[i]]
				}
				if inside {
					dst[i] = x
					open--
				}
			}
		}
	}
}
