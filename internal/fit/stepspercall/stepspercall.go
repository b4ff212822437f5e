// Package stepspercall decides the number of steps in a call of a device, so that each call ends in
// time: a fit can stop only between two calls. The numbers of a fit do not depend on it.
package stepspercall

import "time"

// First is the number of steps of the first call, Most that of any call. A later call takes
// about half a second, estimated from the call before it.
const (
	First = 16
	Most  = 4096
	most  = time.Second / 2
)

// A Controller follows the calls of one fit.
type Controller struct {
	steps int
	begun time.Time
	clock func() time.Time
}

// New returns a controller with a clock; time.Now if clock is nil.
func New(clock func() time.Time) *Controller {
	if clock == nil {
		clock = time.Now
	}
	return &Controller{steps: First, clock: clock}
}

// Steps is the largest number of steps for the next call.
func (p *Controller) Steps() int { return p.steps }

// Begin marks the start of a call.
func (p *Controller) Begin() { p.begun = p.clock() }

// End marks the end of a call that took the given steps. Steps becomes a power of two, so
// that fits side by side have calls of equal length.
func (p *Controller) End(done int) {
	fit := float64(done) * float64(most) / float64(max(p.clock().Sub(p.begun), 1))
	next := 1
	for next < Most && next < 8*p.steps && 2*float64(next) <= fit {
		next *= 2
	}
	p.steps = next
}
