package table1

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/models/encoding"
	"d3p/internal/models/law"
	"d3p/internal/privacy"
)

// The rule of closer looks: the noise of a direction's variance, as a part of it, should be goodCloser for
// at most mostCloser of μ², which closerLooks of them share. Where it would be more than poorCloser there
// are none.
const (
	goodCloser, poorCloser, mostCloser = 0.03, 0.3, 0.01
	widestBound                        = 4
	closerLooks                        = 2
)

// closerShare is the part of μ², at most most, that closer looks take where μN is signal, and their bound; 0
// for none. What is left of most raises the bound, up to widestBound times momentsBound: clipping takes less.
func closerShare(m *models.Model, signal, most float64) (share, bound float64) {
	columns := len(closerColumns(m))
	bound = boundOfSquares(columns) * float64(max(m.Encoding.RowsPerUnit, 1))
	bound *= min(max(1, goodCloser*signal*math.Sqrt(most)/bound), widestBound)
	share = min(math.Pow(bound/(goodCloser*signal), 2), most)
	if columns < 2 || bound > poorCloser*signal*math.Sqrt(share) {
		return 0, 0
	}
	return share, bound
}

// withCloser adds closer looks with this bound, which take share of μ², to a plan with correlations; none
// for 0.
func (p *Plan) withCloser(share, bound, mu float64) *Plan {
	if p.Correlates() && share > 0 {
		sigma := math.Sqrt(closerLooks/share) / mu
		for range closerLooks {
			p.Releases = append(p.Releases, Release{Kind: Closer, Noise: sigma, Bound: bound, NoiseMultiplier: sigma})
		}
		p.Share += share
	}
	return p
}

// closerColumns are the headers of the numbers in linear predictors that closer looks are about: each
// with a value in every usable row, none constant within groups.
func closerColumns(m *models.Model) (headers []string) {
	d := &m.Spec.Data
	for _, p := range m.LinearPredictors() {
		for _, label := range p.Coefficients.Dims[0].Labels {
			factors, _ := d.Factors(label)
			for _, f := range factors {
				c := f.Column
				if c.Numeric() && !f.Missing && find(m, c.HeaderName()) == c && d.Group(c) == nil && law.Rejects(d, c) {
					headers = append(headers, c.HeaderName())
				}
			}
		}
	}
	slices.Sort(headers)
	headers = slices.Compact(headers)
	return slices.DeleteFunc(headers, func(header string) bool {
		return !slices.ContainsFunc(m.Encoding.Columns(), func(f encoding.Field) bool { return f.Column == header && f.Kind == encoding.Numeric && ranged(f) })
	})
}

// leastUnit is the least unit of a direction, squared, in standard deviations of what is not known of its
// variance.
const leastUnit = 2

// closer buys second moments of numbers along their directions, in units of the standard deviation along
// each. Then the noise of a narrow direction is a part of its own variance (Biswas, Dong, Kamath and Ullman
// 2020, arXiv:2006.06618). The first look takes the directions of the correlations s, of products, and each
// later one those that all looks so far show. The law gets all looks together.
func (p *Plan) closer(c *privacy.Curator, l *law.Law, m *models.Model, products []product, s centredMoments) error {
	if !p.LooksCloser() {
		return nil
	}
	own, headers := []product{products[0]}, closerColumns(m)
	var at []int // in products
	for i, x := range products {
		if x.isNumber() && slices.Contains(headers, x.field.Column) {
			own, at = append(own, x), append(at, i)
		}
	}
	seen := correlationsOf(s, at)
	for _, i := range at {
		seen.Columns = append(seen.Columns, products[i].column)
	}
	for _, r := range p.Releases {
		if r.Kind != Closer {
			continue
		}
		seen = alongDirections(seen)
		design := closerDesign(&r, seen, own, at, s)
		sums, err := c.Moments(string(Closer), design)
		if err != nil {
			return err
		}
		before, k := *seen, len(at)
		moments, sd := covariance(sums, k), slices.Repeat([]float64{r.Noise * r.Bound / max(sums[0], 1)}, k*k)
		add(seen, &before, moments, sd)
		l.Closer = seen
		// Lengths and weights of animals lie along a curve, those of a law do not: half of what clipping would
		// take from the law is given back, and all of it is the error.
		left := clippedParts(l.AsBought(), own, design)
		for i := range moments {
			part := math.Sqrt(left[i/k] * left[i%k])
			moments[i] /= part
			sd[i] = math.Hypot(sd[i]/part, 1/(part*part)-1)
		}
		add(seen, &before, moments, sd)
	}
	l.SetCloser(seen)
	return nil
}

// correlationsOf has the correlations of the products at these places in the form of a closer look
// whose directions are the columns.
func correlationsOf(s centredMoments, at []int) *law.Closer {
	k := len(at)
	c := &law.Closer{Basis: make([]float64, k*k), Moments: make([]float64, k*k), SD: make([]float64, k*k)}
	for i := range at {
		c.Basis[i*k+i], c.Moments[i*k+i], c.SD[i*k+i] = 1, 1, s.noise/s.rows
		for j := range i {
			rho, _ := s.correlation(at[i], at[j])
			set(c.Moments, k, i, j, min(max(rho, -1), 1))
			set(c.SD, k, i, j, s.noise/s.rows)
		}
	}
	return c
}

// alongDirections is c along the eigenvectors of the covariance of its columns.
func alongDirections(c *law.Closer) *law.Closer {
	k := len(c.Columns)
	basis, moments := mat.NewDense(k, k, c.Basis), mat.NewDense(k, k, c.Moments)
	var square, toVectors mat.Dense
	square.Product(basis.T(), moments, basis)
	var eigen mat.EigenSym
	vectors := mat.NewDense(k, k, nil)
	if eigen.Factorize(mat.NewSymDense(k, square.RawMatrix().Data), true) {
		eigen.VectorsTo(vectors)
	} else {
		for e := range k {
			vectors.Set(e, e, 1)
		}
	}
	toVectors.Mul(vectors.T(), basis.T())
	plain := inCoordinates(c, &toVectors)
	scale, directions := mat.NewDiagDense(k, nil), mat.NewDense(k, k, nil)
	for e := range k {
		unit := math.Sqrt(max(plain.Moments[e*k+e], leastUnit*plain.SD[e*k+e]))
		scale.SetDiag(e, 1/unit)
		for j := range k {
			directions.Set(e, j, unit*vectors.At(j, e))
		}
	}
	var toUnits mat.Dense
	toUnits.Mul(scale, &toVectors)
	out := inCoordinates(c, &toUnits)
	out.Basis = directions.RawMatrix().Data
	return out
}

// inCoordinates has the moments of c in the coordinates to · those of c, with their noise, as if that of each
// moment were its own.
func inCoordinates(c *law.Closer, to *mat.Dense) *law.Closer {
	k := len(c.Columns)
	out := &law.Closer{Columns: c.Columns, SD: make([]float64, k*k)}
	var moments mat.Dense
	moments.Product(to, mat.NewDense(k, k, c.Moments), to.T())
	out.Moments = moments.RawMatrix().Data
	for a := range k {
		for b := range a + 1 {
			sd := 0.0
			for i := range k {
				sd = math.Hypot(sd, to.At(a, i)*to.At(b, i)*c.SD[i*k+i])
				for j := range i {
					sd = math.Hypot(sd, (to.At(a, i)*to.At(b, j)+to.At(a, j)*to.At(b, i))*c.SD[i*k+j])
				}
			}
			set(out.SD, k, a, b, sd)
		}
	}
	return out
}

// closerDesign is the design of a closer look along the directions of seen. own are the constant and the
// columns, which are products of s at these places.
func closerDesign(r *Release, seen *law.Closer, own []product, at []int, s centredMoments) privacy.Design {
	k := len(at)
	d := privacy.Design{Products: [][]privacy.Reading{{}}, Bound: r.Bound, Noise: r.Noise, Map: [][]float64{make([]float64, k+1)}}
	d.Map[0][0] = 1
	for _, x := range own[1:] {
		d.Products = append(d.Products, []privacy.Reading{x.reading})
	}
	for e := range k {
		row, direction := make([]float64, k+1), seen.Basis[e*k:e*k+k]
		square := floats.Dot(direction, direction) // of the unit
		for j, i := range at {
			variance, _ := s.estimated(i)
			row[j+1] = direction[j] / square / math.Sqrt(variance/s.rows)
			row[0] -= row[j+1] * s.means[i]
		}
		d.Map = append(d.Map, row)
	}
	return d
}

// add sets c to the mean of before and of moments with these errors, each weighted by its error. The
// correlations that came first are of columns whose clipped squares are 1. So moments are too large by one
// common factor; add takes it from the variances that both measure best.
func add(c, before *law.Closer, moments, sd []float64) {
	k, seen, known := len(c.Columns), 0.0, 0.0
	for at := 0; at < k*k; at += k + 1 {
		weight := 1 / (before.SD[at]*before.SD[at] + sd[at]*sd[at])
		seen, known = seen+weight*moments[at], known+weight*before.Moments[at]
	}
	scale := 1.0
	if seen > 0 && known > 0 {
		scale = known / seen
	}
	c.Moments, c.SD = make([]float64, k*k), make([]float64, k*k)
	for i, x := range moments {
		c.Moments[i], c.SD[i] = combined(before.Moments[i], before.SD[i], scale*x, scale*sd[i])
	}
}

// covariance is that of K numbers after a 1, whose second moments have this upper triangle.
func covariance(sums []float64, k int) []float64 {
	rows, at := max(sums[0], 1), k+1
	out := make([]float64, k*k)
	for i := range k {
		for j := i; j < k; j++ {
			set(out, k, i, j, sums[at]/rows-sums[i+1]*sums[j+1]/(rows*rows))
			at++
		}
	}
	return out
}

// clippedParts are the parts of the standard deviations along the directions of a design that clipping
// leaves, for records of a law. products are those of the design.
func clippedParts(l *law.Law, products []product, design privacy.Design) []float64 {
	k := len(products)
	values := simulatedValues(l)
	x, y := make([]float64, k), make([]float64, k)
	size := k * (k + 1) / 2
	v, clipped, whole := make([]float64, size), make([]float64, size), make([]float64, size)
	for b := range simulatedRecords {
		for j, p := range products {
			x[j] = p.of(values, b)
		}
		for e, row := range design.Map {
			y[e] = floats.Dot(row, x)
		}
		outer(v, y)
		floats.AddScaled(clipped, min(1, design.Bound/floats.Norm(v, 2)), v)
		floats.Add(whole, v)
	}
	parts, all := covariance(clipped, k-1), covariance(whole, k-1)
	out := make([]float64, k-1)
	for e := range out {
		out[e] = 1
		if at := e*(k-1) + e; parts[at] > 0 && all[at] > 0 {
			out[e] = math.Sqrt(parts[at] / all[at])
		}
	}
	return out
}
