// Package pace decides how many steps a call of a device takes, so that each ends in time:
// a fit is stopped between two calls. The steps' numbers do not depend on it.
package pace

import "time"

// First is the number of steps of the first call, Most that of any. A later call takes
// half a second, as far as the one before it tells.
const (
	First = 16
	Most  = 4096
	most  = time.Second / 2
)

// A Pace follows the calls of one fit.
type Pace struct {
	steps int
	begun time.Time
	clock func() time.Time
}

// New returns a pace by a clock, time.Now if it is nil.
func New(clock func() time.Time) *Pace {
	if clock == nil {
		clock = time.Now
	}
	return &Pace{steps: First, clock: clock}
}

// Steps is the most that the next call may take.
func (p *Pace) Steps() int { return p.steps }

// Begin is called before a call.
func (p *Pace) Begin() { p.begun = p.clock() }

// End is called after it, with the steps that were done. Steps becomes a power of two, so
// that fits side by side have calls of the same length.
func (p *Pace) End(done int) {
	fit := float64(done) * float64(most) / float64(max(p.clock().Sub(p.begun), 1))
	next := 1
	for next < Most && next < 8*p.steps && 2*float64(next) <= fit {
		next *= 2
	}
	p.steps = next
}
