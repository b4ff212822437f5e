package accountant

import (
	"fmt"
	"math"

	"d3p/internal/privacy/accountant/grids"
	"d3p/internal/privacy/event"
)

// GroupEpsilon is the ε for which the ledger is (ε, delta)-differentially private for a
// group of up to `size` records that are all in the table or none of them (under
// substitution: that are all replaced), such as the rows of one person where rows are the
// units. The pairs are those of docs/design/accounting.md. Errors as in Epsilon:
// *InputError for a size that is not in 1..MostGroup, too, and *UnsupportedError where no
// pair of a group is known; GroupLemma bounds that.
func GroupEpsilon(ev event.Event, rel event.Relation, size int, delta float64) (Answer, error) {
	if err := checkGroup(size); err != nil {
		return Answer{}, err
	}
	if err := checkDelta(delta); err != nil && delta != 0 {
		return Answer{}, err
	}
	comp, err := compileGroup(ev, rel, size)
	if err != nil {
		return Answer{}, err
	}
	if delta == 0 {
		return comp.pure()
	}
	return comp.answer(certifyWidth, func(d *direction, width float64) (Direction, error) { return d.epsilon(delta, width) })
}

// Outline is GroupEpsilon for callers that accept a rough answer: for a ledger with many
// different steps the bracket is up to 1e-3 wide.
func Outline(ev event.Event, rel event.Relation, size int, delta float64) (Answer, error) {
	if comp, err := compileGroup(ev, rel, size); err == nil && checkDelta(delta) == nil && size <= MostGroup && len(comp.directions[0].Parts) > grids.MaxBlockParts {
		return comp.answer(looseWidth, func(d *direction, width float64) (Direction, error) { return d.epsilon(delta, width) })
	}
	return GroupEpsilon(ev, rel, size, delta)
}

func checkGroup(size int) error {
	if size < 1 || size > MostGroup {
		return &InputError{Name: "group size", Value: float64(size), Want: fmt.Sprintf("a number of records from 1 to %d", MostGroup)}
	}
	return nil
}

// engineLemma names answers by the general lemma.
const engineLemma = "lemma"

// GroupLemma is an upper bound on the ε of GroupEpsilon that holds for every ledger, and
// may be far above it. A group of K records is K steps between neighbours: an (ε,
// δ)-private mechanism for one record is (Kε, Σ_{j<K} e^{jε} δ)-private for K (Vadhan
// 2017, doi:10.1007/978-3-319-57048-8_7, Lemma 2.2). The smallest ε for which that δ is
// delta is approached from below, and passed.
func GroupLemma(ev event.Event, rel event.Relation, size int, delta float64) (Answer, error) {
	const past, tries = 1e-3, 60
	if err := checkGroup(size); err != nil {
		return Answer{}, err
	}
	if err := checkDelta(delta); err != nil {
		return Answer{}, err
	}
	epsilonAt := func(delta float64) (Answer, error) {
		return answer(ev, rel, 1, looseWidth, func(d *direction, width float64) (Direction, error) { return d.epsilon(delta, width) })
	}
	one, err := epsilonAt(delta)
	if err != nil {
		return Answer{}, err
	}
	epsilon := one.Upper
	for range tries {
		left := delta / geometric(size, epsilon)
		if left < 1e-290 {
			break
		}
		next, err := epsilonAt(left)
		if err != nil {
			return Answer{}, err
		}
		if next.Upper <= epsilon { // δ(epsilon) is at most left
			upper := float64(size) * epsilon
			return Answer{Lower: one.Lower, Estimate: upper, Upper: upper, Engine: engineLemma, Seconds: one.Seconds}, nil
		}
		epsilon = next.Upper * (1 + past)
	}
	return Answer{}, &InfeasibleError{
		Why:  fmt.Sprintf("no epsilon for a group of %d records follows from the general lemma", size),
		Hint: "ask for a smaller group or a larger delta",
	}
}

// geometric is Σ_{j<size} e^{j epsilon}.
func geometric(size int, epsilon float64) float64 {
	sum := 0.0
	for j := range size {
		sum += math.Exp(float64(j) * epsilon)
	}
	return sum
}

// MostGroup is the largest group of records that GroupEpsilon answers for.
const MostGroup = 64
