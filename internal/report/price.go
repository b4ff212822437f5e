package report

import (
	"errors"
	"math"
	"slices"
	"sync"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// Price is everything in a report that follows from the event, the neighbouring
// relation and delta alone; whoever has dp_event.json can compute it again.
type Price struct {
	Answer       accountant.Answer // of epsilon at the claim's delta
	Curve        []Point
	GDP          GDP
	Together     []Together
	Limits       []Limit
	CrossCheck   *CrossCheck // nil when the event has no Renyi bound
	ZCDP         *ZCDP
	Variants     []Variant
	Risk         *Risk
	PerIteration []Spent
}

// PriceOf asks the accountant for all numbers of the report about an event. iterations is
// the number of steps of the event.
func PriceOf(ev event.Event, rel event.Relation, delta float64, iterations int) (*Price, error) {
	answer, err := accountant.Epsilon(ev, rel, delta)
	if err != nil {
		return nil, err
	}
	whole, err := accountant.NewCurve(ev, rel)
	if err != nil {
		return nil, err
	}
	claim := Point{answer.Upper, delta}
	p := &Price{Answer: answer, Curve: curvePoints(whole, claim), Limits: limits(whole.Loss(delta)), Risk: RiskOf(whole)}
	if p.Together, err = together(ev, rel, claim); err != nil {
		return nil, err
	}
	p.GDP = GDPOf(whole)
	if bound, err := accountant.Renyi(ev, rel, delta); err == nil && !math.IsInf(bound.Epsilon, 1) {
		p.CrossCheck = &CrossCheck{"Renyi differential privacy: valid but loose", bound.Epsilon, bound.Order}
	}
	p.ZCDP = zcdp(ev, rel)
	if p.Variants, err = variants(ev, rel, delta); err != nil {
		return nil, err
	}
	p.PerIteration, err = perIteration(ev, rel, claim, iterations)
	return p, err
}

// curvePoints are certified points from delta 1e-9 to 0.1, half a decade apart. The claim
// is the point at its delta.
func curvePoints(whole *accountant.Curve, claim Point) []Point {
	var points []Point
	for i := range 17 {
		delta := math.Pow(10, -9+float64(i)/2)
		if i%2 == 0 {
			delta = math.Pow10(i/2 - 9)
		}
		epsilon := whole.Epsilon(delta)
		if delta == claim.Delta {
			epsilon = claim.Epsilon
		}
		if !math.IsInf(epsilon, 1) {
			points = append(points, Point{epsilon, delta})
		}
	}
	return points
}

// together is the price of the run for k units that are all in the data or none of them,
// at the claim's delta; or, if that is not known, the consequence of the claim for them:
// k epsilon, and delta (e^(k epsilon) - 1)/(e^epsilon - 1). Dwork and Roth 2014, lemma
// 2.2; Vadhan 2017. A group without a finite bound is left out.
func together(ev event.Event, rel event.Relation, claim Point) ([]Together, error) {
	var list []Together
	for _, k := range []int{2, 5, 10} {
		var unknown *accountant.UnsupportedError
		answer, err := accountant.GroupEpsilon(ev, rel, k, claim.Delta)
		group := Together{k, answer.Upper, claim.Delta}
		if errors.As(err, &unknown) {
			group, err = implied(claim, k), nil
		}
		if err != nil {
			return nil, err
		}
		if group.Delta < 1 {
			list = append(list, group)
		}
	}
	return list, nil
}

func implied(claim Point, k int) Together {
	epsilon, delta := float64(k)*claim.Epsilon, float64(k)*claim.Delta
	if claim.Epsilon > 0 {
		delta = claim.Delta * math.Expm1(epsilon) / math.Expm1(claim.Epsilon)
	}
	return Together{k, epsilon, delta}
}

// spendingPoints bounds the points of the spending over iterations.
const spendingPoints = 10

// perIteration is the epsilon of the first steps at the claim's delta, for an event that
// ends in the steps; any other event has only its end, the claim.
func perIteration(ev event.Event, rel event.Relation, claim Point, iterations int) ([]Spent, error) {
	first, pieces, count := steps(ev, iterations)
	points := min(count, spendingPoints)
	list := make([]Spent, points)
	list[points-1] = Spent{iterations, claim.Epsilon}
	failures := make([]error, points)
	var work sync.WaitGroup
	for i := range points - 1 {
		work.Go(func() {
			done := count * (i + 1) / points
			so := slices.Clone(first)
			for k, left := 0, done; left > 0; k++ {
				n := min(left, pieces[k].Count)
				so = append(so, event.SelfComposed{Of: pieces[k].Of, Count: n})
				left -= n
			}
			answer, err := accountant.Epsilon(event.Together(so), rel, claim.Delta)
			list[i], failures[i] = Spent{int(int64(iterations) * done / count), answer.Upper}, err
		})
	}
	work.Wait()
	return list, errors.Join(failures...)
}

// steps divides an event into purchases and the pieces of the steps, with the number of
// their uses: the iterations, or epochs, which are one piece. An event without repetition
// at its end is one use.
func steps(ev event.Event, iterations int) (first []event.Event, pieces []event.SelfComposed, count int64) {
	all := []event.Event{ev}
	if c, ok := ev.(event.Composed); ok && len(c.Events) > 1 {
		all = c.Events
	}
	last, ok := all[len(all)-1].(event.SelfComposed)
	if !ok || last.Count < 1 {
		return nil, []event.SelfComposed{{Of: ev, Count: 1}}, 1
	}
	for i := len(all) - 1; i >= 0; i-- {
		piece, ok := all[i].(event.SelfComposed)
		if !ok || count+piece.Count > int64(iterations) {
			break
		}
		if count += piece.Count; count == int64(iterations) {
			first = all[:i]
			for _, piece := range all[i:] {
				pieces = append(pieces, piece.(event.SelfComposed))
			}
			return first, pieces, count
		}
	}
	return all[:len(all)-1], []event.SelfComposed{last}, last.Count
}
