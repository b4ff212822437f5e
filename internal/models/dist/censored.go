package dist

import (
	"fmt"

	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Censored is a value of Base that is known exactly where Event is 1; where Event is 0
// only a lower bound is known (censored on the right):
//
//	p(x) = Base(x) if Event, P(X > x) if not
//
// Klein and Moeschberger 2003, Survival Analysis, ch. 3.
type Censored struct {
	Base  Applied
	Event *graph.Node // 0 or 1
	// Column is the name of the column that Event reads; "" of any other expression.
	Column string
}

// LogDensity chooses by Event.
func (c Censored) LogDensity(b *graph.Builder, x Observed) *graph.Node {
	return b.Where(c.Event, c.Base.LogDensity(b, x), c.Base.LogCCDF(b, x.X, c.Base.Args))
}

// Mean is the mean of the uncensored value.
func (c Censored) Mean(b *graph.Builder) *graph.Node { return c.Base.Mean(b) }

// Support is the support of Base.
func (c Censored) Support() support.Support { return c.Base.Support() }

// Fits refuses a family without survival function, and reports the errors of Base.
func (c Censored) Fits(shape graph.Shape) error {
	if c.Base.LogCCDF == nil {
		return fmt.Errorf("%s has no survival function and cannot be censored (%s have)", c.Base.Name, listed(func(d *Distribution) bool { return d.LogCCDF != nil }))
	}
	return c.Base.Fits(shape)
}

// Inputs are the inputs of Base.
func (c Censored) Inputs() []*graph.Node { return c.Base.Inputs() }

// Sampler draws the uncensored value, since the model has no law of censoring. Package
// simulate censors it.
func (c Censored) Sampler(shape graph.Shape) Sampler { return c.Base.Sampler(shape) }
