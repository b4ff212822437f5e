package accountant

import (
	"fmt"
	"math"

	"d3p/internal/privacy/event"
)

// direction is a ledger seen from one ordered pair of neighbours: independent
// losses to be added up.
type direction struct {
	name   string
	mu2    float64 // Σ T μ² over the Gaussian steps, which add up to one Gaussian
	parts  []part  // all other steps, equal ones merged
	attack bool    // for information only: need not be narrow
	// unreliable: some epoch pair could not be computed well enough, so only
	// the bound without its amplification holds. Set by prepare.
	unreliable bool
	noDP       float64 // log P(no infinite loss) = Σ T log1p(-p∞), from (ε, δ) steps
}

// part is count independent losses of the same pair.
type part struct {
	key   pairKey
	count int64
	pair  *pair // built by direction.prepare
}

// ledger is what an event costs under a relation: the directions to be
// composed, explicit attacks that show how loose a bound can be, and notes.
type ledger struct {
	directions []*direction
	attacks    []*direction
	notes      []string
}

// compile translates ev into dominating pairs. It is the only place that
// decides which pair belongs to which sampler and relation.
func compile(ev event.Event, rel event.Relation) (*ledger, error) {
	if err := event.Validate(ev); err != nil {
		return nil, err
	}
	led := &ledger{}
	switch rel {
	case event.AddRemove:
		led.directions = []*direction{{name: "remove"}, {name: "add"}}
	case event.ZeroOut:
		led.directions = []*direction{{name: "zero_out"}, {name: "zero_in"}}
	case event.Substitute:
		led.directions = []*direction{{name: "substitute"}}
		// only fixed-size sampling makes these differ from the claim
		led.attacks = []*direction{{name: "attack_remove", attack: true}, {name: "attack_add", attack: true}}
	default:
		return nil, &UnsupportedError{What: fmt.Sprintf("neighbouring relation %q", rel), Why: "unknown"}
	}
	c := &compiler{rel: rel, ledger: led}
	if err := c.add(ev, 1); err != nil {
		return nil, err
	}
	if !c.envelope {
		led.attacks = nil
	}
	return led, nil
}

type compiler struct {
	*ledger
	rel      event.Relation
	envelope bool // some step is bounded by an envelope: the attacks are informative
	noted    map[string]bool
}

func (c *compiler) note(s string) {
	if c.noted == nil {
		c.noted = map[string]bool{}
	}
	if !c.noted[s] {
		c.noted[s] = true
		c.notes = append(c.notes, s)
	}
}

func (c *compiler) unsupported(what, why, hint string) error {
	return &UnsupportedError{What: what + " under " + string(c.rel), Why: why, Hint: hint}
}

// shift is how far one record moves a full sum, in units of C.
func (c *compiler) shift() float64 {
	if c.rel == event.Substitute {
		return 2
	}
	return 1
}

// add adds count repetitions of ev to every direction.
func (c *compiler) add(ev event.Event, count int64) error {
	if count == 0 {
		return nil
	}
	switch e := ev.(type) {
	case event.Composed:
		for _, of := range e.Events {
			if err := c.add(of, count); err != nil {
				return err
			}
		}
		return nil
	case event.SelfComposed:
		if e.Count > 0 && count > math.MaxInt64/e.Count {
			return &InputError{Name: "steps", Value: float64(count) * float64(e.Count), Want: "below 2^63"}
		}
		return c.add(e.Of, count*e.Count)
	case event.Gaussian:
		c.gaussian(c.shift()/e.NoiseMultiplier, count)
		return nil
	case event.Laplace:
		c.everyMerge(pairKey{kind: laplaceKind, s: e.NoiseMultiplier / c.shift()}, count)
		return nil
	case event.DiscreteGaussian:
		return c.discreteGaussian(e, count)
	case event.EpsilonDelta:
		// its (ε, δ) is a statement about the ledger's own relation
		if e.Epsilon > 0 {
			c.everyMerge(pairKey{kind: blackBoxKind, s: e.Epsilon}, count)
		}
		for _, d := range c.everywhere() {
			d.noDP += float64(count) * math.Log1p(-e.Delta)
		}
		return nil
	case event.PoissonSampled:
		return c.poisson(e, count)
	case event.FixedSizeSampled:
		return c.fixedSize(e, count)
	case event.BallsAndBins:
		return c.ballsAndBins(e, count)
	case event.Shuffled:
		return c.shuffled(e, count)
	case event.NonPrivate:
		return &UnsupportedError{What: "non-private release", Why: "the ledger contains a release without noise, so no epsilon holds"}
	}
	panic(fmt.Sprintf("accountant: event %T passed validation", ev))
}

// gaussian adds count Gaussian steps of shift mu standard deviations.
func (c *compiler) gaussian(mu float64, count int64) {
	for _, d := range c.everywhere() {
		d.mu2 += float64(count) * mu * mu
	}
}

// everywhere is every direction, attacks included.
func (c *compiler) everywhere() []*direction {
	return append(append([]*direction{}, c.directions...), c.attacks...)
}

// poisson adds count Poisson-sampled Gaussian steps. Remove and add compose
// each with itself, because the relation is ordered (Zhu, Dong, Wang 2022,
// Theorem 11); substitution has the single pair of docs/accounting.md.
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
	mu, ok := innerGaussian(inner)
	if !ok {
		return c.unsupported(fmt.Sprintf("Poisson sampling of %T", inner), "only Gaussian releases can be amplified", "")
	}
	if mu == 0 {
		return nil
	}
	for i, d := range c.everywhere() {
		kind := subPair
		if c.rel != event.Substitute {
			kind = [...]pairKind{removePair, addPair}[i]
		}
		d.merge(pairKey{kind: kind, s: 1 / mu, q: rate}, count)
	}
	return nil
}

// fixedSize adds count Gaussian steps on uniform subsets of fixed size. A
// record displaces another one, so the shift is 2C. Under substitution an
// adversary may choose remove in one step and add in the next, so only the
// envelope of both profiles composes (Lebeda, Regehr, Kamath, Steinke 2024,
// arXiv:2407.09597); the two self-compositions are attacks.
func (c *compiler) fixedSize(e event.FixedSizeSampled, count int64) error {
	mu, ok := innerGaussian(e.Of)
	if !ok {
		return c.unsupported(fmt.Sprintf("fixed-size sampling of %T", e.Of), "only Gaussian releases can be amplified", "")
	}
	if c.rel == event.ZeroOut {
		return c.unsupported("fixed-size sampling", "no dominating pair is known: the null record displaces another", "use add_remove or substitute")
	}
	if mu == 0 {
		return nil
	}
	if e.Batch == e.Population {
		c.gaussian(2*mu, count)
		return nil
	}
	rate := float64(e.Batch) / float64(e.Population)
	kinds := []pairKind{removePair, addPair}
	if c.rel == event.Substitute {
		kinds = []pairKind{envelopePair, removePair, addPair}
		c.envelope = true
	}
	for i, d := range c.everywhere() {
		d.merge(pairKey{kind: kinds[i], s: 1 / (2 * mu), q: rate}, count)
	}
	return nil
}

// ballsAndBins adds count epochs in which every record goes to one random
// batch. Conditional on the assignment an epoch is one Gaussian step, which
// bounds it too; the epoch pair is smaller.
func (c *compiler) ballsAndBins(e event.BallsAndBins, count int64) error {
	mu, ok := innerGaussian(e.Of)
	if !ok {
		return c.unsupported(fmt.Sprintf("balls-and-bins sampling of %T", e.Of), "only Gaussian releases can be amplified", "")
	}
	if c.rel == event.Substitute {
		return c.unsupported("balls-and-bins sampling", "no dominating pair is known for two records that move at once", "use add_remove")
	}
	if mu == 0 {
		return nil
	}
	if e.Batches == 1 {
		c.gaussian(mu, count)
		return nil
	}
	for i, d := range c.directions {
		d.merge(pairKey{kind: [...]pairKind{ballsRemovePair, ballsAddPair}[i], s: 1 / mu, n: e.Batches}, count)
	}
	return nil
}

// shuffled adds count epochs with every record in exactly one batch, at a
// position that is taken as known: no amplification.
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

// discreteGaussian adds count univariate discrete Gaussian releases.
func (c *compiler) discreteGaussian(e event.DiscreteGaussian, count int64) error {
	sigma := e.NoiseMultiplier * float64(e.Sensitivity)
	if sigma > maxDiscreteSigma {
		return c.unsupported("discrete Gaussian noise", fmt.Sprintf("a standard deviation of %v integers is above the limit of %d", sigma, maxDiscreteSigma), "")
	}
	c.everyMerge(pairKey{kind: discreteKind, s: sigma, n: int(c.shift()) * e.Sensitivity}, count)
	return nil
}

// everyMerge merges the same pair into every direction.
func (c *compiler) everyMerge(key pairKey, count int64) {
	for _, d := range c.everywhere() {
		d.merge(key, count)
	}
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

// merge adds count losses of the pair key.
func (d *direction) merge(key pairKey, count int64) {
	for i := range d.parts {
		if d.parts[i].key == key {
			d.parts[i].count += count
			return
		}
	}
	d.parts = append(d.parts, part{key: key, count: count})
}
