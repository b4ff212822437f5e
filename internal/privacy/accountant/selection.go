package accountant

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
	"d3p/internal/privacy/event"
)

// selected adds count selections among trials. docs/design/accounting.md has the theorem:
// with delta(eps) a bound on the profile of every trial in both directions, m = 1/Stop and
// the smallest eps1 for which (m-1) delta(eps1) <= e^eps1 - 1, the selection has a profile
// of at most m delta(eps - 2 eps1).
//
// Proof. A trial names its mechanism, so its hockey sticks are means of those of the
// mechanisms, and delta bounds them. Break ties by an independent uniform number: among
// equal scores that is as good as the first, because trials are independent and alike.
// Let q and q' be the laws of a trial on neighbours, F(y) and F'(y) the probabilities of
// a score of at most that of y, and f(x) = E[x^K] = x/(m - (m-1)x), K the number of
// trials. The selection has density q f'(F), with f'(x) = m/(m - (m-1)x)² <= m. By the
// guarantee, 1 - F' <= e^eps1 (1 - F) + delta(eps1). So m - (m-1)F' = 1 + (m-1)(1 - F')
// <= e^eps1 (m - (m-1)F) + (m-1) delta(eps1) - (e^eps1 - 1), and the last two terms are
// at most 0. Hence f'(F) <= e^(2 eps1) f'(F'), and the hockey stick of the selection is
//
//	∫ (q f'(F) - e^eps q' f'(F'))+ <= ∫ f'(F) (q - e^(eps - 2 eps1) q')+ <= m delta(eps - 2 eps1).
//
// Papernot and Steinke 2022, arXiv:2110.03620; Koskela, Redberg and Wang 2024, arXiv:2402.06701.
func (c *compiler) selected(e event.Selected, count int64) error {
	if err := c.single("a selection"); err != nil {
		return err
	}
	trials := make([]*Curve, len(e.Of))
	for i, of := range e.Of {
		var err error
		if trials[i], err = NewCurve(of, c.rel); err != nil {
			return err
		}
	}
	delta := func(epsilon float64) float64 {
		worst := 0.0
		for _, trial := range trials {
			worst = math.Max(worst, trial.Delta(epsilon))
		}
		return worst
	}
	pair, infinite := pairs.NewProfile(selectionBounds(delta, 1/e.Stop))
	if !(infinite < 1) {
		return c.unsupported("a selection", "no bound on its trials is below 1", "")
	}
	c.everyMerge(pairs.Key{Kind: pairs.Profile, Made: pair}, count)
	for _, d := range c.everywhere() {
		d.noDP += float64(count) * math.Log1p(-infinite)
	}
	return nil
}

const (
	selectionKnots    = 400
	selectionMinDelta = 1e-14 // the profile ends where delta is this
	// selectionSlack covers the rounding of a bound, and of the slopes between bounds
	selectionSlack = 1e-9
)

// selectionBounds bounds a selection of mean m among trials of profile delta, from epsilon
// 0 to the point where the bound is negligible.
func selectionBounds(delta func(epsilon float64) float64, m float64) []pairs.Bound {
	const most = 200
	least := math.Max(selectionMinDelta/m, delta(most)*(1+1e-3)) // (epsilon, delta) trials have a rest
	first := numeric.Bisect(0, most, func(e float64) bool { return (m-1)*delta(e) <= math.Expm1(e) })
	end := numeric.Bisect(0, most, func(e float64) bool { return delta(e) <= least })
	bounds := []pairs.Bound{{Epsilon: 0, Delta: 1}}
	for i := range selectionKnots + 1 {
		e := end * float64(i) / selectionKnots
		bounds = append(bounds, pairs.Bound{Epsilon: (e + 2*first) * (1 + selectionSlack), Delta: m * delta(e) * (1 + selectionSlack)})
	}
	return bounds
}
