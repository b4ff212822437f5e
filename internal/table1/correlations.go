package table1

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/models/encoding"
	"d3p/internal/models/law"
	"d3p/internal/privacy"
)

// leastEigenvalue of a correlation matrix: what noise leaves smaller or negative is set
// to it.
const leastEigenvalue = 0.01

// correlations buys the second moments of the columns, standardised by the law, and gives
// the law the correlations of their normal scores.
func (p *Plan) correlations(c *privacy.Curator, m *models.Model, fields []encoding.Field, l *law.Law) error {
	r := p.release(Moments)
	if r == nil {
		return nil
	}
	k := len(fields)
	design := privacy.Design{Bound: r.Bound, Noise: r.Noise}
	reach := make([]float64, k) // correlation of a column with its normal score
	for i, f := range fields {
		d := find(m, f.Column)
		own := l.Column(d.Name.V)
		reading := privacy.Reading{Column: f.Column, Level: privacy.Number, Transform: d.Transform.V}
		reading.Center, reading.By, reach[i] = scored(own, f, d.Transformed)
		design.Products = append(design.Products, []privacy.Reading{reading})
	}
	moments, err := c.Moments(string(Moments), design)
	if err != nil {
		return err
	}
	// the columns of the law that the model does not read are independent
	all := len(l.Columns)
	place := make([]int, k)
	for i, f := range fields {
		name := find(m, f.Column).Name.V
		for j := range l.Columns {
			if l.Columns[j].Name == name {
				place[i] = j
			}
		}
	}
	l.Correlation, l.CorrelationSD = make([]float64, all*all), make([]float64, all*all)
	for j := range all {
		l.Correlation[j*all+j] = 1
	}
	diagonal, at := make([]float64, k), 0
	for i := range k {
		diagonal[i] = max(moments[at], 4*r.Noise*r.Bound, 1)
		at += k - i
	}
	at = 0
	for i := range k {
		for j := i; j < k; j++ {
			if j > i {
				scale := math.Sqrt(diagonal[i]*diagonal[j]) * reach[i] * reach[j]
				set(l.Correlation, all, place[i], place[j], min(max(moments[at]/scale, -0.999), 0.999))
				set(l.CorrelationSD, all, place[i], place[j], r.Noise*r.Bound/scale)
			}
			at++
		}
	}
	shrink(l)
	makePositive(l.Correlation, all)
	return nil
}

// shrink draws the correlations towards 0, as far as all of them together do not
// contradict it (James and Stein 1961).
func shrink(l *law.Law) {
	n := len(l.Columns)
	distance, pairs := 0.0, 0.0
	for i := range n {
		for j := range i {
			if sd := l.CorrelationSD[i*n+j]; sd > 0 {
				distance += l.Correlation[i*n+j] * l.Correlation[i*n+j] / (sd * sd)
				pairs++
			}
		}
	}
	own := 1.0
	if pairs > 2 {
		own = max(0, 1-(pairs-2)/distance)
	}
	for i := range n {
		for j := range i {
			set(l.Correlation, n, i, j, own*l.Correlation[i*n+j])
			set(l.CorrelationSD, n, i, j, math.Sqrt(own)*l.CorrelationSD[i*n+j])
		}
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
		return mean, 1, 1 // a constant, as far as is known
	}
	return mean, sd, max(with/sd, 0.3)
}

// makePositive makes a symmetric matrix [n x n] with ones on its diagonal a positive
// definite correlation matrix.
func makePositive(a []float64, n int) {
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, append([]float64(nil), a...)), true) {
		clear(a)
		for i := range n {
			a[i*n+i] = 1
		}
		return
	}
	values := eigen.Values(nil)
	if values[0] >= leastEigenvalue {
		return
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for i := range n {
		for j := range n {
			x := 0.0
			for e, v := range values {
				x += vectors.At(i, e) * max(v, leastEigenvalue) * vectors.At(j, e)
			}
			a[i*n+j] = x
		}
	}
	scale := make([]float64, n)
	for i := range n {
		scale[i] = math.Sqrt(a[i*n+i])
	}
	for i := range n {
		for j := range n {
			a[i*n+j] /= scale[i] * scale[j]
		}
		a[i*n+i] = 1
	}
	for i := range n {
		for j := range i {
			a[i*n+j] = a[j*n+i]
		}
	}
}
