// Package accountant computes the price of a ledger of private releases: a two-sided,
// certified answer for the sampler that really ran.
//
// Two independent engines do the work. The contour engine (package contour) gives about ten
// digits in a millisecond and drives every search. The bracket engine (package bracket)
// gives a rigorous lower and upper bound and certifies the end of every search. An estimate
// outside its bracket is an internal error, never an answer. docs/design/accounting.md has
// the dominating pairs, the reasons why they are valid, and the error budget.
//
// Letters: σ noise multiplier, q sampling rate, T steps, s noise standard deviation per
// unit shift, L privacy loss log(dP/dQ) with outcome ~ P, θ exponential tilt, h grid
// spacing.
package accountant

import (
	"fmt"
	"math"
	"time"

	"d3p/internal/privacy/event"
)

// Answer is a two-sided answer to a question for an epsilon or a delta.
// Lower <= Estimate <= Upper always; the claim to publish is Upper.
type Answer struct {
	// Lower and Upper bracket the value for the dominating pairs of the ledger.
	// They are finite and never negative.
	Lower, Estimate, Upper float64
	// Engine names the method of the bracket: "exact", "bracket" or "rdp" (a Rényi bound:
	// valid but loose, if no grid fits the problem).
	Engine string
	// Certified: Upper is proven up to the rounding analysis of
	// docs/design/accounting.md and, unless Engine is "rdp", close to Lower.
	Certified bool
	Seconds   float64
	// Directions has one entry per ordered pair of neighbours that was
	// composed; Lower, Estimate and Upper are the maxima over them.
	Directions []Direction
	// Notes are statements a reader of the number needs, in plain sentences.
	Notes []string
}

// Direction is the answer for one ordered pair of neighbours.
type Direction struct {
	Name                   string // "remove", "add", "substitute", ...
	Engine                 string
	Lower, Estimate, Upper float64
}

// Target is a privacy guarantee to reach.
type Target struct {
	Epsilon, Delta float64
	Group          int // records that it is about at once; 0 or 1: one
}

// Epsilon answers: for which ε is the ledger ev (ε, delta)-differentially private under
// rel. delta is 0, or from 1e-280 to below 1. Errors: *InfeasibleError if no ε holds at delta 0, *InputError
// for a value out of range, *UnsupportedError for a ledger without a valid accounting under
// rel, *DisagreementError if the engines contradict each other.
func Epsilon(ev event.Event, rel event.Relation, delta float64) (Answer, error) {
	return GroupEpsilon(ev, rel, 1, delta)
}

// Delta answers: for which δ is the ledger ev (epsilon, δ)-differentially
// private under rel. epsilon is >= 0. Errors as in Epsilon.
func Delta(ev event.Event, rel event.Relation, epsilon float64) (Answer, error) {
	return GroupDelta(ev, rel, 1, epsilon)
}

// GroupDelta is Delta for a group of up to size records, see GroupEpsilon.
func GroupDelta(ev event.Event, rel event.Relation, size int, epsilon float64) (Answer, error) {
	if err := checkGroup(size); err != nil {
		return Answer{}, err
	}
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return Answer{}, &InputError{Name: "epsilon", Value: epsilon, Want: "a finite number >= 0"}
	}
	return answer(ev, rel, size, certifyWidth, func(d *direction, width float64) (Direction, error) {
		if width >= looseWidth { // a δ moves by far more than the ε that it is at
			width = looseDeltaWidth
		}
		return d.delta(epsilon, width)
	})
}

// certifyWidth is the relative width of bracket that a certificate aims at; it
// may come out a fifth wider.
const certifyWidth = 8e-5

// answer asks every direction of the ledger the same question, concurrently, and combines
// the answers. ask gets the target width of the bracket, relative. All directions but the
// first first get a wider target, and the narrow one only if they might decide.
func answer(ev event.Event, rel event.Relation, group int, width float64, ask func(d *direction, width float64) (Direction, error)) (Answer, error) {
	comp, err := compileGroup(ev, rel, group)
	if err != nil {
		return Answer{}, err
	}
	return comp.answer(width, ask)
}

// answer is answer for a composition that is compiled.
func (comp *composition) answer(width float64, ask func(d *direction, width float64) (Direction, error)) (Answer, error) {
	start := time.Now()
	asked := append(append([]*direction{}, comp.directions...), comp.attacks...)
	equal := len(comp.directions) == 2 && comp.directions[1].equals(comp.directions[0])
	found, err := each(asked, func(i int, d *direction) (Direction, error) {
		switch {
		case i == 1 && equal:
			return Direction{}, nil
		case i == 0:
			return ask(d, width)
		case i < len(comp.directions):
			return ask(d, math.Max(width, secondWidth))
		}
		return ask(d, math.Max(width, looseWidth))
	})
	if err != nil {
		return Answer{}, err
	}
	if equal {
		found[1] = found[0]
		found[1].Name = asked[1].name
	}
	for i := 1; i < len(comp.directions); i++ {
		if !equal && found[i].Upper > found[0].Lower && found[i].Upper > found[i].Lower {
			if found[i], err = ask(asked[i], width); err != nil {
				return Answer{}, err
			}
		}
	}
	a := Answer{Engine: engineExact, Certified: true, Directions: found, Notes: comp.notes}
	for _, d := range found[:len(comp.directions)] { // attacks are no part of the claim
		a.Lower = math.Max(a.Lower, d.Lower)
		a.Estimate = math.Max(a.Estimate, d.Estimate)
		if d.Upper >= a.Upper {
			a.Upper, a.Engine = d.Upper, d.Engine
		}
	}
	for _, d := range found[len(comp.directions):] { // an attack reaches this value
		if d.Lower > a.Upper*(1+agreement) {
			return Answer{}, &DisagreementError{Direction: d.Name, Lower: d.Lower, Estimate: a.Estimate, Upper: a.Upper}
		}
		a.Lower = math.Min(a.Upper, math.Max(a.Lower, d.Lower))
		a.Estimate = math.Max(a.Estimate, a.Lower)
	}
	if math.IsInf(a.Upper, 1) {
		return Answer{}, &InfeasibleError{Why: "the ledger costs more than the range of numbers holds", Hint: "add noise"}
	}
	a.Certified = a.Engine != engineChernoff || a.Lower == a.Upper
	if w := a.RelativeWidth(); a.Certified && w > usualWidth {
		a.Notes = append(a.Notes, fmt.Sprintf("the bracket is wide: the bound holds, but the exact value may be up to %.2g %% below it, where %v %% is usual", 100*w, 100*usualWidth))
	}
	a.Seconds = time.Since(start).Seconds()
	return a, nil
}

// usualWidth is the relative width that brackets keep to but in the corners
// that docs/design/accounting.md lists.
const usualWidth = 1e-4

// RelativeWidth is (Upper-Lower)/Upper, or 0 when Upper is 0.
func (a *Answer) RelativeWidth() float64 {
	if a.Upper == 0 {
		return 0
	}
	return (a.Upper - a.Lower) / a.Upper
}

// secondWidth is the relative width of the first bracket of every direction but the
// first: of many samplers they cost some percent less.
const secondWidth = 1e-2

// looseWidth is the relative width of the brackets that do not decide.
const looseWidth = 1e-3

// looseDeltaWidth is the same of a δ.
const looseDeltaWidth = 1e-2

// each asks every direction concurrently; the error is the first one's.
func each(directions []*direction, ask func(i int, d *direction) (Direction, error)) ([]Direction, error) {
	found := make([]Direction, len(directions))
	errs := make([]error, len(directions))
	done := make(chan struct{})
	for i, d := range directions {
		go func() {
			found[i], errs[i] = ask(i, d)
			done <- struct{}{}
		}()
	}
	for range directions {
		<-done
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

const (
	engineExact    = "exact"
	engineBracket  = "bracket"
	engineChernoff = "rdp"
)
