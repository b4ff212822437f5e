// Package dist holds the distributions of the model language, one per file,
// the transforms that map unconstrained parameters to their supports, one per
// file, and the combinators that make densities of densities: mixtures,
// missing values, censoring, truncation.
//
// A distribution is written once, as an expression of the density graph;
// values, gradients and device code all derive from it. To add one, write its
// file and add its line to Table. The conformance tests range over the table
// and ask for what they need: golden values, a line in testdata/golden.py, and
// a second opinion on its gradient, an entry of oracles in oracles_test.go.
//
// Shapes: batch dims are independent repetitions, event dims belong to one
// draw (the levels of a categorical's logits, the two dims of a Cholesky
// factor) and always come last.
package dist

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

	// LogCDF is log P(X <= x), and LogCCDF log P(X > x), for a value x or, of a
	// count, -1; nil where there is no distribution function, and then the family
	// cannot be censored or truncated.
	LogCDF, LogCCDF func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node

	// Sample sets dst to one draw: one number, or the event row-major. An
	// argument is a slice with its event, nil for an absent one.
	Sample func(dst []float64, args [][]float64, rng Rand)
}

// An Arg is one argument of a distribution.
type Arg struct {
	Name     string
	Rank     int             // event dims: 0 a number, 1 a vector, 2 a matrix
	Scalar   bool            // a number may replace a vector of equal elements
	Support  support.Support // what its values must satisfy
	Optional bool            // Default is the value if it is absent
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

// Table lists every distribution. It is not to be changed at run time.
var Table = []*Distribution{
	&adjacentLogistic,
	&bernoulli,
	&beta,
	&betaBinomial,
	&binomial,
	&categorical,
	&cauchy,
	&dirichlet,
	&exponential,
	&gamma,
	&gompertz,
	&halfCauchy,
	&halfNormal,
	&halfStudentT,
	&horseshoe,
	&hurdleNegativeBinomial,
	&hurdlePoisson,
	&inverseGamma,
	&inverseGaussian,
	&laplace,
	&lkjCholesky,
	&logLogistic,
	&logNormal,
	&multinomial,
	&mvn,
	&negativeBinomial,
	&normal,
	&orderedCloglog,
	&orderedLogistic,
	&orderedNormal,
	&orderedProbit,
	&piecewiseExponential,
	&poisson,
	&sequentialLogistic,
	&skewNormal,
	&studentT,
	&uniform,
	&weibull,
	&zeroInflatedNegativeBinomial,
	&zeroInflatedPoisson,
}

// Lookup finds a distribution by its name in the language.
func Lookup(name string) (*Distribution, bool) {
	for _, d := range Table {
		if d.Name == name {
			return d, true
		}
	}
	return nil, false
}

// Names lists the names in Table.
func Names() []string {
	names := make([]string, len(Table))
	for i, d := range Table {
		names[i] = d.Name
	}
	return names
}

// always is the Support of a family whose arguments do not change it.
func always(s support.Support) func([]float64) support.Support {
	return func([]float64) support.Support { return s }
}
