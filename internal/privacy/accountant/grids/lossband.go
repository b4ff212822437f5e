package grids

import (
	"math"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// lossBand is one term of largeLosses: of one part at least one loss is above the
// lower limit, and none of any part is above the upper. Parts before it have
// none above the lower limit.
type lossBand struct {
	lower, upper float64
	epsilon      float64         // ε at which the term is needed
	part         pairs.Part      // without losses above the upper limit
	others       []bracket.Other // limited likewise
	tail         float64
	// quadratures of the bulk and the large losses of one step, and of all others
	bulk, large bracket.Nodes
	beside      bracket.Composition
	theta       float64
}

// band is the term of the part with the index.
func (b *Refiner) band(index int, lower, upper, epsilon float64) *lossBand {
	s := &lossBand{lower: lower, upper: upper, epsilon: epsilon, tail: b.Tail}
	s.part, s.others = b.Losses.Band(index, lower, upper)
	for _, o := range s.others {
		s.beside.Nodes = append(s.beside.Nodes, bracket.Quadrature(o.Pair, o.Count, b.Tail, 1))
	}
	bulk, rare := s.part.Pair.Divide(s.division())
	s.bulk, s.large = bracket.Quadrature(bulk, 1, b.Tail, 1), bracket.Quadrature(rare, 1, b.Tail, 1)
	s.large.Partial = true
	return s
}

func (s *lossBand) division() pairs.Division { return pairs.Division{Lo: math.Inf(-1), Hi: s.lower} }

// odds is the ratio of the tilted probabilities of a large and a small loss.
func (s *lossBand) odds(theta float64) float64 {
	if len(s.large.Loss) == 0 {
		return 0
	}
	return math.Exp(s.large.LogMoment(theta) - s.bulk.LogMoment(theta))
}

// logSome is the log of the tilted probability that some loss is large.
func (s *lossBand) logSome(theta float64) float64 {
	return math.Log(-math.Expm1(-float64(s.part.Count) * math.Log1p(s.odds(theta))))
}

// logMoment is log E[e^{θ ΣL}; no loss above the upper limit].
func (s *lossBand) logMoment(theta float64) float64 {
	return s.beside.LogMoment(theta) + float64(s.part.Count)*(s.bulk.LogMoment(theta)+math.Log1p(s.odds(theta)))
}

// logBound is the log of Chernoff's bound on the term.
func (s *lossBand) logBound(theta float64) float64 {
	return s.logMoment(theta) + s.logSome(theta) + numeric.LogHockeyStick(theta) - theta*s.epsilon
}

// compute brackets the term to about the tolerance at ε. A term that Chernoff's
// bound shows to be negligible is not composed.
func (s *lossBand) compute(tolerance float64) (up, lo bracket.Composed, ok bool) {
	whole := s.beside
	whole.Nodes = append([]bracket.Nodes{bracket.Quadrature(s.part.Pair, s.part.Count, s.tail, 1)}, whole.Nodes...)
	var logBound float64
	if s.theta, logBound = whole.Scan(s.logBound); logBound < math.Log(tolerance/4) {
		t := s.negligible(whole)
		return t, t, true
	}
	// Where large losses decide however large they are, the best tilt is nearly 0.
	s.theta = math.Max(s.theta, leastBandTilt/s.lower)
	count := float64(s.part.Count)
	logShare := -2.0 // of Chernoff's bound
	of := newLossMoments(&whole.Nodes[0], s.part.Pair, s.theta, floorLogShare+logShare, s.tail)
	plan := &planner{GridPlan: bracket.GridPlan{TiltedGrid: bracket.TiltedGrid{Theta: s.theta}, Tail: s.tail}, moments: []*lossMoments{of}, nodes: whole.Nodes[:1], logEta: separatedLogEta + logShare}
	steps := count
	for i, o := range s.others {
		steps += float64(o.Count)
		s.others[i].Floor = newLossMoments(&s.beside.Nodes[i], o.Pair, s.theta, floorLogShare+logShare, s.tail).lowest
	}
	large := math.Max(1, count*s.odds(s.theta))
	spacing := -math.Expm1(s.epsilon-s.lower) / 16
	spacing *= math.Max(1, math.Min(coarsestBand, math.Sqrt(tolerance/(2*usualBand*s.single()))))
	for range 8 {
		r := bracket.PartPlan{Mixed: true, Block: s.part.Count, Separation: bracket.Separation{
			Division: s.division(), Most: maxRare, Least: 1, LogCounted: s.logSome(s.theta), Others: s.others,
			H:      math.Min(s.lower/8, spacing/math.Sqrt(steps)),
			Coarse: math.Max((of.highest-s.lower)/maxSeparatedPoints, spacing/math.Sqrt(large)),
		}}
		if !plan.ready(&r, 0) { // too many points
			if ok {
				break
			}
			spacing *= 1.6
			continue
		}
		c := r.Discretise(s.part.Pair)
		up, lo = both(func(up bool) bracket.Composed { return c.Separated(up).Mixed(count) })
		ok = true
		got := up.Upper(s.epsilon) - lo.Lower(s.epsilon)
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

// leastBandTilt is the least tilt of a band, times its lower limit.
const leastBandTilt = 0.1

// single is about the contribution to δ(ε) of one large loss without the other losses.
func (s *lossBand) single() float64 {
	sum := 0.0
	for i, l := range s.large.Loss {
		sum -= float64(s.part.Count) * s.large.Mass[i] * math.Expm1(s.epsilon-l)
	}
	return sum
}

// negligible is Chernoff's bound on the term, as a function of ε.
func (s *lossBand) negligible(whole bracket.Composition) bracket.Composed {
	t := bracket.ChernoffTerm{Theta: s.theta, LogM: s.logMoment(s.theta) + s.logSome(s.theta) + numeric.LogHockeyStick(s.theta)}
	for i := range whole.Nodes {
		t.Infinity += whole.Nodes[i].Count * s.tail
	}
	return t
}
