package report

import (
	"fmt"

	"d3p/internal/fit/plan"
)

// oneRelease has the words for a fit that takes no steps.
type oneRelease struct {
	name, granularity, normaliser string // of the mechanism
	methods                       string // a paragraph; UNIT stands for the unit
	released, price               string // of the claim: a noun, and a format for the noise multiplier
	access                        string // to the records
	floatingPoint                 string // "": Gaussian noise on a lattice
	assumptions                   []Assumption
}

// releasesOnce returns the words for a clipping by one release; nil if the fit takes steps.
func releasesOnce(clipping string) *oneRelease {
	if one, ok := oneReleases[clipping]; ok {
		return &one
	}
	return nil
}

var boundedTable = Assumption{"bounded-table", "the table has at most twice the declared number of records", Declared,
	"rounding changes probabilities more, the more records there are; the price includes its effect for that number"}

var oneReleases = map[string]oneRelease{
	plan.ClippingScore: {
		name:        "one draw of the posterior by the No-U-Turn sampler: the exponential mechanism",
		granularity: "the score of a unit, between its bounds", normaliser: "none: the weight of the scores follows from epsilon",
		methods: "One draw of a posterior, in which the score of every UNIT lies between bounds and the scores have the weight that the budget allows, was made by the No-U-Turn sampler (Hoffman and Gelman 2014) and released. The guarantee takes that draw to be exact.",
		access:  "sums of scores and their gradients at every step of the sampler; only the last draw leaves", floatingPoint: "the last bits of the draw depend on the sampler's arithmetic: the guarantee holds for an exact draw",
		assumptions: []Assumption{
			{"exact-draw", "the released draw follows the posterior exactly", Declared,
				"it is the last of a chain of the No-U-Turn sampler, which draws nearly from the posterior; R-hat and effective sample sizes of its four chains are in private/sampler.json alone, because they depend on the records"},
			{"bounded-score", "the score of one unit stays within an interval of known length", Holds,
				"the score is that of a beta divergence of a bounded density"},
		},
	},
	plan.ClippingSlope: {
		name:        "one exact draw of the posterior: the exponential mechanism of a strongly log-concave density",
		granularity: "the slope of a unit's log likelihood, by its weight", normaliser: "none: the weights follow from epsilon",
		methods:  "One draw of a posterior, in which every UNIT has the weight that the budget allows, was made exactly, by rejection, and released; the prior is normal, so that the draw is Gaussian differentially private (Gopi et al. 2022).",
		released: "draw of the posterior", price: "an exact draw from a strongly log-concave posterior, which costs what a Gaussian of noise multiplier %.4g costs",
		access:        "sums of the log likelihood at every proposal of the sampler; only the accepted one leaves",
		floatingPoint: "the draw is a point of a public lattice, and its price counts what rounding can change of its probability",
		assumptions: []Assumption{
			{"bounded-slope", "the weighted log likelihood of one unit has a bounded slope, and the prior is normal", Holds,
				"each record has the weight that its own columns allow, in units of the prior, and the posterior is drawn from by rejection, exactly"},
			boundedTable,
		},
	},
	plan.ClippingOutput: {
		name:        "the mode of a logistic regression with Gaussian noise: output perturbation",
		granularity: "a unit's rows, shortened in units of the prior", normaliser: "none: a ridge bounds how far a unit moves the mode",
		methods:  "The mode of a logistic regression with normal priors and a ridge was found, with the design of every UNIT shortened in units of the prior, and released with Gaussian noise (Chaudhuri et al. 2011). It has no intervals.",
		released: "estimate", price: "one release of the mode, which costs what a Gaussian of noise multiplier %.4g costs",
		access: "sums of gradients at every step of the search for the mode; only the mode leaves, with noise",
		assumptions: []Assumption{{"bounded-rows", "the mode moves by at most a bound when one unit comes or goes", Holds,
			"what it minimises is strongly convex, and the slope of a unit's part is at most the length to which its rows are shortened; the noise covers the rounding of the search, too"},
			boundedTable},
	},
	plan.ClippingObjective: {
		name:        "the mode of a logistic regression with a random linear term: objective perturbation",
		granularity: "a unit's row, shortened in units of the prior", normaliser: "none: a ridge bounds what a unit adds to the curvature",
		methods:  "The mode of a logistic regression with normal priors, a ridge and a random linear term, normal by the budget, was found, with the design of every UNIT shortened in units of the prior (Kifer et al. 2012), and released with a little Gaussian noise that covers the rounding of the search (Iyengar et al. 2019). It has no intervals.",
		released: "estimate", price: "the minimum of a randomly tilted objective, which costs what a Gaussian of noise multiplier %.4g costs",
		access: "sums of gradients at every step of the search for the mode; only the mode leaves, with a little noise",
		assumptions: []Assumption{{"bounded-rows", "what is minimised is strongly convex, and one unit adds a function of one direction with a bounded slope and curvature", Holds,
			"rows are shortened in units of the prior, and a row is a unit"},
			boundedTable},
	},
	plan.ClippingSquares: {
		name:        "one Gaussian release of second moments, and an estimate of a linear regression from them",
		granularity: "the products of a unit's design and response, together", normaliser: "the noisy number of records",
		methods:  "Second moments of design and response, each UNIT's shortened in L2 norm, were released with Gaussian noise; the coefficients are the least squares of these moments with a ridge that makes the noisy design invertible (Wang 2018). They have neither a prior nor intervals.",
		released: "estimate", price: "one release of second moments, which costs what a Gaussian of noise multiplier %.4g costs",
		access: "one noisy sum of second moments",
		assumptions: []Assumption{{"bounded-moments", "one unit adds at most a bound to the second moments", Holds,
			"the products of a record are shortened together in L2 norm, in whole multiples of a public number; a record with a number that is not finite adds nothing"}},
	},
}

// claim states what was released and what it costs.
func (o *oneRelease) claim(model, claim, between string, m *Mechanism) string {
	if m.Clip.Mode == plan.ClippingScore {
		return fmt.Sprintf("The released draw of the posterior of model %s satisfies %s, if the sampler's draw is exact, which is not proven. So does everything computed from the released files. "+
			"The price lies %s; at delta 0 it is %s.", model, claim, between, Upward(m.Epsilon))
	}
	return fmt.Sprintf("The released %s of model %s satisfies %s. So does everything computed from the released files. "+
		"The price was computed for %s; it lies %s.", o.released, model, claim, fmt.Sprintf(o.price, m.NoiseMultiplier), between)
}
