package table1

import (
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/encoding"
	"d3p/internal/models/law"
	"d3p/internal/privacy"
)

// product is a number of the design: a column's, or that it is in a level.
type product struct {
	column, level int
	reach         float64 // correlation of a column with its normal score
}

// correlations buys the second moments of the columns, standardised by the law, and gives
// the law the correlations of their normal scores.
func (p *Plan) correlations(c *privacy.Curator, m *models.Model, fields []encoding.Field, l *law.Law) error {
	r := p.release(Moments)
	if r == nil {
		return nil
	}
	products, design := designOf(r, m, fields, l)
	moments, err := c.Moments(string(Moments), design)
	if err != nil {
		return err
	}
	// the columns of the law that the model does not read are independent
	all, k := len(l.Columns), len(products)
	l.Correlation, l.CorrelationSD = make([]float64, all*all), make([]float64, all*all)
	for j := range all {
		l.Correlation[j*all+j] = 1
	}
	diagonal, at, noise := make([]float64, k), 0, r.Noise*r.Bound
	for i := range k {
		diagonal[i] = max(moments[at], 4*noise, 1)
		at += k - i
	}
	within := make(numbersWithin)
	at = -1
	for i, x := range products {
		for j := i; j < k; j++ {
			at++
			y := products[j]
			switch {
			case i == j, x.level >= 0 && y.level >= 0:
			case x.level < 0 && y.level < 0:
				scale := math.Sqrt(diagonal[i]*diagonal[j]) * x.reach * y.reach
				set(l.Correlation, all, x.column, y.column, min(max(moments[at]/scale, -0.999), 0.999))
				set(l.CorrelationSD, all, x.column, y.column, noise/scale)
			default:
				number, level, rows := x, y, diagonal[i]
				if x.level >= 0 {
					number, level, rows = y, x, diagonal[j]
				}
				within.set(l, number, level, rows, moments[at], noise)
			}
		}
	}
	for i := range l.Columns {
		for _, c := range l.Coded {
			if w := within[[2]int{i, c}]; w != nil {
				l.Within = append(l.Within, *w)
			}
		}
	}
	slices.Sort(l.Coded)
	shrink(l)
	law.MakePositive(l.Correlation, all)
	return nil
}

// designOf is the design whose second moments the release r sums, with the meaning of each
// of its columns. It notes in l which categories are in it.
func designOf(r *Release, m *models.Model, fields []encoding.Field, l *law.Law) (products []product, design privacy.Design) {
	design = privacy.Design{Bound: r.Bound, Noise: r.Noise}
	for _, f := range fields {
		d, at := find(m, f.Column), indexOf(l, m, f.Column)
		if slices.Contains(r.Coded, f.Column) {
			l.Coded = append(l.Coded, at)
			for level := range f.Levels {
				products = append(products, product{at, level, 1})
				design.Products = append(design.Products, []privacy.Reading{{Column: f.Column, Level: level, By: 1}})
			}
			continue
		}
		x := product{column: at, level: privacy.Number}
		reading := privacy.Reading{Column: f.Column, Level: privacy.Number, Transform: d.Transform.V}
		reading.Center, reading.By, x.reach = scored(&l.Columns[at], f, d.Transformed)
		products = append(products, x)
		design.Products = append(design.Products, []privacy.Reading{reading})
	}
	return products, design
}

// numbersWithin are the means of numbers within the levels of categories, by column and
// category.
type numbersWithin map[[2]int]*law.Within

// set notes the mean of a number within a level: the noisy sum of the numbers in the level
// over its rows. rows is the number of all rows, which is about the sum of the squares.
func (w numbersWithin) set(l *law.Law, number, level product, rows, sum, noise float64) {
	key := [2]int{number.column, level.column}
	if w[key] == nil {
		n := len(l.Columns[level.column].Shares)
		w[key] = &law.Within{Column: number.column, Category: level.column, Mean: make([]float64, n), SD: make([]float64, n)}
	}
	scale := max(l.Columns[level.column].Shares[level.level]*rows, 1) * number.reach
	w[key].Mean[level.level], w[key].SD[level.level] = sum/scale, noise/scale
}

// spreads are the standard deviations of the normals about 0 whose mixture is the
// distribution of the true correlations.
var spreads = []float64{0, 0.05, 0.1, 0.2, 0.4, 0.8}

// shrink replaces each bought correlation by its mean and standard deviation given all
// bought correlations. The weights of the mixture follow from the correlations, so one
// large correlation among many small ones stays (Stephens 2017,
// doi:10.1093/biostatistics/kxw041).
func shrink(l *law.Law) {
	n := len(l.Columns)
	var bought []int
	for i := range n {
		for j := range i {
			if l.CorrelationSD[i*n+j] > 0 {
				bought = append(bought, i*n+j)
			}
		}
	}
	const rounds = 50 // of expectation and maximisation; each weight counts half a correlation beforehand
	weights, counts := make([]float64, len(spreads)), make([]float64, len(spreads))
	parts := make([]float64, len(spreads))
	for k := range weights {
		weights[k] = 1 / float64(len(weights))
	}
	// share sets parts to the posterior probabilities of the spreads for x with noise sd.
	share := func(x, sd float64) {
		sum := 0.0
		for k, s := range spreads {
			v := s*s + sd*sd
			parts[k] = weights[k] * math.Exp(-x*x/(2*v)) / math.Sqrt(v)
			sum += parts[k]
		}
		for k := range parts {
			parts[k] /= sum
		}
	}
	for range rounds {
		for k := range counts {
			counts[k] = 0.5
		}
		for _, at := range bought {
			share(l.Correlation[at], l.CorrelationSD[at])
			for k, part := range parts {
				counts[k] += part
			}
		}
		for k := range weights {
			weights[k] = counts[k] / (float64(len(bought)) + 0.5*float64(len(weights)))
		}
	}
	for _, at := range bought {
		x, sd := l.Correlation[at], l.CorrelationSD[at]
		share(x, sd)
		mean, square := 0.0, 0.0
		for k, s := range spreads {
			own := s * s / (s*s + sd*sd)
			mean += parts[k] * own * x
			square += parts[k] * (own*own*x*x + own*sd*sd)
		}
		set(l.Correlation, n, at/n, at%n, mean)
		set(l.CorrelationSD, n, at/n, at%n, math.Sqrt(max(square-mean*mean, 0)))
	}
}

func set(a []float64, n, i, j int, x float64) { a[i*n+j], a[j*n+i] = x, x }

// scored is the mean and the standard deviation of a column (of the indices of levels),
// and its correlation with its normal score, from the law's quantiles.
func scored(c *law.Column, f encoding.Field, transformed func(float64) float64) (mean, sd, reach float64) {
	const points = 400
	square, with := 0.0, 0.0
	for i := range points {
		u := (float64(i) + 0.5) / points
		x := c.Quantile(u)
		if f.Levels == nil {
			x = transformed(x)
		}
		mean += x / points
		square += x * x / points
		with += x * math.Sqrt2 * math.Erfinv(2*u-1) / points
	}
	sd = math.Sqrt(max(square-mean*mean, 0))
	if !(sd > 0) {
		return mean, 1, 1 // a constant, within the noise
	}
	return mean, sd, max(with/sd, 0.3)
}
