package table1

import (
	"fmt"
	"math"

	"d3p/internal/models"
	"d3p/internal/privacy"
)

// Bounded is a linear regression in numbers between -1 and 1: each product of its design, and
// the response, less its middle and in units of its reach, by declared bounds alone.
type Bounded struct {
	*Regression
	middle, reach []float64 // of the products
	// Bound is the norm of the second moments of a row at its bounds.
	Bound float64
}

// Within is r in the declared bounds of its columns.
func (r *Regression) Within(m *models.Model) (*Bounded, error) {
	b := &Bounded{Regression: r}
	groups := map[string]bool{} // of products: in a row only one of a group is not 0
	for _, product := range r.products {
		low, high := 1.0, 1.0
		for _, f := range product {
			l, h, err := interval(m, f)
			if err != nil {
				return nil, err
			}
			ends := []float64{low * l, low * h, high * l, high * h}
			low, high = min(ends[0], ends[1], ends[2], ends[3]), max(ends[0], ends[1], ends[2], ends[3])
		}
		groups[groupOf(product)] = true
		middle, reach := 0.0, max(math.Abs(low), math.Abs(high))
		if len(product) == 1 && product[0].Level == privacy.Number {
			middle, reach = (low+high)/2, (high-low)/2
		}
		if !(reach > 0) || math.IsInf(reach, 1) {
			return nil, fmt.Errorf("column %s has no range: its bounds are equal or infinite", product[0].Column)
		}
		b.middle, b.reach = append(b.middle, middle), append(b.reach, reach)
	}
	q := float64(len(groups)) // the most that a row's squares add up to
	b.Bound = math.Sqrt(q * (q + 1) / 2)
	return b, nil
}

// groupOf is the same for products of the same columns. Of those that differ in levels only, a
// row has one that is not 0.
func groupOf(product []privacy.Reading) (name string) {
	for _, f := range product {
		name += fmt.Sprintf("%q %t ", f.Column, f.Level == privacy.Missing)
	}
	return name
}

// interval has the readings of a column between its bounds.
func interval(m *models.Model, f privacy.Reading) (low, high float64, err error) {
	if f.Level != privacy.Number {
		return 0, 1, nil
	}
	c := find(m, f.Column)
	switch {
	case c == nil:
		return 0, 0, fmt.Errorf("column %s has no bounds", f.Column)
	case !c.Numeric(): // the index of a level
		return -f.Center / f.By, (float64(len(c.LevelNames())-1) - f.Center) / f.By, nil
	}
	of := columnOf(c)
	low, high = (of.lower-f.Center)/f.By, (of.upper-f.Center)/f.By
	return min(low, high), max(low, high), nil
}

// Design is that of the bounded numbers, the response last.
func (b *Bounded) Design(noise float64) privacy.Design {
	d := privacy.Design{Products: b.products, Bound: b.Bound, Noise: noise}
	for j := range b.products {
		row := make([]float64, len(b.products))
		if j > 0 {
			row[0] = -b.middle[j] / b.reach[j]
		}
		row[j] += 1 / b.reach[j]
		d.Map = append(d.Map, row)
	}
	return d
}

// Theta sets theta to the parameters with coefficients gamma (K+1) and residual variance of
// the bounded numbers.
func (b *Bounded) Theta(theta, gamma []float64, variance float64) {
	k := b.Columns()
	unit := b.reach[k+1]
	level := b.middle[k+1] + unit*gamma[0]
	for j := range k {
		coefficient := unit * gamma[j+1] / b.reach[j+1]
		theta[b.Coefficients.At(j, 0)] = coefficient
		level -= coefficient * b.middle[j+1]
	}
	theta[b.Intercept] = level
	theta[b.Sigma] = math.Log(unit) + math.Log(variance)/2
}
