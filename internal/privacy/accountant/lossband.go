package accountant

import "math"

// lossBand is one term of largeLosses: of one part at least one loss is above the
// lower limit, and none of any part is above the upper. Parts before it have
// none above the lower limit.
type lossBand struct {
	lower, upper float64
	epsilon      float64 // where the term is wanted
	part         part    // without what is above the upper limit
	others       []other // limited likewise
	tail         float64
	// quadratures of the bulk and the large losses of one step, and of all others
	bulk, large nodes
	beside      composition
	theta       float64
}

// band is the term of the part with the index.
func (b *bracket) band(index int, lower, upper, epsilon float64) *lossBand {
	s := &lossBand{lower: lower, upper: upper, epsilon: epsilon, tail: b.tail}
	for i, p := range b.everything() {
		switch {
		case i == index:
			p.pair = p.pair.below(upper)
			s.part = p
			continue
		case i < index:
			p.pair = p.pair.below(lower)
		case i < len(b.parts):
			p.pair = p.pair.below(upper)
		}
		s.others = append(s.others, other{part: p})
		s.beside.nodes = append(s.beside.nodes, quadrature(p.pair, p.count, b.tail, 1))
	}
	bulk, rare := s.part.pair.divide(s.division())
	s.bulk, s.large = quadrature(bulk, 1, b.tail, 1), quadrature(rare, 1, b.tail, 1)
	s.large.partial = true
	return s
}

func (s *lossBand) division() division { return division{math.Inf(-1), s.lower} }

// odds is how much more often a loss is large than not, under the tilt.
func (s *lossBand) odds(theta float64) float64 {
	if len(s.large.loss) == 0 {
		return 0
	}
	return math.Exp(s.large.logMoment(theta) - s.bulk.logMoment(theta))
}

// logSome is the log of the tilted probability that some loss is large.
func (s *lossBand) logSome(theta float64) float64 {
	return math.Log(-math.Expm1(-float64(s.part.count) * math.Log1p(s.odds(theta))))
}

// logMoment is log E[e^{θ ΣL}; no loss above the upper limit].
func (s *lossBand) logMoment(theta float64) float64 {
	return s.beside.logMoment(theta) + float64(s.part.count)*(s.bulk.logMoment(theta)+math.Log1p(s.odds(theta)))
}

// logBound is the log of Chernoff's bound on the term.
func (s *lossBand) logBound(theta float64) float64 {
	return s.logMoment(theta) + s.logSome(theta) + logHockeyStick(theta) - theta*s.epsilon
}

// compute brackets the term to about the tolerance at ε. A term that Chernoff's
// bound shows to be negligible is not composed.
func (s *lossBand) compute(tolerance float64) (up, lo composed, ok bool) {
	whole := s.beside
	whole.nodes = append([]nodes{quadrature(s.part.pair, s.part.count, s.tail, 1)}, whole.nodes...)
	var logBound float64
	if s.theta, logBound = whole.scan(s.logBound); logBound < math.Log(tolerance/4) {
		t := s.negligible(whole)
		return t, t, true
	}
	count := float64(s.part.count)
	logShare := -2.0 // of Chernoff's bound
	of := newLossMoments(&whole.nodes[0], s.part.pair, s.theta, floorLogShare+logShare, s.tail)
	plan := &gridPlan{tiltedGrid: tiltedGrid{theta: s.theta}, moments: []*lossMoments{of}, nodes: whole.nodes[:1], tail: s.tail, logEta: layerLogEta + logShare}
	steps := count
	for i, o := range s.others {
		steps += float64(o.count)
		s.others[i].floor = newLossMoments(&s.beside.nodes[i], o.pair, s.theta, floorLogShare+logShare, s.tail).lowest
	}
	large := math.Max(1, count*s.odds(s.theta))
	spacing := -math.Expm1(s.epsilon-s.lower) / 16
	spacing *= math.Max(1, math.Min(coarsestBand, math.Sqrt(tolerance/(2*usualBand*s.single()))))
	for range 8 {
		r := partPlan{mixed: true, block: s.part.count, layering: layering{
			division: s.division(), most: maxRare, least: 1, logCounted: s.logSome(s.theta), others: s.others,
			h:      math.Min(s.lower/8, spacing/math.Sqrt(steps)),
			coarse: math.Max((of.highest-s.lower)/maxLayerPoints, spacing/math.Sqrt(large)),
		}}
		if !plan.ready(&r, 0) { // too many points
			if ok {
				break
			}
			spacing *= 1.6
			continue
		}
		c := r.discretise(s.part.pair)
		up, lo = both(func(up bool) composed { return c.layers(up).mixed(count) })
		ok = true
		got := up.upper(s.epsilon) - lo.lower(s.epsilon)
		if !(got > tolerance) {
			break
		}
		spacing *= math.Max(0.1, 0.8*math.Sqrt(tolerance/got))
	}
	return up, lo, ok
}

// A bracket of a term is usually usualBand wide, relatively, when the grids are a
// sixteenth of the way from ε to the lower limit apart, and of second order. They start
// coarsestBand times as far apart at most.
const (
	usualBand    = 5e-5
	coarsestBand = 6
)

// single is about what one large loss without the other losses contributes to δ(ε).
func (s *lossBand) single() float64 {
	sum := 0.0
	for i, l := range s.large.loss {
		sum -= float64(s.part.count) * s.large.mass[i] * math.Expm1(s.epsilon-l)
	}
	return sum
}

// negligible is Chernoff's bound on the term, as a function of ε.
func (s *lossBand) negligible(whole composition) composed {
	t := chernoffTerm{theta: s.theta, logM: s.logMoment(s.theta) + s.logSome(s.theta) + logHockeyStick(s.theta)}
	for i := range whole.nodes {
		t.infinity += whole.nodes[i].count * s.tail
	}
	return t
}

// chernoffTerm is a contribution to δ(ε) that is only bounded: from above by
// e^{logM-θε} and the mass of the tails, from below by 0.
type chernoffTerm struct{ theta, logM, infinity float64 }

func (t chernoffTerm) upper(epsilon float64) float64 {
	return math.Exp(t.logM-t.theta*epsilon)*(1+1e-9) + t.infinity
}
func (t chernoffTerm) lower(float64) float64            { return 0 }
func (t chernoffTerm) stretch() (start, end, h float64) { return 0, math.Inf(1), 0 }
