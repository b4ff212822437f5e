package accountant

import (
	"fmt"
	"math"

	"d3p/internal/privacy/accountant/pairs"
	"d3p/internal/privacy/event"
)

// poisson adds count Poisson-sampled Gaussian steps. Remove and add compose
// each with itself (Zhu, Dong, Wang 2022, arXiv:2106.08567, Theorem 11(1)), all
// segments of a ledger in the same direction; the maximum is taken at the end.
// Substitution has a single pair (pairs.Substitute).
func (c *compiler) poisson(e event.PoissonSampled, count int64) error {
	rate, inner := e.Rate, e.Of
	for {
		nested, ok := inner.(event.PoissonSampled)
		if !ok {
			break
		}
		rate, inner = rate*nested.Rate, nested.Of
	}
	if rate == 1 {
		return c.add(inner, count)
	}
	mu, err := c.amplified("Poisson sampling", inner)
	if err != nil {
		return err
	}
	kinds, key := []pairs.Kind{pairs.Remove, pairs.Add}, pairs.Key{S: 1 / mu, Q: rate}
	switch {
	case c.rel == event.Substitute:
		if err := c.single("Poisson sampling"); err != nil {
			return err
		}
		kinds = []pairs.Kind{pairs.Substitute, pairs.Substitute, pairs.Substitute}
	case c.group > 1:
		kinds, key.N = []pairs.Kind{pairs.GroupRemove, pairs.GroupAdd}, c.group
	}
	c.mergeEach(kinds, key, count)
	return nil
}

// amplified is the μ of the Gaussian releases `of` on one sample.
func (c *compiler) amplified(sampling string, of event.Event) (mu float64, err error) {
	mu, ok := innerGaussian(of)
	if !ok {
		return 0, c.unsupported(fmt.Sprintf("%s of %T", sampling, of), "only Gaussian releases can be amplified", "")
	}
	return mu, nil
}

// mergeEach merges, into every direction, the pair key of that direction's
// kind; a μ of 0 costs nothing.
func (c *compiler) mergeEach(kinds []pairs.Kind, key pairs.Key, count int64) {
	if math.IsInf(key.S, 1) {
		return
	}
	for i, d := range c.everywhere() {
		key.Kind = kinds[i]
		d.merge(key, count)
	}
}

// fixedSize adds count Gaussian steps on uniform subsets of fixed size. A
// batch without record i, R+{j}, is coupled with the batch R+{i}: the sum moves
// by g_i - g_j, of norm up to 2C. Under add_remove batches are of all records: where
// absent ones fill up a population, as in d3p fit, those that come replace null records.
//
// Under substitution advanced joint convexity (Balle, Barthe, Gaboardi 2018,
// arXiv:1807.01647) bounds the profile by that of remove for alpha >= 1 and of
// add for alpha < 1. Different data attain the two, and an adversary may
// alternate them, so neither self-composition is a bound (Lebeda, Regehr,
// Kamath, Steinke 2024, arXiv:2407.09597); as attacks they bound the bracket
// from below. A maximum of two profiles is a profile: the envelope is a bound.
func (c *compiler) fixedSize(e event.FixedSizeSampled, count int64) error {
	mu, err := c.amplified("fixed-size sampling", e.Of)
	if err != nil {
		return err
	}
	if c.rel == event.ZeroOut {
		return c.unsupported("fixed-size sampling", "no dominating pair is known: the null record displaces another", "use add_remove or substitute")
	}
	if e.Batch == e.Population {
		c.gaussian(2*float64(c.group)*mu, count)
		return nil
	}
	if err := c.single("fixed-size sampling"); err != nil {
		return err
	}
	rate := float64(e.Batch) / float64(e.Population)
	kinds := []pairs.Kind{pairs.Remove, pairs.Add}
	if c.rel == event.Substitute {
		kinds = []pairs.Kind{pairs.Envelope, pairs.Remove, pairs.Add}
		c.envelope = true
	} else {
		c.note("batches of fixed size, of all records that there are: d3p fit fills up fewer than declared, for which this is not proven, and asks for substitute")
	}
	c.mergeEach(kinds, pairs.Key{S: 1 / (2 * mu), Q: rate}, count)
	return nil
}

// ballsAndBins adds count epochs in which every record goes to one random
// batch, independently of all others: N(0, s² I) against the mean of m shifted
// copies (Chua et al. 2024, arXiv:2412.16802). Conditional on the assignment an epoch is one Gaussian step, which
// bounds it too; the epoch pair is smaller.
func (c *compiler) ballsAndBins(e event.BallsAndBins, count int64) error {
	mu, err := c.amplified("balls-and-bins sampling", e.Of)
	if err != nil {
		return err
	}
	if c.rel == event.Substitute {
		return c.unsupported("balls-and-bins sampling", "no dominating pair is known for two records that move at once", "use add_remove")
	}
	if e.Batches == 1 {
		c.gaussian(float64(c.group)*mu, count)
		return nil
	}
	if err := c.single("balls-and-bins sampling"); err != nil {
		return err
	}
	c.mergeEach([]pairs.Kind{pairs.BallsRemove, pairs.BallsAdd}, pairs.Key{S: 1 / mu, N: e.Batches}, count)
	return nil
}

// shuffled adds count epochs with every record in exactly one batch, at a
// position that is taken as known: no amplification. Given the permutation an
// epoch is one Gaussian step; joint convexity removes the condition.
func (c *compiler) shuffled(e event.Shuffled, count int64) error {
	mu, ok := innerGaussian(e.Of)
	if !ok {
		return c.unsupported(fmt.Sprintf("shuffling of %T", e.Of), "only Gaussian releases are implemented", "")
	}
	if c.rel == event.AddRemove {
		return c.unsupported("shuffling", "adding a record moves the positions of all others", "use zero_out or substitute, or sample by balls-and-bins or Poisson")
	}
	c.gaussian(c.shift()*mu, count)
	c.note("shuffled epochs: no amplification by shuffling is proven, so none is claimed; Poisson accounting does not apply, and balls-and-bins sampling costs far less")
	return nil
}

// epsilonDelta adds count steps that are known by their (ε, δ) alone, a statement about
// one record under the ledger's own relation; for a group the general lemma applies.
func (c *compiler) epsilonDelta(e event.EpsilonDelta, count int64) error {
	epsilon, delta := float64(c.group)*e.Epsilon, e.Delta
	if delta > 0 {
		delta *= geometric(c.group, e.Epsilon)
	}
	if !(delta < 1) {
		return &InfeasibleError{
			Why:  fmt.Sprintf("an (epsilon, delta) step of the ledger has no bound for a group of %d records", c.group),
			Hint: "ask for a smaller group",
		}
	}
	if epsilon > 0 {
		c.everyMerge(pairs.Key{Kind: pairs.BlackBox, S: epsilon}, count)
	}
	for _, d := range c.everywhere() {
		d.noDP += float64(count) * math.Log1p(-delta)
	}
	return nil
}

// discreteGaussian adds count univariate discrete Gaussian releases.
func (c *compiler) discreteGaussian(e event.DiscreteGaussian, count int64) error {
	sigma := e.NoiseMultiplier * float64(e.Sensitivity)
	if sigma > pairs.MaxDiscreteSigma {
		return c.unsupported("discrete Gaussian noise", fmt.Sprintf("a standard deviation of %v integers is above the limit of %d", sigma, pairs.MaxDiscreteSigma), "")
	}
	c.everyMerge(pairs.Key{Kind: pairs.Discrete, S: sigma, N: int(c.shift()) * e.Sensitivity}, count)
	return nil
}

// innerGaussian reports the μ (shift C over noise) of the single Gaussian
// that releases on one and the same sample add up to.
func innerGaussian(ev event.Event) (mu float64, ok bool) {
	switch e := ev.(type) {
	case event.Gaussian:
		return 1 / e.NoiseMultiplier, true
	case event.SelfComposed:
		mu, ok = innerGaussian(e.Of)
		return mu * math.Sqrt(float64(e.Count)), ok
	case event.Composed:
		sum := 0.0
		for _, of := range e.Events {
			mu, ok := innerGaussian(of)
			if !ok {
				return 0, false
			}
			sum += mu * mu
		}
		return math.Sqrt(sum), true
	}
	return 0, false
}
