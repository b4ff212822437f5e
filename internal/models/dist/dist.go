// Package dist lists the distributions of the model language and holds the combinators that
// make densities of densities: mixtures, missing values, censoring, truncation. The
// packages below it hold the distributions, one per file; package family has the type of a
// distribution.
//
// A distribution is written once, as an expression of the density graph; values, gradients
// and device code all derive from it. To add one, write its file and add its line to Table.
// The conformance tests range over the table and ask for golden values (a line in
// testdata/golden.py) and an independent gradient (an entry of oracles in oracles_test.go).
package dist

import (
	"d3p/internal/models/dist/categories"
	"d3p/internal/models/dist/continuous"
	"d3p/internal/models/dist/counts"
	"d3p/internal/models/dist/family"
	"d3p/internal/models/dist/multivariate"
	"d3p/internal/models/dist/survival"
)

// The types that users of densities name; package family describes them.
type (
	Distribution = family.Distribution
	Arg          = family.Arg
	Rand         = family.Rand
)

// Table lists every distribution. It is not to be changed at run time.
var Table = []*Distribution{
	&categories.AdjacentLogistic,
	&counts.Bernoulli,
	&continuous.Beta,
	&counts.BetaBinomial,
	&counts.Binomial,
	&categories.Categorical,
	&continuous.Cauchy,
	&multivariate.Dirichlet,
	&continuous.Exponential,
	&continuous.Gamma,

	&survival.Gompertz,
	&continuous.HalfCauchy,
	&continuous.HalfNormal,
	&continuous.HalfStudentT,
	&continuous.Horseshoe,
	&counts.HurdleNegativeBinomial,
	&counts.HurdlePoisson,
	&continuous.InverseGamma,
	&continuous.InverseGaussian,
	&continuous.Laplace,
	&multivariate.LKJCholesky,
	&survival.LogLogistic,
	&continuous.LogNormal,
	&categories.Multinomial,
	&multivariate.MVN,
	&counts.NegativeBinomial,
	&continuous.Normal,
	&categories.OrderedCloglog,
	&categories.OrderedLogistic,
	&multivariate.OrderedNormal,
	&categories.OrderedProbit,
	&survival.PiecewiseExponential,
	&counts.Poisson,
	&categories.SequentialLogistic,
	&continuous.SkewNormal,
	&continuous.StudentT,
	&continuous.Uniform,
	&survival.Weibull,
	&counts.ZeroInflatedNegativeBinomial,
	&counts.ZeroInflatedPoisson,
	&continuous.ZeroOneInflatedBeta,
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
