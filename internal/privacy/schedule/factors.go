// Package schedule has public schedules of the steps of a fit: of their noise, their
// sampling rates and their clip norms.
package schedule

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
)

// Factors are public factors, step after step: a step with factor f has the noise multiplier
// f·σ, the sampling rate f·q, or the clip norm f·C. nil is a constant 1. They are fixed before the first step.
type Factors []Piece

// Piece is a stretch of steps with one factor.
type Piece struct {
	Steps  int     `json:"steps"`
	Factor float64 `json:"factor"`
}

// Constant is the text of the schedule without pieces.
const Constant = "constant"

// Limits of a schedule. Every piece is a separate event, which takes time to account for.
const (
	curvePieces = 32 // of linear and cosine
	mostPieces  = 64
	leastFactor = 0.01
	mostFactor  = 100
)

// Parse reads a schedule for a fit of that many steps:
//
//	constant            factor 1
//	linear:R, cosine:R  from 1 to R, in 32 equal pieces
//	F@S,F@S,...         factor F from share S of the steps on; the first S is 0
func Parse(text string, steps int) (Factors, error) {
	if text == "" || text == Constant {
		return nil, nil
	}
	curve, end, isCurve := strings.Cut(text, ":")
	if !isCurve {
		return parsePieces(text, steps)
	}
	r, err := factor(end)
	if err != nil {
		return nil, err
	}
	var rise func(u float64) float64 // from 0 to 1
	switch curve {
	case "linear":
		rise = func(u float64) float64 { return u }
	case "cosine":
		rise = func(u float64) float64 { return (1 - math.Cos(math.Pi*u)) / 2 }
	default:
		return nil, fmt.Errorf("unknown schedule %s (write constant, linear:R, cosine:R or pieces, as in 2@0,1@0.5)", curve)
	}
	var n Factors
	for k, done := 0, 0; k < curvePieces; k++ {
		until := steps * (k + 1) / curvePieces
		n = n.and(until-done, 1+(r-1)*rise((float64(k)+0.5)/curvePieces))
		done = until
	}
	return n, nil
}

// parsePieces reads F@S,F@S,...
func parsePieces(text string, steps int) (n Factors, err error) {
	list := strings.Split(text, ",")
	if len(list) > mostPieces {
		return nil, fmt.Errorf("%d pieces: at most %d are accounted for", len(list), mostPieces)
	}
	factors, starts := make([]float64, len(list)), make([]float64, len(list))
	for i, piece := range list {
		f, start, ok := strings.Cut(piece, "@")
		if !ok {
			return nil, fmt.Errorf("%q is not a factor and the share of the steps at which it begins (write 2@0,1@0.5, linear:R or cosine:R)", piece)
		}
		if factors[i], err = factor(f); err != nil {
			return nil, err
		}
		s, err := strconv.ParseFloat(start, 64)
		switch {
		case err != nil || !(s >= 0 && s < 1):
			return nil, fmt.Errorf("%q is not a share of the steps, from 0 to below 1", start)
		case i == 0 && s != 0:
			return nil, fmt.Errorf("the first piece begins at %v (begin it at 0)", s)
		case i > 0 && s <= starts[i-1]:
			return nil, fmt.Errorf("a piece begins at %v, not after the piece before it", s)
		}
		starts[i] = s
	}
	for i, f := range factors {
		end := steps
		if i+1 < len(starts) {
			end = int(math.Round(starts[i+1] * float64(steps)))
		}
		n = n.and(end-int(math.Round(starts[i]*float64(steps))), f)
	}
	return n, nil
}

// factor reads a factor.
func factor(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= leastFactor && f <= mostFactor) {
		return 0, fmt.Errorf("%q is not a factor from %v to %v", text, leastFactor, mostFactor)
	}
	return f, nil
}

// and is the schedule with another piece at its end.
func (n Factors) and(steps int, factor float64) Factors {
	last := len(n) - 1
	switch {
	case steps == 0:
	case last >= 0 && n[last].Factor == factor:
		n[last].Steps += steps
	default:
		n = append(n, Piece{steps, factor})
	}
	return n
}

// Check finds mistakes of a schedule for a fit of that many steps.
func (n Factors) Check(steps int) error {
	total := 0
	for _, p := range n {
		if p.Steps < 1 || !(p.Factor >= leastFactor && p.Factor <= mostFactor) {
			return fmt.Errorf("schedule: %d steps with factor %v", p.Steps, p.Factor)
		}
		total += p.Steps
	}
	if n != nil && total != steps {
		return fmt.Errorf("schedule: pieces of %d steps for %d", total, steps)
	}
	return nil
}

// Factor is the factor of a step, counted from 0.
func (n Factors) Factor(step int) float64 {
	f, _ := n.at(step)
	return f
}

// Events are the events of the first `steps` steps under factors of the noise and of the
// sampling rate, in their order. release(f) is the event of a step with factor f of the
// noise. The sampler's configuration must be valid for every rate.
func Events(noise, rate Factors, c sampler.Config, release func(factor float64) event.Event, steps int) (list []event.Event) {
	for done := 0; done < steps; {
		f, noiseEnd := noise.at(done)
		r, rateEnd := rate.at(done)
		end := min(steps, noiseEnd, rateEnd)
		list = append(list, sampler.EventFor(c.Times(r), end-done, release(f)))
		done = end
	}
	return list
}

// Piece is the place of the piece of a step, counted from 0; the last one for steps beyond.
func (n Factors) Piece(step int) int {
	for i, p := range n {
		if step -= p.Steps; step < 0 {
			return i
		}
	}
	return len(n) - 1
}

// at is the factor of a step, counted from 0, and the first step after its piece.
func (n Factors) at(step int) (factor float64, end int) {
	for _, p := range n {
		if end += p.Steps; step < end {
			return p.Factor, end
		}
	}
	return 1, math.MaxInt
}

// Mean is the mean factor of all steps.
func (n Factors) Mean() float64 {
	if n == nil {
		return 1
	}
	sum, steps := 0.0, 0.0
	for _, p := range n {
		sum, steps = sum+float64(p.Steps)*p.Factor, steps+float64(p.Steps)
	}
	return sum / steps
}

// LateSquare is the mean of squared factors under weights that grow with the square of the
// step, which is how late gradients count in the posterior.
func (n Factors) LateSquare() float64 {
	if n == nil {
		return 1
	}
	sum, begin := 0.0, 0.0
	for _, p := range n {
		end := begin + float64(p.Steps)
		sum += (end*end*end - begin*begin*begin) * p.Factor * p.Factor
		begin = end
	}
	return sum / (begin * begin * begin)
}

// Range is the least and the largest factor.
func (n Factors) Range() (least, most float64) {
	if n == nil {
		return 1, 1
	}
	least, most = math.Inf(1), 0
	for _, p := range n {
		least, most = math.Min(least, p.Factor), math.Max(most, p.Factor)
	}
	return least, most
}
