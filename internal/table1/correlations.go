package table1

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"d3p/internal/models"
	"d3p/internal/models/encoding"
	"d3p/internal/models/law"
	"d3p/internal/privacy"
)

// product is a number of the design: a column's, that it is in a level, or the constant 1,
// which has no column.
type product struct {
	column, level int
	field         encoding.Field
	transformed   func(float64) float64
	reading       privacy.Reading
	reach         float64 // correlation of a column with its normal score
}

// correlations buys the second moments of 1 and the columns, standardised by the law, and
// gives the law the correlations of their normal scores. They correct the means and the
// standard deviations of the columns, too.
func (p *Plan) correlations(c *privacy.Curator, m *models.Model, fields []encoding.Field, l *law.Law, spreads map[int]*spread) error {
	r := p.release(Moments)
	if r == nil {
		for i, s := range spreads {
			s.give(&l.Columns[i])
		}
		return nil
	}
	products, design := designOf(r, m, fields, l)
	sums, err := c.Moments(string(Moments), design)
	if err != nil {
		return err
	}
	slices.Sort(l.Coded)
	noise := r.Noise * r.Bound
	rows, _ := combined(l.Records, math.Hypot(l.RecordsSD, mostClipped*l.Records), sums[0], noise)
	errors := histogramErrors(l, products, spreads)
	bought := centred(sums, meansOf(errors), max(rows, 1), noise)
	bought.squares = estimatedSquares(products, errors, bought)
	setWithin(l, products, bought)
	setCorrelations(l, products, bought, nil)
	correctClipping(l, products, sums, noise, design.Bound, errors, m.Spec.Twin == nil)
	for i, s := range spreads {
		if l.Columns[i].ScaleSD == 0 && m.Spec.Twin == nil { // moments have not corrected it
			s.give(&l.Columns[i])
		}
	}
	return p.closer(c, l, m, products, bought)
}

// mostClipped is about the part of the moments that clipping takes.
const mostClipped = 0.1

// setCorrelations gives the law the correlations of the moments, plus those of correction
// (columns of the law squared) if there is one. The columns of the law that the model does
// not read are independent.
func setCorrelations(l *law.Law, products []product, s centredMoments, correction []float64) {
	n := len(l.Columns)
	l.Correlation, l.CorrelationSD = make([]float64, n*n), make([]float64, n*n)
	for j := range n {
		l.Correlation[j*n+j] = 1
	}
	for i, x := range products {
		for j, y := range products[:i] {
			if !x.isNumber() || !y.isNumber() {
				continue
			}
			rho, sd := s.correlation(i, j)
			reach, add := x.reach*y.reach, 0.0
			if correction != nil {
				add = correction[x.column*n+y.column]
			}
			set(l.Correlation, n, x.column, y.column, min(max(rho/reach+add, -0.999), 0.999))
			set(l.CorrelationSD, n, x.column, y.column, sd/reach)
		}
	}
	shrink(l)
	l.UsePositive()
}

func (p product) isNumber() bool { return p.column >= 0 && p.level < 0 }

// designOf is the design whose second moments the release r sums, with what each of its
// columns is: first the constant. It notes in l which categories are in it.
func designOf(r *Release, m *models.Model, fields []encoding.Field, l *law.Law) (products []product, design privacy.Design) {
	products = []product{{column: -1}}
	for _, f := range fields {
		d, at := find(m, f.Column), indexOf(l, m, f.Column)
		if slices.Contains(r.Coded, f.Column) {
			l.Coded = append(l.Coded, at)
			for level := range f.Levels {
				products = append(products, product{column: at, level: level, field: f, reading: privacy.Reading{Column: f.Column, Level: level, By: 1}, reach: 1})
			}
			continue
		}
		x := product{column: at, level: privacy.Number, field: f, transformed: d.Transformed}
		x.reading = privacy.Reading{Column: f.Column, Level: privacy.Number, Transform: d.Transform.V}
		x.reading.Center, x.reading.By, x.reach = scored(&l.Columns[at], f, d.Transformed)
		products = append(products, x)
	}
	design = privacy.Design{Bound: r.Bound, Noise: r.Noise}
	for _, x := range products {
		var factors []privacy.Reading
		if x.column >= 0 {
			factors = []privacy.Reading{x.reading}
		}
		design.Products = append(design.Products, factors)
	}
	return products, design
}

// centredMoments are second moments about the means of the records. The columns of the
// design are centred and scaled by histograms, whose noise can move two of them apart: two
// equal columns about centres that are .3 standard deviations off to both sides have a
// correlation of .83.
type centredMoments struct {
	rows  float64   // the sum of the constant
	means []float64 // by column of the design
	sums  []float64 // about the means, row-major
	noise float64   // standard deviation of each sum's noise
	// squares are what is known of the squares about the means by the histograms, too.
	squares []estimatedSquare
}

// estimatedSquare is a sum of squares about a mean, and the standard deviation of half its log.
type estimatedSquare struct{ sum, logSD float64 }

// centred takes the upper triangle of the moments of columns, the first of which is 1 and
// adds up to rows. A mean is within known of 0 by what was bought before. The moments are
// taken about its estimate by both, and its error is taken out of the squares.
func centred(moments, known []float64, rows, noise float64) centredMoments {
	k := len(known)
	s := centredMoments{rows: rows, means: make([]float64, k), sums: make([]float64, k*k), noise: noise}
	about, left := make([]float64, k), make([]float64, k)
	for j := range s.means {
		s.means[j] = moments[j] / rows
		part := 1.0
		if prior := known[j] * known[j]; !math.IsInf(prior, 1) && noise > 0 {
			part = prior / (prior + noise*noise/(rows*rows))
		}
		about[j], left[j] = part*s.means[j], part*noise*noise/(rows*rows)
	}
	at := 0
	for i := range k {
		for j := i; j < k; j++ {
			sum := moments[at] - rows*(about[i]*s.means[j]+about[j]*s.means[i]-about[i]*about[j])
			if i == j && i > 0 {
				sum += rows * left[i]
			}
			set(s.sums, k, i, j, sum)
			at++
		}
	}
	return s
}

// square is the sum of the squares of column i about its mean.
func (s centredMoments) square(i int) float64 { return s.sums[i*len(s.means)+i] }

// estimated is the square of column i, and the standard deviation of half its log, by all
// that is known.
func (s centredMoments) estimated(i int) (square, logSD float64) {
	if s.squares != nil && s.squares[i].sum > 0 {
		return s.squares[i].sum, s.squares[i].logSD
	}
	square = max(s.square(i), 4*s.noise, 1)
	return square, s.noise / (2 * square)
}

// correlation is that of columns i and j, and the standard deviation that the noise gives
// it, to first order.
func (s centredMoments) correlation(i, j int) (rho, sd float64) {
	a, aSD := s.estimated(i)
	b, bSD := s.estimated(j)
	rho = s.sums[i*len(s.means)+j] / math.Sqrt(a*b)
	return rho, math.Hypot(s.noise/math.Sqrt(a*b), min(math.Abs(rho), 1)*math.Hypot(aSD, bSD))
}

// setWithin gives the law the means of numbers within the levels of coded columns: the sum
// of a number in a level over its rows.
func setWithin(l *law.Law, products []product, s centredMoments) {
	for i, x := range products {
		if !x.isNumber() {
			continue
		}
		square, _ := s.estimated(i)
		sd := math.Sqrt(square / s.rows)
		for _, category := range l.Coded {
			shares := l.Columns[category].Shares
			w := law.Within{Column: x.column, Category: category, Mean: make([]float64, len(shares)), SD: make([]float64, len(shares))}
			for j, y := range products {
				if y.column == category {
					scale := max(shares[y.level]*s.rows, 1) * x.reach * sd
					w.Mean[y.level], w.SD[y.level] = s.sums[i*len(products)+j]/scale, s.noise/scale
				}
			}
			l.Within = append(l.Within, w)
		}
	}
}

// normal is one of the normals whose mixture is the distribution of the true correlations.
type normal struct{ mean, sd float64 }

// normals are those about 0, wide and narrow, and narrow ones elsewhere: where many columns share a cause, their
// correlations are alike, but not 0. priorCount is the number of correlations that each counts beforehand.
func normals() (list []normal, priorCount []float64) {
	for _, sd := range []float64{0, 0.05, 0.1, 0.2, 0.4, 0.8} {
		list, priorCount = append(list, normal{0, sd}), append(priorCount, 0.5)
	}
	const width = 0.1
	for k := 2; k < 10; k++ {
		for _, mean := range []float64{-width * float64(k), width * float64(k)} {
			list, priorCount = append(list, normal{mean, width / 2}), append(priorCount, 0.1)
		}
	}
	return list, priorCount
}

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
	mixture, prior := normals()
	const rounds = 50 // of expectation and maximisation
	weights, counts := slices.Clone(prior), make([]float64, len(mixture))
	parts := make([]float64, len(mixture))
	// share sets parts to the posterior probabilities of the normals for x with noise sd.
	share := func(x, sd float64) {
		for k, s := range mixture {
			v := s.sd*s.sd + sd*sd
			parts[k] = weights[k] * math.Exp(-(x-s.mean)*(x-s.mean)/(2*v)) / math.Sqrt(v)
		}
		floats.Scale(1/floats.Sum(parts), parts)
	}
	for range rounds {
		copy(counts, prior)
		for _, at := range bought {
			share(l.Correlation[at], l.CorrelationSD[at])
			floats.Add(counts, parts)
		}
		copy(weights, counts)
	}
	for _, at := range bought {
		x, sd := l.Correlation[at], l.CorrelationSD[at]
		share(x, sd)
		mean, square := 0.0, 0.0
		for k, s := range mixture {
			own := s.sd * s.sd / (s.sd*s.sd + sd*sd)
			y := s.mean + own*(x-s.mean)
			mean += parts[k] * y
			square += parts[k] * (y*y + own*sd*sd)
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
