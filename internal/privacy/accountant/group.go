package accountant

import (
	"errors"
	"fmt"
	"math"

	"d3p/internal/privacy/event"
)

// GroupEpsilon answers: for which ε is the ledger (ε, delta)-differentially private
// for a group of up to `size` records that are all in the table or none of them (under
// substitution: that are all replaced), such as the rows of one person where rows are
// the units. The pairs are those of docs/accounting.md; where none is known the answer
// is that of the general lemma, marked "lemma" and not certified as tight. Errors as in
// Epsilon; *InputError for a size that is not in 1..MostGroup.
func GroupEpsilon(ev event.Event, rel event.Relation, size int, delta float64) (Answer, error) {
	if size < 1 || size > MostGroup {
		return Answer{}, &InputError{Name: "group size", Value: float64(size), Want: fmt.Sprintf("a number of records from 1 to %d", MostGroup)}
	}
	if size == 1 {
		return Epsilon(ev, rel, delta)
	}
	if !(delta > 0 && delta < 1) {
		return Answer{}, &InputError{Name: "delta", Value: delta, Want: "a number in (0, 1)"}
	}
	led, err := compileGroup(ev, rel, size)
	var unsupported *UnsupportedError
	if errors.As(err, &unsupported) {
		return lemma(ev, rel, size, delta, unsupported)
	}
	if err != nil {
		return Answer{}, err
	}
	return led.answer(certifyWidth, func(d *direction, width float64) (Direction, error) { return d.epsilon(delta, width) })
}

// engineLemma names answers by the general lemma.
const engineLemma = "lemma"

// lemma is an upper bound for a group of K records by K steps between neighbours: what
// is (ε, δ)-private for one record is (Kε, Σ_{j<K} e^{jε} δ)-private for K (Vadhan 2017,
// doi:10.1007/978-3-319-57048-8_7, Lemma 2.2). The smallest ε for which that δ is delta
// is approached from below, and passed.
func lemma(ev event.Event, rel event.Relation, size int, delta float64, why error) (Answer, error) {
	const past, tries = 1e-3, 60
	epsilonAt := func(delta float64) (Answer, error) {
		return answer(ev, rel, looseWidth, func(d *direction, width float64) (Direction, error) { return d.epsilon(delta, width) })
	}
	one, err := epsilonAt(delta)
	if err != nil {
		return Answer{}, err
	}
	led, err := compile(ev, rel)
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
			return Answer{
				Lower: one.Lower, Estimate: upper, Upper: upper, Engine: engineLemma, Seconds: one.Seconds, Notes: append(led.notes,
					fmt.Sprintf("the bound for a group is that of the general lemma, which may be far above the exact value: %v", why)),
			}, nil
		}
		epsilon = next.Upper * (1 + past)
	}
	return Answer{}, &InfeasibleError{
		Why:  fmt.Sprintf("no epsilon for a group of %d records follows from the general lemma: %v", size, why),
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
