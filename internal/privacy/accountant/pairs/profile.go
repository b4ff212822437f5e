package pairs

import (
	"cmp"
	"math"
	"slices"
)

// Bound is a bound on the hockey stick of two distributions: delta at e^Epsilon.
type Bound struct{ Epsilon, Delta float64 }

// NewProfile is a pair whose profile covers every pair of distributions that meets the
// bounds in both orders, and the P-mass of its infinite loss. Bounds have epsilon >= 0.
//
// With a = e^epsilon the hockey stick h(a) is convex, h(0) = 1, and h(a) = 1 - a + a h'(1/a)
// for that of the exchanged distributions. So the lower convex hull of all bounds, and of
// their mirror images, is above h. It is the hockey stick of atoms at the hull's corners:
// where its slope changes by d, the Q-mass is d and the P-mass a d. The losses are those of
// P conditioned on a finite one.
func NewProfile(bounds []Bound) (p *Pair, infinite float64) {
	corners := []corner{{0, 0, 1}}
	for _, b := range bounds {
		a, delta := math.Exp(b.Epsilon), min(1, b.Delta)
		corners = append(corners, corner{b.Epsilon, a, delta}, corner{-b.Epsilon, 1 / a, 1 - 1/a + delta/a})
	}
	slices.SortFunc(corners, func(x, y corner) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.height, y.height))
	})
	var hull []corner
	for _, c := range corners {
		if n := len(hull); n > 0 && hull[n-1].at == c.at {
			continue
		}
		for len(hull) > 1 && hull[len(hull)-1].slope(c) <= hull[len(hull)-2].slope(hull[len(hull)-1]) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, c)
	}
	for len(hull) > 1 && hull[len(hull)-1].height >= hull[len(hull)-2].height { // the hockey stick falls
		hull = hull[:len(hull)-1]
	}
	infinite = hull[len(hull)-1].height
	p = &Pair{End: math.Inf(-1)}
	for i := len(hull) - 1; i > 0; i-- {
		after := 0.0
		if i+1 < len(hull) {
			after = hull[i].slope(hull[i+1])
		}
		mass := hull[i].at * (after - hull[i-1].slope(hull[i]))
		p.Atoms = append(p.Atoms, Atom{hull[i].loss, mass / (1 - infinite)})
	}
	return p, infinite
}

// corner is a point of a hockey stick: its height at `at`, which is e^loss.
type corner struct{ loss, at, height float64 }

// slope is the slope from c to d.
func (c corner) slope(d corner) float64 { return (d.height - c.height) / (d.at - c.at) }
