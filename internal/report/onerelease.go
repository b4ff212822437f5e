package report

import (
	"fmt"

	"d3p/internal/fit/plan"
)

// oneRelease has the words for a fit that takes no steps.
type oneRelease struct {
	name, granularity, normaliser string // of the mechanism
	methods                       string // a paragraph; UNIT stands for the unit
	released, price               string // of the claim: the first is a noun, the second ends in its noise multiplier
	access                        string // to the records
	floatingPoint                 string // "": Gaussian noise on a lattice
	assumptions                   []Assumption
}

// releasesOnce are the words for a clipping; nil if the fit takes steps.
func releasesOnce(clipping string) *oneRelease {
	if one, ok := oneReleases[clipping]; ok {
		return &one
	}
	return nil
}

var boundedTable = Assumption{"bounded-table", "the table has at most twice the declared number of records", Declared,
	"what rounding can change of a probability grows with their number, and the price counts so many"}

var oneReleases = map[string]oneRelease{
	plan.ClippingScore: {
		name:        "one draw of the posterior by the No-U-Turn sampler: the exponential mechanism",
		granularity: "the score of a unit, between its bounds", normaliser: "none: the weight of the scores follows from epsilon",
		methods: "One draw of a posterior, in which the score of every UNIT lies between bounds and the scores have the weight that the budget allows, was made by the No-U-Turn sampler (Hoffman and Gelman 2014) and released. The guarantee takes that draw to be exact.",
		access:  "sums of scores and their gradients at every step of the sampler; only the last draw leaves", floatingPoint: "the last bits of the draw depend on the sampler's arithmetic: the guarantee holds for an exact draw",
		assumptions: []Assumption{
			{"exact-draw", "the released draw follows the posterior exactly", Declared,
				"it is the last of a chain of the No-U-Turn sampler, which draws nearly from the posterior; how far four chains agree is in private/, because it depends on the records"},
			{"bounded-score", "the score of one unit stays within an interval of known length", Holds,
				"the score is that of a beta divergence of a bounded density"},
		},
	},
	plan.ClippingSlope: {
		name:        "one exact draw of the posterior: the exponential mechanism of a strongly log-concave density",
		granularity: "the slope of a unit's log likelihood, by its weight", normaliser: "none: the weights follow from epsilon",
		methods:  "One draw of a posterior, in which every UNIT has the weight that the budget allows, was made exactly, by rejection, and released; the prior is normal, so that the draw is Gaussian differentially private (Gopi et al. 2022).",
		released: "draw of the posterior", price: "an exact draw from a strongly log-concave posterior, which costs what a Gaussian of noise multiplier",
		access:        "sums of the log likelihood at every proposal of the sampler; only the accepted one leaves",
		floatingPoint: "the draw is a point of a public lattice, and its price counts what rounding can change of its probability",
		assumptions: []Assumption{
			{"bounded-slope", "the weighted log likelihood of one unit has a bounded slope, and the prior is normal", Holds,
				"each record has the weight that its own columns allow, in units of the prior, and the posterior is drawn from by rejection, exactly"},
			boundedTable,
		},
	},
	plan.ClippingSquares: {
		name:        "one Gaussian release of second moments, and an estimate of a linear regression from them",
		granularity: "the products of a unit's design and response, together", normaliser: "the noisy number of records",
		methods:  "Second moments of design and response, each UNIT's shortened in L2 norm, were released with Gaussian noise; the coefficients are the least squares of these moments with a ridge that makes the noisy design invertible (Wang 2018). They have neither a prior nor intervals.",
		released: "estimate", price: "one release of second moments, which costs what a Gaussian of noise multiplier",
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
		"The price was computed for %s %.4g costs; it lies %s.", o.released, model, claim, o.price, m.NoiseMultiplier, between)
}
