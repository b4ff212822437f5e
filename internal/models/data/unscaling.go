package data

import (
	"slices"
	"strings"

	"d3p/internal/models/naming"
)

// Unscaling turns coefficients of predictors on their declared scales into those of the
// same predictors in the unit of the file, by a sparse matrix: the coefficient at index
// Into[i] has Times[i] times the one at index From[i]. Shift is subtracted from the
// intercept for each coefficient.
type Unscaling struct {
	From, Into []int
	Times      []float64
	Shift      []float64
}

// Unscaling returns the change of unit for the coefficients with these labels. A product of
// numbers on scales is a sum of products in the unit of the file, so the labels must
// include its margins: ok is false if one is missing that the center of a scale needs. A
// margin at the reference level of a category is the intercept minus the other levels. The
// label Intercept, of the effects of a group, is the empty product and has the shift
// itself.
func (d *Data) Unscaling(labels []string) (u *Unscaling, ok bool) {
	u = &Unscaling{Shift: make([]float64, len(labels))}
	place := make(map[string]int, len(labels))
	products := make([][]Factor, len(labels))
	for j, label := range labels {
		if products[j], ok = d.Factors(label); !ok && label != naming.Intercept {
			return nil, false
		}
		place[productKey(products[j])] = j
	}
	for j, p := range products {
		for _, part := range expanded(p) {
			if !u.add(place, j, part) {
				return nil, false
			}
		}
	}
	return u, true
}

// part is a number times a product of factors in the unit of the file.
type part struct {
	times   float64
	factors []Factor
}

// expanded multiplies a product of factors on their scales out.
func expanded(product []Factor) []part {
	parts := []part{{times: 1}}
	for _, f := range product {
		center, by := 0.0, 1.0
		if f.Column.Numeric() && !f.Missing {
			center, by = f.Column.Scale()
		}
		var next []part
		for _, p := range parts {
			next = append(next, part{p.times / by, append(slices.Clip(p.factors), f)})
			if center != 0 {
				next = append(next, part{-p.times * center / by, p.factors})
			}
		}
		parts = next
	}
	return parts
}

// add gives a part of coefficient j to the coefficient of its factors. It returns false if
// there is none.
func (u *Unscaling) add(place map[string]int, j int, p part) bool {
	if k, ok := place[productKey(p.factors)]; ok {
		u.term(j, k, p.times)
		return true
	}
	if len(p.factors) == 0 {
		u.Shift[j] -= p.times
		return true
	}
	f := p.factors[0]
	if len(p.factors) > 1 || f.Level < 0 || f.Level != f.Column.ReferenceLevel() {
		return false
	}
	for _, other := range f.Column.Factors(false) {
		k, ok := place[other.Label()]
		if !ok {
			return false
		}
		u.term(j, k, -p.times)
	}
	return u.add(place, j, part{times: p.times})
}

func (u *Unscaling) term(from, into int, times float64) {
	u.From, u.Into, u.Times = append(u.From, from), append(u.Into, into), append(u.Times, times)
}

// productKey is the same for products of the same factors in whatever order.
func productKey(factors []Factor) string {
	if len(factors) == 1 {
		return factors[0].Label()
	}
	labels := make([]string, len(factors))
	for i, f := range factors {
		labels[i] = f.Label()
	}
	slices.Sort(labels)
	return strings.Join(labels, ":")
}
