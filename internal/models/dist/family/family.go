// Package family has the type of a distribution, and the functions that the densities and
// draws of several distributions share.
//
// Shapes: batch dims are independent repetitions, event dims belong to one draw (the levels
// of a categorical's logits, the two dims of a Cholesky factor) and always come last.
package family

import (
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// A Distribution describes a family: its arguments, where its values lie, its
// density on the graph and how to draw from it.
type Distribution struct {
	Name      string
	Summary   string // one line for the manual's table, which a test writes
	Args      []Arg
	EventRank int // number of event dims of a value: 0 number, 1 vector, 2 matrix

	// Support of a value. The numbers are the arguments in the order of Args,
	// NaN for one that is absent or not a constant.
	Support func(args []float64) support.Support

	// Check reports arguments that do not go together; nil if all do.
	Check func(args []*graph.Node) error

	// LogDensity of x, with event dims summed and batch dims kept. Arguments
	// come in the order of Args; the absent one of two alternatives is nil.
	// x is assumed to lie in the support: declared bounds and transforms see to
	// that before a record is read.
	LogDensity func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node

	// Mean of a value, nil if it has none (or, for levels, no number).
	Mean func(b *graph.Builder, args []*graph.Node) *graph.Node

	// Tail is E[X; X > x], the part of the mean above x, for x as in LogCDF; nil if it has
	// no formula.
	Tail func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node

	// LogCDF is log P(X <= x) and LogCCDF log P(X > x), for a value x or, for a count, -1.
	// Both are nil without a distribution function; such a family cannot be censored or
	// truncated.
	LogCDF, LogCCDF func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node

	// Coordinates are the laws of the unconstrained numbers behind a value whose elements
	// depend on each other. Nil if LogCDF and LogCCDF give the law, or if it has none.
	Coordinates func(b *graph.Builder, args []*graph.Node, u *graph.Node, shape graph.Shape) Coordinates

	// Power describes the density f of a family with a location and a scale, for the
	// scores of beta divergences; nil for other families.
	Power func(args []*graph.Node, beta float64) Power

	// Sample sets dst to one draw: one number, or the event row-major. An
	// argument is a slice with its event, nil for an absent one.
	Sample func(dst []float64, args [][]float64, rng Rand)
}

// Power is the integral of f^β for a density f of scale 1, of a family with a location.
type Power struct {
	Scale       *graph.Node // the family's; nil if an argument that must be a number is no number
	LogIntegral float64     // log ∫ f(z)^β dz
	LogHeight   float64     // log of the largest f(z)
	Location    *graph.Node
	LogSlope    float64 // log of the largest |∂f^(β−1)/∂location|/(β−1) at scale 1
}

// An Arg is one argument of a distribution.
type Arg struct {
	Name     string
	Rank     int          // event dims: 0 a number, 1 a vector, 2 a matrix
	Scalar   bool         // a number may replace a vector of equal elements
	Support  support.Kind // the condition on its values
	Optional bool         // Default is the value if it is absent
	Default  float64
	Instead  string // it may be given instead of the argument named here
}

// Rand is a source of random numbers: standard normals, uniforms in [0, 1),
// and 64 random bits. Never the noise of a mechanism.
type Rand interface {
	Normal() float64
	Uniform() float64
	Uint64() uint64
}

// Coordinates are the laws of the unconstrained numbers u behind a value:
// independent of each other, so that a draw inverts one distribution function
// per number. All nodes have the shape of u.
type Coordinates struct {
	LogDensity *graph.Node // of u, the transform's Jacobian included
	LogBelow   *graph.Node // log P(U <= u)
	LogAbove   *graph.Node // log P(U > u)
}

// Always is the Support of a family with the same support, without bounds of its own, for all
// arguments.
func Always(k support.Kind) func([]float64) support.Support {
	return func([]float64) support.Support { return k.Whole() }
}
