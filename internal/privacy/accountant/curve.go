package accountant

import (
	"math"
	"slices"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/grids"
	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
	"d3p/internal/privacy/event"
)

// Curve is the whole trade-off of a ledger: δ as a function of ε, and the success of an
// attacker who tests whether a record is in the data. Every number is an upper bound on the
// attacker, from the dominating side of the bracket engine or a closed form. Methods may be
// called concurrently.
type Curve struct {
	directions []profile
	knots      []knot
	least      float64 // δ of the last knot
}

// profile is δ(ε) of one direction: a closed form, or dominating sums at
// several tilts, each valid everywhere in its window and tight near its tilt.
type profile struct {
	exact   func(epsilon float64) float64
	finite  float64 // P-mass without infinite loss
	largest float64 // no finite loss is larger; +Inf without a bound
	sums    []bracket.Composed
}

// knot is a point of the curve that the attacker is bounded by.
type knot struct {
	epsilon float64
	grow    float64   // e^epsilon
	delta   []float64 // of every direction
}

const (
	curveMinDelta = 1e-14   // the curve is tight above this δ
	curvePoints   = 1 << 16 // grid points of each dominating sum
	curveKnots    = 400
	// where δ is below this share of the largest loss's mass, ε is within the same share of that loss
	leastOfLargest = 1e-4
)

// NewCurve computes the curve of the ledger. Errors as in Epsilon.
func NewCurve(ev event.Event, rel event.Relation) (*Curve, error) {
	return newCurve(ev, rel, curveMinDelta)
}

func newCurve(ev event.Event, rel event.Relation, minDelta float64) (*Curve, error) {
	comp, err := compile(ev, rel)
	if err != nil {
		return nil, err
	}
	c := &Curve{directions: make([]profile, len(comp.directions))}
	done := make(chan struct{})
	for i, d := range comp.directions {
		go func() {
			c.directions[i] = d.profile(minDelta)
			done <- struct{}{}
		}()
	}
	for range comp.directions {
		<-done
	}
	c.place(minDelta)
	return c, nil
}

// profile computes dominating sums from δ = 0.5 down to minDelta.
func (d *direction) profile(minDelta float64) profile {
	p := profile{finite: math.Exp(d.noDP), largest: math.Inf(1)}
	if d.prepareAt(0); d.unreliable {
		plain := d.unamplified()
		plain.noDP = d.noDP
		return plain.profile(minDelta)
	}
	if _, deltaAt, ok := d.exact(); ok {
		p.exact = deltaAt
		return p
	}
	add := func(c *bracket.Composition, tail, theta, near float64) {
		b := &grids.Refiner{Losses: &d.Losses, C: c, Tail: tail, Theta: theta, Near: near, AtMost: curvePoints}
		if up, ok := b.RunUpper(); ok {
			p.sums = append(p.sums, up)
		}
	}
	largest, logMass, bounded := d.largest()
	if bounded {
		p.largest = largest * (1 + pairs.ExactSlack)
	}
	for delta := 0.3; delta > minDelta/30; delta /= 30 {
		if bounded && delta < leastOfLargest*math.Exp(logMass) {
			break
		}
		tail := delta * grids.TailShare / d.Steps()
		c := d.Compose(tail, 1)
		theta, bound := c.ChernoffEpsilon(math.Log(delta))
		if bound > 0 {
			add(c, tail, theta, bound)
		}
	}
	tail := minDelta * grids.TailShare / d.Steps()
	c := d.Compose(tail, 1)
	theta, _ := c.ChernoffDelta(0)
	add(c, tail, theta, 0)
	return p
}

// delta is an upper bound on δ(ε).
func (p *profile) delta(epsilon float64) float64 {
	best := 1.0
	if p.exact != nil {
		best = math.Min(1, p.exact(epsilon)*(1+pairs.ExactSlack))
	}
	for _, s := range p.sums {
		best = math.Min(best, s.Upper(epsilon))
		// beyond the end of a window δ only falls
		if _, end, _ := s.Stretch(); epsilon > end && end >= 0 {
			best = math.Min(best, s.Upper(end))
		}
	}
	if epsilon >= p.largest {
		best = 0
	}
	return 1 - p.finite + p.finite*best
}

// place puts the knots: ε = 0 and points along the curve down to minDelta, or
// to the smallest δ at which the bound on ε is finite.
func (c *Curve) place(minDelta float64) {
	top := c.Epsilon(minDelta)
	for math.IsInf(top, 1) && minDelta < 0.1 {
		minDelta *= 10
		top = c.Epsilon(minDelta)
	}
	if math.IsInf(top, 1) {
		top = 0
	}
	c.least = minDelta
	for i := range curveKnots + 1 {
		// denser near zero, where large false-positive rates are decided
		u := float64(i) / curveKnots
		k := knot{epsilon: top * u * u, grow: math.Exp(top * u * u)}
		for j := range c.directions {
			k.delta = append(k.delta, c.directions[j].delta(k.epsilon))
		}
		c.knots = append(c.knots, k)
	}
}

// Delta is an upper bound on δ(epsilon), for epsilon >= 0.
func (c *Curve) Delta(epsilon float64) float64 {
	worst := 0.0
	for i := range c.directions {
		worst = math.Max(worst, c.directions[i].delta(epsilon))
	}
	return worst
}

// Epsilon is an upper bound on ε(delta), +Inf when no ε reaches delta.
func (c *Curve) Epsilon(delta float64) float64 {
	if c.Delta(0) <= delta {
		return 0
	}
	hi := 1e-12
	for c.Delta(hi) > delta {
		if hi *= 4; hi > 1e12 {
			return math.Inf(1)
		}
	}
	return numeric.Bisect(0, hi, func(e float64) bool { return c.Delta(e) <= delta })
}

// Tradeoff is the smallest false-negative rate that any membership test with
// false-positive rate fpr can have, the worse of the two orders of the
// hypotheses: max over ε of 1-δ(ε)-e^ε fpr and e^-ε (1-fpr-δ'(ε)), δ' that of
// the opposite direction. Kairouz, Oh, Viswanath 2015; Dong, Roth, Su 2022.
func (c *Curve) Tradeoff(fpr float64) (fnr float64) {
	fnr = 1
	for i := range c.directions {
		opposite := (i + 1) % len(c.directions)
		bound := 0.0
		for _, k := range c.knots {
			gained := 0.0 // an infinite e^ε times 0 would be no number
			if fpr > 0 {
				gained = k.grow * fpr
			}
			bound = max(bound, 1-k.delta[i]-gained, (1-fpr-k.delta[opposite])/k.grow)
		}
		fnr = math.Min(fnr, bound)
	}
	return math.Max(0, math.Min(fnr, 1-fpr))
}

// TPR is the largest true-positive rate of a membership test with
// false-positive rate fpr.
func (c *Curve) TPR(fpr float64) float64 { return 1 - c.Tradeoff(fpr) }

// Advantage is the largest difference of true- and false-positive rate, δ(0).
func (c *Curve) Advantage() float64 { return c.Delta(0) }

// Belief is the largest probability of membership that an attacker with the given prior
// reaches after a positive test with false-positive rate fpr.
func (c *Curve) Belief(prior, fpr float64) float64 {
	yes := prior * c.TPR(fpr)
	if yes == 0 {
		return 0
	}
	return yes / (yes + (1-prior)*fpr)
}

// muMinDelta is the smallest δ of DominatingMu: sampled mechanisms have tails of much
// larger μ at ever smaller δ.
const muMinDelta = 1e-10

// muSlack bounds how much larger than needed DominatingMu may be, relatively.
const muSlack = 1e-9

// MuFrom is the δ from which DominatingMu covers the curve: 1e-10, or, beside infinite losses of
// (ε, δ) steps, up to ten times the least δ with a finite ε.
func (c *Curve) MuFrom() float64 { return max(muMinDelta, c.least) }

// DominatingMu is the smallest μ for which μ-Gaussian differential privacy
// covers the curve at every δ >= MuFrom, and the regret of quoting only μ: by
// how much, at most, it overstates the attacker (the smallest shift κ with
// f(α+κ)-κ <= f_μ(α) for all α; Gomez, Kulynych et al. 2025, arXiv:2503.10945).
func (c *Curve) DominatingMu() (mu, regret float64) {
	// It is largest at the end, as a rule, which is between two knots.
	if end := c.Epsilon(muMinDelta); end > 0 && !math.IsInf(end, 1) {
		mu = GaussianMu(Target{Epsilon: end, Delta: muMinDelta}) * (1 + muSlack)
	}
	for _, k := range slices.Backward(c.knots) {
		delta := 0.0
		for _, v := range k.delta {
			delta = math.Max(delta, v)
		}
		// A solution costs fifty values of the curve: only where mu is too small.
		covered := mu > 0 && gaussianDelta(mu, k.epsilon/mu-mu/2) >= delta
		if delta >= muMinDelta && delta < 1 && !covered {
			mu = math.Max(mu, GaussianMu(Target{Epsilon: k.epsilon, Delta: delta})*(1+muSlack))
		}
	}
	if mu == 0 {
		return 0, 0
	}
	for i := 1; i < 100; i++ {
		alpha := float64(37*i%100) / 100 // in a mixed order, so that few need a larger shift than those before
		gaussian := gaussianTradeoff(mu, alpha)
		covers := func(kappa float64) bool {
			return alpha+kappa >= 1 || c.Tradeoff(alpha+kappa)-kappa <= gaussian
		}
		if !covers(regret) {
			regret = numeric.Bisect(0, 1, covers)
		}
	}
	return mu, regret
}

// gaussianTradeoff is f_μ(α) = Φ(Φ⁻¹(1-α) - μ).
func gaussianTradeoff(mu, alpha float64) float64 {
	z := numeric.Bisect(-pairs.Far, pairs.Far, func(z float64) bool { return numeric.NormalTail(z) <= alpha })
	return numeric.NormalTail(mu - z)
}
