package accountant

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/pairs"
	"d3p/internal/privacy/event"
)

// direction is a composition seen from one ordered pair of neighbours: independent
// losses to be added up.
type direction struct {
	name string
	bracket.Losses
	// unreliable: some epoch pair could not be computed well enough, or a step has
	// hardly any noise, so only the bound without its amplification holds. Set by prepare.
	unreliable bool
	rounded    bool    // the scales of the parts are rounded: the shift is no power of two
	noDP       float64 // log P(no infinite loss) = Σ T log1p(-p∞), from (ε, δ) steps
}

// equals reports that both directions add up the same losses, as of Laplace noise.
func (d *direction) equals(as *direction) bool {
	return d.Mu2 == as.Mu2 && d.noDP == as.noDP && d.rounded == as.rounded && slices.Equal(d.Parts, as.Parts)
}

// composition is an event under a relation: the directions to compose, explicit attacks that
// show how loose a bound can be, and notes.
type composition struct {
	directions []*direction
	attacks    []*direction
	notes      []string
}

// compile translates ev into dominating pairs. It alone decides which pair belongs to which
// sampler and relation.
func compile(ev event.Event, rel event.Relation) (*composition, error) {
	return compileGroup(ev, rel, 1)
}

// compileGroup is compile for neighbours that differ in a group of size records.
func compileGroup(ev event.Event, rel event.Relation, size int) (*composition, error) {
	if err := event.Validate(ev); err != nil {
		return nil, err
	}
	comp := &composition{}
	switch rel {
	case event.AddRemove:
		comp.directions = []*direction{{name: "remove"}, {name: "add"}}
	case event.ZeroOut:
		comp.directions = []*direction{{name: "zero_out"}, {name: "zero_in"}}
	case event.Substitute:
		comp.directions = []*direction{{name: "substitute"}}
		// only fixed-size sampling makes these differ from the claim
		comp.attacks = []*direction{{name: "attack_remove"}, {name: "attack_add"}}
	default:
		return nil, &UnsupportedError{What: fmt.Sprintf("neighbouring relation %q", rel), Why: "unknown"}
	}
	c := &compiler{rel: rel, group: size, composition: comp}
	if err := c.add(ev, 1); err != nil {
		return nil, err
	}
	if !c.envelope {
		comp.attacks = nil
	}
	if fraction, _ := math.Frexp(c.shift()); fraction != 0.5 {
		for _, d := range c.everywhere() {
			d.rounded = true
		}
	}
	return comp, nil
}

type compiler struct {
	*composition
	rel      event.Relation
	group    int     // records that neighbours differ in
	steps    float64 // so far, batches of epochs included
	envelope bool    // some step is bounded by an envelope: the attacks are informative
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

// shift is the distance by which the differing records of neighbours move a full sum, in
// units of C.
func (c *compiler) shift() float64 {
	if c.rel == event.Substitute {
		return 2 * float64(c.group)
	}
	return float64(c.group)
}

// single refuses groups for pairs that are known for one record only.
func (c *compiler) single(what string) error {
	if c.group == 1 {
		return nil
	}
	return c.unsupported(what, fmt.Sprintf("no dominating pair of %d records is known", c.group), "")
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
		if n := float64(count) * float64(e.Count); n > mostSteps {
			return tooManySteps(n)
		}
		return c.add(e.Of, count*e.Count)
	}
	return c.addOne(ev, count)
}

// mostSteps bounds the steps of a ledger, batches of epochs included: up to here they
// are counted without rounding, and no sum of counts runs over.
const mostSteps = 1 << 53

func tooManySteps(n float64) error {
	return &InputError{Name: "steps", Value: n, Want: "at most 2^53"}
}

// addOne is add for an event that is no composition.
func (c *compiler) addOne(ev event.Event, count int64) error {
	n := float64(count)
	if epoch, ok := ev.(event.BallsAndBins); ok {
		n *= float64(epoch.Batches)
	}
	if c.steps += n; c.steps > mostSteps {
		return tooManySteps(c.steps)
	}
	switch e := ev.(type) {
	case event.Gaussian:
		c.gaussian(c.shift()/e.NoiseMultiplier, count)
		return nil
	case event.Laplace:
		c.everyMerge(pairs.Key{Kind: pairs.Laplace, S: e.NoiseMultiplier / c.shift()}, count)
		return nil
	case event.DiscreteGaussian:
		return c.discreteGaussian(e, count)
	case event.EpsilonDelta:
		return c.epsilonDelta(e, count)
	case event.PoissonSampled:
		return c.poisson(e, count)
	case event.FixedSizeSampled:
		return c.fixedSize(e, count)
	case event.BallsAndBins:
		return c.ballsAndBins(e, count)
	case event.Shuffled:
		return c.shuffled(e, count)
	case event.Selected:
		return c.selected(e, count)
	case event.NonPrivate:
		return &UnsupportedError{What: "non-private release", Why: "the ledger contains a release without noise, so no epsilon holds"}
	}
	panic(fmt.Sprintf("accountant: event %T passed validation", ev))
}

// gaussian adds count Gaussian steps of shift mu standard deviations.
func (c *compiler) gaussian(mu float64, count int64) {
	for _, d := range c.everywhere() {
		d.Mu2 += float64(count) * mu * mu
	}
}

// everywhere is every direction, attacks included.
func (c *compiler) everywhere() []*direction {
	return append(append([]*direction{}, c.directions...), c.attacks...)
}

// everyMerge merges the same pair into every direction.
func (c *compiler) everyMerge(key pairs.Key, count int64) {
	for _, d := range c.everywhere() {
		d.merge(key, count)
	}
}

// merge adds count losses of the pair key.
func (d *direction) merge(key pairs.Key, count int64) {
	for i := range d.Parts {
		if d.Parts[i].Key == key {
			d.Parts[i].Count += count
			return
		}
	}
	d.Parts = append(d.Parts, pairs.Part{Key: key, Count: count})
}
