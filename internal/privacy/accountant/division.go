package accountant

import "math"

// division cuts the losses of one step in two: the bulk from lo to hi, which
// goes on a fine grid, and the rare rest, which may be far larger and needs a
// coarse one only.
type division struct{ lo, hi float64 }

// bulk is the pair's part inside, rare the part outside the division. Both
// are pairs that lack the other's mass.
func (p *pair) divide(d division) (bulk, rare *pair) {
	bulk = &pair{end: p.end, ceiling: p.ceiling, missing: p.missing, partial: p.partial}
	rare = &pair{end: math.Inf(-1), infinity: p.infinity, partial: true}
	for _, whole := range p.pieces {
		low, high := math.Max(whole.lo, whole.inverse(d.lo)), math.Min(whole.hi, whole.inverse(d.hi))
		low, high = math.Min(low, whole.hi), math.Max(high, whole.lo)
		left, middle, right := whole, whole, whole
		left.hi, left.tail = low, nil
		right.lo = high
		middle.lo, middle.hi = low, high
		if high < whole.hi {
			middle.tail = nil
		}
		if left.hi > left.lo {
			rare.pieces = append(rare.pieces, left)
			left.integrate(left.lo, left.hi, func(_, m float64) { bulk.missing += m })
		}
		if middle.hi > middle.lo {
			bulk.pieces = append(bulk.pieces, middle)
		}
		if right.hi > right.lo {
			rare.pieces = append(rare.pieces, right)
			right.integrate(right.lo, right.hi, func(_, m float64) { bulk.missing += m })
		}
	}
	for _, a := range p.atoms {
		if a.loss >= d.lo && a.loss <= d.hi {
			bulk.atoms = append(bulk.atoms, a)
		} else {
			rare.atoms = append(rare.atoms, a)
			bulk.missing += a.mass
		}
	}
	// the rare mass next to the bulk is merged into a grid point (pair.origin)
	switch n := len(rare.pieces); {
	case n == 0:
	case !math.IsInf(d.hi, 1) && rare.pieces[n-1].loss(rare.pieces[n-1].lo) >= d.hi*(1-1e-12)-1e-300:
		rare.end = rare.pieces[n-1].loss(rare.pieces[n-1].lo)
	default:
		rare.end, rare.ceiling = rare.pieces[n-1].loss(rare.pieces[n-1].hi), true
	}
	return bulk, rare
}

// aligned moves the end of the bulk that the dense end of the rare losses is
// at, by at most h, so that the rare losses within h of it, merged, lie on a
// multiple of h.
func (d division) aligned(p *pair, h float64) division {
	_, rare := p.divide(d)
	if rare.empty() || math.IsInf(rare.end, -1) {
		return d
	}
	merged := func(by float64) float64 {
		moved := d
		if rare.ceiling {
			moved.lo -= by
		} else {
			moved.hi += by
		}
		_, rest := p.divide(moved)
		return rest.origin(h)
	}
	at := merged(0)
	by := 0.0
	if rare.ceiling {
		target := math.Floor(at/h) * h
		by = bisect(0, h, func(by float64) bool { return merged(by) <= target })
		d.lo -= by
		return d
	}
	target := math.Ceil(at/h) * h
	by = bisect(0, h, func(by float64) bool { return merged(by) >= target })
	d.hi += by
	return d
}

// empty reports whether the pair has no outcome.
func (p *pair) empty() bool { return len(p.pieces)+len(p.atoms) == 0 }
