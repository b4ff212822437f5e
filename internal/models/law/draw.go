package law

import (
	"math"
	"slices"

	"d3p/internal/models/dist"
	"d3p/internal/models/special"
)

// Draw fills values with records: values[i][b] is column i of record b, a number in the
// unit of the file or the index of a level. NaN is a missing value, in columns whose rule
// does not reject the row.
//
// A column that is constant within a group has one value for each level of it, the same in
// every call (between). One that may be, and whose scores by level are known, has these and the rest
// of its variance within levels.
func (l *Law) Draw(values [][]float64, rng dist.Rand) {
	l.drawOnce(values, rng)
	if l.Closer != nil {
		l.moving().move(values)
	}
}

// moving is the mover of a law with a closer look.
func (l *Law) moving() *mover {
	if l.shared == nil {
		return l.newMover()
	}
	l.shared.moverOnce.Do(func() { l.shared.mover = l.newMover() })
	return l.shared.mover
}

// drawOnce is Draw without the closer look.
func (l *Law) drawOnce(values [][]float64, rng dist.Rand) {
	if v := l.byLevels(); v != nil {
		z := make([]float64, len(v.rest))
		for b := range values[0] {
			v.draw(l.Coded, values, b, z, rng.Uniform, rng.Normal)
			for i := range l.Columns {
				if l.Columns[i].absent(rng) {
					values[i][b] = math.NaN()
				}
			}
		}
		return
	}
	l = l.cautious()
	order := l.order()
	if l.Correlation == nil {
		l.drawIndependent(values, order, rng)
		return
	}
	n := len(l.Columns)
	root := cholesky(permuted(l.Correlation, order), n)
	groups := l.betweens(order, root)
	z := make([]float64, n) // in the order
	for b := range values[0] {
		for k := range z {
			z[k] = rng.Normal()
		}
		for k, i := range order {
			c := &l.Columns[i]
			score := 0.0
			level, g := -1, groups[i]
			if g != nil && !math.IsNaN(values[g.of][b]) {
				level = int(values[g.of][b])
			}
			if level >= 0 && g.own != nil {
				score, z[k] = g.score[level], g.own[level]
			} else {
				for j, x := range root[k*n : k*n+k+1] {
					score += x * z[j]
				}
				if level >= 0 {
					score = g.score[level] + g.rest*score
				}
			}
			values[i][b] = c.Quantile(special.NormalCDF(score))
			if c.absent(rng) {
				values[i][b] = math.NaN()
			}
		}
	}
}

// drawIndependent is Draw of columns without correlations, in this order.
func (l *Law) drawIndependent(values [][]float64, order []int, rng dist.Rand) {
	groups := l.betweens(order, nil)
	for i := range l.Columns {
		for b := range values[i] {
			values[i][b] = l.Columns[i].Draw(rng)
		}
	}
	for _, i := range order {
		if g := groups[i]; g != nil {
			g.replace(&l.Columns[i], values[i], values[g.of], rng)
		}
	}
}

// Below is the share of the values of a bought column of numbers below x.
func (c *Column) Below(x float64) float64 {
	below := 0.0
	for i, share := range c.Shares {
		switch low, high := c.Edges[i], c.Edges[i+1]; {
		case x >= high:
			below += share
		case x > low:
			below += share * (x - low) / (high - low)
		}
	}
	return min(below, 1)
}

// Draw draws a value of the column alone. The draws of a declared column use the
// generator as follows: a level takes one word, a number at a declared scale a
// uniform and a normal, another number a uniform.
func (c *Column) Draw(rng dist.Rand) float64 {
	if c.absent(rng) {
		return math.NaN()
	}
	if c.Shares != nil {
		return c.Quantile(rng.Uniform())
	}
	d := c.declared
	if !d.Numeric() {
		return float64(rng.Uint64() % uint64(len(d.Levels)))
	}
	lower, upper := d.Transformed(d.Lower.V), d.Transformed(d.Upper.V)
	x := lower + (upper-lower)*rng.Uniform()
	if center, by := d.Scale(); d.Center.IsSet() && d.By.IsSet() {
		x = center + by*rng.Normal()
	}
	return c.admit(d.Untransformed(min(max(x, lower), upper)))
}

// Quantile is the value below which the share u of the values lies, 0 <= u <= 1.
// For levels, these are in the order of their declaration.
func (c *Column) Quantile(u float64) float64 {
	d := c.declared
	if c.Shares != nil {
		i := 0
		for ; i < len(c.Shares)-1 && u >= c.Shares[i]; i++ {
			u -= c.Shares[i]
		}
		if c.Edges == nil {
			return float64(i)
		}
		part := 0.5
		if c.Shares[i] > 0 {
			part = min(u/c.Shares[i], 1)
		}
		return c.admit(c.Edges[i] + part*(c.Edges[i+1]-c.Edges[i]))
	}
	if !d.Numeric() {
		return math.Min(math.Floor(u*float64(len(d.Levels))), float64(len(d.Levels)-1))
	}
	lower, upper := d.Transformed(d.Lower.V), d.Transformed(d.Upper.V)
	x := lower + (upper-lower)*u
	if center, by := d.Scale(); d.Center.IsSet() && d.By.IsSet() {
		x = center + by*math.Sqrt2*math.Erfinv(2*u-1)
	}
	return c.admit(d.Untransformed(min(max(x, lower), upper)))
}

// admit moves a number to the nearest declared value.
func (c *Column) admit(x float64) float64 {
	d := c.declared
	if d.Whole() {
		x = math.Round(x)
	}
	return min(max(x, d.Lower.V), d.Upper.V)
}

// absent draws whether a value is missing. It takes no random number if none can be
// missing.
func (c *Column) absent(rng dist.Rand) bool {
	return c.Missing > 0 && !c.rejects && rng.Uniform() < c.Missing
}

// cholesky is the lower triangular root of a positive definite matrix [n x n].
func cholesky(a []float64, n int) []float64 {
	root := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			s := a[i*n+j]
			for k := range j {
				s -= root[i*n+k] * root[j*n+k]
			}
			if i == j {
				if !(s > 0) {
					panic("law: the correlation matrix is not positive definite")
				}
				root[i*n+i] = math.Sqrt(s)
			} else {
				root[i*n+j] = s / root[j*n+j]
			}
		}
	}
	return root
}

// permuted is the matrix a with rows and columns in this order.
func permuted(a []float64, order []int) []float64 {
	n := len(order)
	out := make([]float64, n*n)
	for k, i := range order {
		for m, j := range order {
			out[k*n+m] = a[i*n+j]
		}
	}
	return out
}

// cautious is l with fewer records of rare levels: each share is smaller by the standard
// deviation of its noise. So simulated records seldom inform more about a level than its
// real records do. A level that may have no records gets none. First, shares move towards
// equal ones as far as their noise explains the differences: with many levels the noise
// alone would leave half of them without records.
func (l *Law) cautious() *Law {
	out := *l
	out.Columns = slices.Clone(l.Columns)
	for i := range out.Columns {
		c := &out.Columns[i]
		if c.Edges != nil || len(c.ShareSD) != len(c.Shares) {
			continue
		}
		shares, sum := make([]float64, len(c.Shares)), 0.0
		mean, part := 1/float64(len(c.Shares)), c.shareReliability()
		for k, share := range c.Shares {
			shares[k] = math.Max(mean+part*(share-mean)-math.Sqrt(part)*c.ShareSD[k], 0)
			sum += shares[k]
		}
		if sum > 0 {
			for k := range shares {
				shares[k] /= sum
			}
			c.Shares = shares
		}
	}
	out.Correlation = l.cautiousCorrelation()
	out.Groups = slices.Clone(l.Groups)
	for i := range out.Groups {
		w := &out.Groups[i]
		w.Rest = max(0, w.Rest-caution*w.RestSD)
	}
	return &out
}

// shownShare times the standard deviation of its noise is the least mean share of a column's
// levels at which a level without records shows by itself. There a rare level is told from
// the others, and their mean is no evidence about it.
const shownShare = 2.0

// shareReliability is the part of the variance between a column's shares that is not
// their noise, from 0 to 1.
func (c *Column) shareReliability() float64 {
	n := float64(len(c.Shares))
	mean, between, noise := 1/n, 0.0, 0.0
	for k, share := range c.Shares {
		between += (share - mean) * (share - mean)
		noise += c.ShareSD[k] * c.ShareSD[k]
	}
	if between == 0 || mean > shownShare*math.Sqrt(noise/n) {
		return 1
	}
	return math.Max(0, 1-noise/between)
}
