package data

import "slices"

// Unscaling returns how coefficients of predictors on their declared scales become those
// of the same predictors in the unit of the file. raw has one row for each label in the
// unit of the file and one column for each on its scale; shift is what goes off the
// intercept for each coefficient. A product of numbers on scales is a sum of products in
// the unit of the file, so the labels must hold its margins: ok is false when one is
// missing that the center of a scale asks for. A margin that is the reference level of a
// category is the intercept less the other levels. The label Intercept, of the effects of a
// group, is the product of nothing and has the shift itself.
func (d *Data) Unscaling(labels []string) (raw, shift []float64, ok bool) {
	n := len(labels)
	raw, shift = make([]float64, n*n), make([]float64, n)
	products := make([][]Factor, n)
	for j, label := range labels {
		if products[j], ok = d.Factors(label); !ok && label != intercept {
			return nil, nil, false
		}
	}
	for j, p := range products {
		for _, part := range expanded(p) {
			if !addPart(products, part, func(k int, times float64) {
				if k < 0 {
					shift[j] -= times
				} else {
					raw[k*n+j] += times
				}
			}) {
				return nil, nil, false
			}
		}
	}
	return raw, shift, true
}

// intercept is the label of a group's effect that multiplies no column.
const intercept = "Intercept"

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

// addPart tells add which coefficient, by its index or -1 for the intercept, has a part's
// number; it returns false when none has.
func addPart(products [][]Factor, p part, add func(k int, times float64)) bool {
	find := func(factors []Factor) int {
		return slices.IndexFunc(products, func(q []Factor) bool { return sameFactors(q, factors) })
	}
	if k := find(p.factors); k >= 0 || len(p.factors) == 0 {
		add(k, p.times)
		return true
	}
	f := p.factors[0]
	if len(p.factors) > 1 || f.Level < 0 || f.Level != f.Column.ReferenceLevel() {
		return false
	}
	add(find(nil), p.times)
	for _, other := range f.Column.Factors(false) {
		k := find([]Factor{other})
		if k < 0 {
			return false
		}
		add(k, -p.times)
	}
	return true
}

// sameFactors reports whether two products have the same factors, in whatever order.
func sameFactors(a, b []Factor) bool {
	if len(a) != len(b) {
		return false
	}
	for _, f := range a {
		if !slices.Contains(b, f) {
			return false
		}
	}
	return true
}
