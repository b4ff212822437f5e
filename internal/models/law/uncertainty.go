package law

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/dist"
	"d3p/internal/stats"
)

// Drawn is a law that may be the truth behind l: every number of l plus noise of its
// standard deviation; the means within levels as far as their noise does not explain them, pairs of
// levels by drawnCell. Drawn laws differ by the uncertainty of l.
func (l *Law) Drawn(rng dist.Rand) *Law {
	out := *l
	out.shared = &shared{}
	noisy := func(x []float64, sd func(i int) float64) []float64 {
		x = slices.Clone(x)
		for i := range x {
			x[i] += sd(i) * rng.Normal()
		}
		return x
	}
	out.Columns = slices.Clone(l.Columns)
	for i := range out.Columns {
		if c := &out.Columns[i]; len(c.ShareSD) == len(c.Shares) && c.Shares != nil {
			c.Shares = stats.Simplex(noisy(c.Shares, func(k int) float64 { return c.ShareSD[k] }), 1)
			if c.Edges == nil {
				c.ShareSD = nil // what is drawn is a truth, about which no caution is needed
			}
			if c.ScaleSD > 0 {
				*c = c.spreadLike(&l.Columns[i], c.ShiftSD*rng.Normal(), math.Exp(c.ScaleSD*rng.Normal()))
			}
		}
	}
	if n := len(l.Columns); l.Correlation != nil {
		out.Correlation = noisyMatrix{l.Correlation, l.CorrelationSD, n}.drawn(rng)
		MakePositive(out.Correlation, n)
	}
	if l.Closer != nil {
		out.Closer = l.Closer.drawn(rng)
	}
	out.Pairs = slices.Clone(l.Pairs)
	for i := range out.Pairs {
		p := &out.Pairs[i]
		first, second := l.Columns[p.Of[0]].levelShares(), l.Columns[p.Of[1]].levelShares()
		if p.reliability(first, second) > 0 {
			p.Shares, p.SD = p.drawn(first, second, rng), 0
		}
	}
	out.Within = slices.Clone(l.Within)
	for i, w := range l.Within {
		out.Within[i] = w.drawn(l.Columns[w.Category].levelShares(), rng)
	}
	out.Groups = slices.Clone(l.Groups)
	for i := range out.Groups {
		if w := &out.Groups[i]; w.RestSD > 0 {
			w.Rest, w.RestSD = min(math.Abs(w.Rest+w.RestSD*rng.Normal()), 1), 0
		}
	}
	out.dealAnew(rng)
	return &out
}

// PlugIn is l without caution: records are simulated by its estimates as if they were the truth.
func (l *Law) PlugIn() *Law {
	out := *l
	out.shared = &shared{}
	out.Columns = slices.Clone(l.Columns)
	for i := range out.Columns {
		if out.Columns[i].Edges == nil {
			out.Columns[i].ShareSD = nil
		}
	}
	if l.CorrelationSD != nil {
		out.CorrelationSD = make([]float64, len(l.CorrelationSD))
	}
	if l.Closer != nil {
		out.Closer = l.Closer.noiseless()
	}
	out.Groups = slices.Clone(l.Groups)
	for i := range out.Groups {
		out.Groups[i].RestSD = 0
	}
	return &out
}

// Constant is l with every column of numbers that was not bought at its declared center.
func (l *Law) Constant() *Law {
	out := l.Copy()
	for i := range out.Columns {
		if c := &out.Columns[i]; c.Shares == nil && c.declared.Numeric() {
			center, _ := c.declared.Scale()
			at := c.declared.Untransformed(center)
			c.Edges, c.Shares = []float64{at, at}, []float64{1}
		}
	}
	return out
}

// spreadLike is c with the mean and the standard deviation of another column, moved by shift
// of its standard deviations and factor times as wide.
func (c *Column) spreadLike(other *Column, shift, factor float64) Column {
	mean, sd := other.Moments()
	own, ownSD := c.Moments()
	if !(ownSD > 0 && sd > 0) {
		return *c
	}
	return c.Adjusted((mean+shift*sd-own)/ownSD, factor*sd/ownSD, c.ShiftSD, c.ScaleSD)
}

// caution is by how many standard deviations of its noise a direction of scores has less
// variance than was bought; leastDirection is what it keeps at least. Of two columns that are
// correlated by .8 ± .15 the difference may have a tenth of the variance that follows from
// .8. A variance that is taken too small widens an interval; one too large makes it wrong.
const caution, leastDirection = 1.0, 0.03

// cautiousCorrelation is the correlation matrix with less variance in the directions that
// have less than a column of their own.
func (l *Law) cautiousCorrelation() []float64 {
	n := len(l.Columns)
	if l.Correlation == nil || len(l.CorrelationSD) != n*n {
		return l.Correlation
	}
	out := slices.Clone(l.Correlation)
	mapEigenvalues(out, n, func(value float64, vector []float64) float64 {
		if value >= 1 {
			return value
		}
		square := 0.0 // of the noise of the value, to first order
		for i, x := range vector {
			for j, y := range vector[:i] {
				square += math.Pow(2*x*y*l.CorrelationSD[i*n+j], 2)
			}
		}
		return max(value-caution*math.Sqrt(square), min(value, leastDirection))
	})
	return out
}

// correlations are those of these columns, row-major.
func (l *Law) correlations(of []int) []float64 {
	out := make([]float64, 0, len(of)*len(of))
	for _, x := range of {
		for _, y := range of {
			out = append(out, l.Correlation[x*len(l.Columns)+y])
		}
	}
	return out
}

// Narrowest is the least variance of a direction of the scores of these columns, and that
// direction; infinite for fewer than two columns.
func (l *Law) Narrowest(of []int) (variance float64, direction []float64) {
	var eigen mat.EigenSym
	if len(of) < 2 || !eigen.Factorize(mat.NewSymDense(len(of), l.correlations(of)), true) {
		return math.Inf(1), nil
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	return eigen.Values(nil)[0], mat.Col(nil, 0, &vectors)
}

// OwnParts are the parts of the variance of each of these columns' scores that the others do not
// explain, and what is not known of them. A closer look tells them; else the noise of the
// correlations does, to first order: d = 1/P_jj, P the inverse of the correlations, has the derivative
// 2d²P_ja P_jb in that of a and b. They are nil without correlations.
func (l *Law) OwnParts(of []int) (parts, sd []float64) {
	n, k := len(l.Columns), len(of)
	if len(l.CorrelationSD) != n*n || k == 0 {
		return nil, nil
	}
	a := l.correlations(of)
	MakePositive(a, k)
	inverse := inverted(a, k)
	if inverse == nil {
		return nil, nil
	}
	parts, sd = make([]float64, k), make([]float64, k)
	for j, column := range of {
		if own := &l.Columns[column]; own.OwnSD > 0 {
			parts[j], sd[j] = own.Own, own.OwnSD
			continue
		}
		parts[j] = 1 / inverse.At(j, j)
		for i, x := range of {
			for h, y := range of[:i] {
				sd[j] += math.Pow(2*parts[j]*parts[j]*inverse.At(j, i)*inverse.At(j, h)*l.CorrelationSD[x*n+y], 2)
			}
		}
		sd[j] = math.Sqrt(sd[j])
	}
	return parts, sd
}

// leastEigenvalue of a correlation matrix replaces eigenvalues that noise makes smaller or
// negative.
const leastEigenvalue = 0.01

// MakePositive makes a symmetric matrix [n x n] with ones on its diagonal a positive
// definite correlation matrix.
func MakePositive(a []float64, n int) {
	mapEigenvalues(a, n, func(value float64, _ []float64) float64 { return max(value, leastEigenvalue) })
}

// UsePositive replaces the bought correlations and their standard deviations by those among positive definite matrices.
func (l *Law) UsePositive() {
	n := len(l.Columns)
	if n <= mostInChain {
		mean, sd := noisyMatrix{l.Correlation, l.CorrelationSD, n}.moments(knownByDraws, slices.Clone[[]float64])
		for i := range mean {
			if l.CorrelationSD[i] > 0 {
				l.Correlation[i], l.CorrelationSD[i] = mean[i], sd[i]
			}
		}
	}
	MakePositive(l.Correlation, n)
}

// mapEigenvalues gives a correlation matrix [n x n] other eigenvalues, and brings its diagonal
// back to 1. A matrix whose eigenvalues stay keeps its bits; one that has none becomes the
// identity.
func mapEigenvalues(a []float64, n int, to func(value float64, vector []float64) float64) {
	stay := 0
	out := spectral(a, n, func(value float64, vector []float64) float64 {
		x := to(value, vector)
		if x == value {
			stay++
		}
		return x
	})
	if stay < n {
		correlated(out, n)
		copy(a, out)
	}
}

// OneFactor is l with correlations of the columns of numbers among these names by a one-factor
// model: each has this communality, the share of its score's variance from the factor, and a
// random sign. It is nil where correlations were bought, and of fewer than two such columns.
func (l *Law) OneFactor(names []string, communality float64, rng dist.Rand) *Law {
	loading, numbers := make([]float64, len(l.Columns)), 0
	for i := range l.Columns {
		if c := &l.Columns[i]; c.declared.Numeric() && c.group < 0 && slices.Contains(names, c.Name) {
			loading[i] = math.Copysign(math.Sqrt(communality), rng.Uniform()-0.5)
			numbers++
		}
	}
	if l.Correlation != nil || len(l.Coded) > 0 || numbers < 2 {
		return nil
	}
	out, n := l.Copy(), len(l.Columns)
	out.Correlation, out.CorrelationSD = make([]float64, n*n), make([]float64, n*n)
	for i, x := range loading {
		for j, y := range loading {
			out.Correlation[i*n+j] = x * y
		}
		out.Correlation[i*n+i] = 1
	}
	return out
}
