package bracket

import "math"

// mixture is the sum of all steps as a mixture over the number of rare losses
// among them. The bulk stays on its fine grid and the rare losses on theirs:
// no grid has to hold the one and resolve the other.
type mixture struct {
	theta, logM float64
	terms       []mixtureTerm
	slack       float64 // terms left out, in units of the sum
	doubt       float64 // relative error of the weights, at most
	infinity    float64
}

// mixtureTerm is a number of rare losses: its probability and the two sums.
type mixtureTerm struct {
	weight float64
	bulk   *tiltedSum
	rare   *tiltedSum // nil when there is no rare loss
	above  []float64  // tilted mass of the rare sum from a point on
}

// Mixed composes n steps.
func (l *Separated) Mixed(n float64) *mixture {
	m := &mixture{theta: l.theta, logM: l.logTotal(n), infinity: l.infinity(n)}
	rest := l.Counts(n, func(k int, logWeight float64) {
		if k < l.least {
			return
		}
		t := mixtureTerm{weight: math.Exp(logWeight), bulk: l.bulkSum(n - float64(k))}
		if k > 0 {
			t.rare = l.rareSum(k)
			t.above = make([]float64, len(t.rare.mass))
			for j := len(t.rare.point) - 1; j >= 0; j-- {
				t.above[j] = t.above[j+1] + t.rare.point[j]
			}
		}
		m.terms = append(m.terms, t)
	})
	m.slack = rest * largestStick(l.theta)
	m.doubt = l.weightDoubt(n)
	return m
}

// at is the hockey stick of the term at epsilon, relative to e^{-θε}.
func (t *mixtureTerm) at(epsilon float64) float64 {
	if t.rare == nil {
		return t.bulk.at(epsilon)
	}
	bulk, rare := t.bulk, t.rare
	end := bulk.start + float64(len(bulk.mass)-2)*bulk.h
	j := max(0, int(math.Ceil((epsilon-end-rare.start)/rare.h)))
	last := min(len(rare.mass)-2, int(math.Floor((epsilon-bulk.start-rare.start)/rare.h)))
	sum := 0.0
	for ; j <= last; j++ { // the rare losses that the bulk's grid has to decide about
		if p := rare.point[j]; p > 0 {
			sum += p * bulk.at(epsilon-rare.start-float64(j)*rare.h)
		}
	}
	// With the others all of the bulk counts, from its left end on.
	k := max(0, last+1)
	if k >= len(rare.mass)-1 {
		return sum
	}
	gap := rare.start + float64(k)*rare.h + bulk.start - epsilon
	decay := math.Exp(-rare.theta * gap)
	all := decay * rare.mass[k]
	above := decay * (-math.Expm1(-gap)*rare.mass[k] + math.Exp(-gap)*rare.stick[k])
	return sum + bulk.mass[0]*above + bulk.stick[0]*(all-above)
}

// error bounds the error of at. Only masses inside the bulk's window are rounded, so above
// the whole window only the mass outside of it counts.
func (t *mixtureTerm) error(epsilon float64) float64 {
	b := t.bulk
	end := b.start + float64(len(b.mass))*b.h
	top := largestStick(b.theta)
	if t.rare == nil {
		if epsilon >= end {
			return b.outside * top
		}
		return b.allowance
	}
	j := max(0, int(math.Ceil((epsilon-end-t.rare.start)/t.rare.h))-1)
	e := b.outside*top + t.rare.allowance
	if j < len(t.above) {
		e += b.noise * math.Sqrt(float64(len(b.point))) * top * t.above[j]
	}
	return e
}

// sum is the hockey stick of the mixture at epsilon, relative to e^{-θε}, with
// its absolute and its relative error.
func (m *mixture) sum(epsilon float64) (value, allowance, relative float64) {
	for i := range m.terms {
		t := &m.terms[i]
		value += t.weight * t.at(epsilon)
		own := t.bulk.relative
		if t.rare != nil {
			own += t.rare.relative
		}
		allowance += t.weight * t.error(epsilon)
		relative = math.Max(relative, own+m.doubt)
	}
	return value, allowance*(1+1e-6) + m.slack, relative
}

func (m *mixture) Upper(epsilon float64) float64 {
	value, allowance, relative := m.sum(epsilon)
	return atMostOne(math.Exp(m.logM-m.theta*epsilon)*(value+allowance)*(1+relative) + m.infinity)
}

func (m *mixture) Lower(epsilon float64) float64 {
	value, allowance, relative := m.sum(epsilon)
	if v := math.Exp(m.logM-m.theta*epsilon) * (value - allowance) * (1 - relative); v > 0 && v <= 1 {
		return v
	}
	return 0
}

func (m *mixture) Stretch() (start, end, h float64) {
	start, end, h = m.terms[0].bulk.Stretch()
	for _, t := range m.terms[1:] {
		_, bulkEnd, _ := t.bulk.Stretch()
		_, rareEnd, _ := t.rare.Stretch()
		end = math.Max(end, bulkEnd+rareEnd)
	}
	return start, end, h
}
