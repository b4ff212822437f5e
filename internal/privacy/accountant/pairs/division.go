package pairs

import "math"

// Division cuts the losses of one step in two: the bulk from lo to hi, on a fine grid,
// and the rare losses, which may be far larger, on a coarse one.
type Division struct{ Lo, Hi float64 }

// Divide cuts p: bulk is its part inside the division, rare that outside. Both are pairs that
// lack the other's mass.
func (p *Pair) Divide(d Division) (bulk, rare *Pair) {
	bulk = &Pair{End: p.End, Ceiling: p.Ceiling, Missing: p.Missing, Partial: p.Partial}
	rare = &Pair{End: math.Inf(-1), Infinity: p.Infinity, Partial: true}
	for _, whole := range p.Pieces {
		low, high := math.Max(whole.Lo, whole.Inverse(d.Lo)), math.Min(whole.Hi, whole.Inverse(d.Hi))
		low, high = math.Min(low, whole.Hi), math.Max(high, whole.Lo)
		left, middle, right := whole, whole, whole
		left.Hi, left.Tail = low, nil
		right.Lo = high
		middle.Lo, middle.Hi = low, high
		if high < whole.Hi {
			middle.Tail = nil
		}
		if left.Hi > left.Lo {
			rare.Pieces = append(rare.Pieces, left)
			left.Integrate(left.Lo, left.Hi, func(_, m float64) { bulk.Missing += m })
		}
		if middle.Hi > middle.Lo {
			bulk.Pieces = append(bulk.Pieces, middle)
		}
		if right.Hi > right.Lo {
			rare.Pieces = append(rare.Pieces, right)
			right.Integrate(right.Lo, right.Hi, func(_, m float64) { bulk.Missing += m })
		}
	}
	for _, a := range p.Atoms {
		if a.Loss >= d.Lo && a.Loss <= d.Hi {
			bulk.Atoms = append(bulk.Atoms, a)
		} else {
			rare.Atoms = append(rare.Atoms, a)
			bulk.Missing += a.Mass
		}
	}
	// the rare mass next to the bulk is merged into a grid point (Pair.Origin)
	switch n := len(rare.Pieces); {
	case n == 0:
	case !math.IsInf(d.Hi, 1) && rare.Pieces[n-1].Loss(rare.Pieces[n-1].Lo) >= d.Hi*(1-1e-12)-1e-300:
		rare.End = rare.Pieces[n-1].Loss(rare.Pieces[n-1].Lo)
	default:
		rare.End, rare.Ceiling = rare.Pieces[n-1].Loss(rare.Pieces[n-1].Hi), true
	}
	return bulk, rare
}

// Aligned moves the end of the bulk that the dense end of the rare losses is
// at, by at most h, so that the rare losses within h of it, merged, lie on a
// multiple of h.
func (d Division) Aligned(p *Pair, h float64) Division {
	_, rare := p.Divide(d)
	if rare.Empty() || math.IsInf(rare.End, -1) {
		return d
	}
	merged := func(by float64) float64 {
		moved := d
		if rare.Ceiling {
			moved.Lo -= by
		} else {
			moved.Hi += by
		}
		_, rest := p.Divide(moved)
		return rest.Origin(h)
	}
	at := merged(0)
	least := func(ok func(by float64) bool) float64 { // up to a billionth of h
		lo, hi := 0.0, h
		for range 30 {
			if by := (lo + hi) / 2; ok(by) {
				hi = by
			} else {
				lo = by
			}
		}
		return hi
	}
	if rare.Ceiling {
		target := math.Floor(at/h) * h
		d.Lo -= least(func(by float64) bool { return merged(by) <= target })
		return d
	}
	target := math.Ceil(at/h) * h
	d.Hi += least(func(by float64) bool { return merged(by) >= target })
	return d
}

// Empty reports whether the pair has no outcome.
func (p *Pair) Empty() bool { return len(p.Pieces)+len(p.Atoms) == 0 }

// Below is the pair without its losses above the limit.
func (p *Pair) Below(limit float64) *Pair {
	if math.IsInf(limit, 1) {
		return p
	}
	rest, _ := p.Divide(Division{Lo: math.Inf(-1), Hi: limit})
	rest.Smooth = p.Smooth
	return rest
}
