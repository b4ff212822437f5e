package law

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/dist"
	"d3p/internal/models/special"
	"d3p/internal/simd"
)

// noisyMatrix is what is known of a symmetric positive definite matrix [n x n], row-major: each entry is normal with this
// mean and this standard deviation, among the matrices that are positive definite. An entry that is known has the standard
// deviation 0.
//
// Many columns have many correlations. Drawn one by one they are hardly ever those of a positive definite matrix, and with
// negative eigenvalues raised it is nearly singular: of 20 columns whose correlations follow an autoregression by .7 and are
// known within .05, the smallest eigenvalue is .01, not .18. That of the mean of matrices as drawn here is .11.
type noisyMatrix struct {
	mean, sd []float64
	n        int
}

// burnIn is the number of sweeps before a matrix is taken from a chain. Beyond mostInChain columns a sweep, of n⁴/2
// multiplications, takes too long: they are drawn one by one.
const burnIn, mostInChain = 30, 64

// ownPart is the mean part of a column's variance that the others do not explain before correlations are known: the
// determinant to the power η - 1 gives these parts, among n columns, the distribution beta(η, (n-1)/2) (Lewandowski,
// Kurowicka and Joe 2009, doi:10.1016/j.jmva.2009.04.008). The power is at least leastPower, that of ten columns: of few
// columns a smaller one would leave only singular matrices.
//
// Tables that people have need so small a part: with matrices all alike, intervals of the lengths and weights of abalone held
// 44 % of the means without privacy (ε = 1), with these powers all. The price is width where columns are further apart.
const ownPart, leastPower = 0.1, -0.5

// power is that of the determinant in the density.
func (m noisyMatrix) power() float64 {
	uncertain := 0
	for i := range m.n {
		for j := range m.n {
			if j != i && m.sd[i*m.n+j] > 0 {
				uncertain++
				break
			}
		}
	}
	return max(float64(uncertain-1)/2*ownPart/(1-ownPart)-1, leastPower)
}

// draws calls use with count matrices that may be the truth.
func (m noisyMatrix) draws(count int, rng dist.Rand, use func(a []float64)) {
	if m.n <= mostInChain {
		m.chain(count, rng, use)
		return
	}
	for range count {
		a := slices.Clone(m.mean)
		for i := range m.n {
			for j := range i + 1 {
				a[i*m.n+j] += m.sd[i*m.n+j] * rng.Normal()
				a[j*m.n+i] = a[i*m.n+j]
			}
		}
		use(spectral(a, m.n, func(x float64, _ []float64) float64 { return max(x, leastEigenvalue) }))
	}
}

// drawn is one of draws.
func (m noisyMatrix) drawn(rng dist.Rand) (out []float64) {
	m.draws(1, rng, func(a []float64) { out = a })
	return out
}

// knownByDraws is the number of draws from which moments are taken.
const knownByDraws = 200

// moments are the mean and the standard deviation of each of the numbers that of makes of draws.
func (m noisyMatrix) moments(count int, of func(a []float64) []float64) (mean, sd []float64) {
	var list [][]float64
	m.draws(count, &splitMix{}, func(a []float64) { list = append(list, of(a)) })
	mean, sd = make([]float64, len(list[0])), make([]float64, len(list[0]))
	for _, x := range list {
		floats.AddScaled(mean, 1/float64(count), x)
	}
	for i := range sd {
		for _, x := range list {
			sd[i] = math.Hypot(sd[i], (x[i]-mean[i])/math.Sqrt(float64(count)))
		}
	}
	return mean, sd
}

// chain is draws for few columns: a sweep draws every uncertain entry given all others (Gibbs).
//
// With Q the inverse, an entry (i, j) that moves by d multiplies the determinant by (1 + dQ_ij)² - d²Q_ii Q_jj, an entry
// of the diagonal by 1 + dQ_ii, which stays positive between the roots next to 0. A normal between them is accepted with
// the determinant's part in the density (Metropolis).
func (m noisyMatrix) chain(count int, rng dist.Rand, use func(a []float64)) {
	n, power := m.n, m.power()
	a := slices.Clone(m.mean)
	for sweep := range burnIn + count {
		q := madePositive(a, n)
		for i := range n {
			for j := range i + 1 {
				mean, sd := m.mean[i*n+j], m.sd[i*n+j]
				if sd == 0 {
					continue
				}
				low, high := q.within(i, j)
				d := normalWithin(mean-a[i*n+j], sd, low, high, rng)
				if ratio := q.ratio(i, j, d); ratio > nearlySingular && rng.Uniform() < math.Pow(ratio, power) {
					a[i*n+j] += d
					a[j*n+i] = a[i*n+j]
					q.move(i, j, d)
				}
			}
		}
		if sweep >= burnIn {
			use(a)
		}
	}
}

// nearlySingular is a part of the determinant that no entry may leave: rounding.
const nearlySingular = 1e-9

// inverseOf is the inverse of a positive definite matrix whose entries move one by one.
type inverseOf struct{ *mat.Dense }

// madePositive makes entries of a [n x n] off the diagonal smaller until a is positive definite, and returns its inverse. Where
// that does not help a becomes the identity.
func madePositive(a []float64, n int) inverseOf {
	const rounds, factor = 400, 0.9
	for i := range n {
		if !(a[i*n+i] > 0) {
			a[i*n+i] = leastEigenvalue
		}
	}
	for range rounds {
		if inverse := inverted(a, n); inverse != nil {
			return inverseOf{mat.DenseCopyOf(inverse)}
		}
		for i := range n {
			for j := range n {
				if j != i {
					a[i*n+j] *= factor
				}
			}
		}
	}
	clear(a)
	for i := range n {
		a[i*n+i] = 1
	}
	return inverseOf{mat.NewDense(n, n, slices.Clone(a))}
}

// within are the least and the largest move of an entry.
func (q inverseOf) within(i, j int) (low, high float64) {
	if i == j {
		return -1 / q.At(i, i), math.Inf(1)
	}
	root := math.Sqrt(q.At(i, i) * q.At(j, j))
	return -1 / max(root+q.At(i, j), 0), 1 / max(root-q.At(i, j), 0) // rounding
}

// ratio is the determinant after a move of an entry by d, over that before.
func (q inverseOf) ratio(i, j int, d float64) float64 {
	if i == j {
		return 1 + d*q.At(i, i)
	}
	x := 1 + d*q.At(i, j)
	return x*x - d*d*q.At(i, i)*q.At(j, j)
}

// move is the inverse after a move by d (Woodbury's formula).
func (q inverseOf) move(i, j int, d float64) {
	u, v, ratio := mat.Row(nil, i, q), mat.Row(nil, j, q), q.ratio(i, j, d)
	uu, vv, uv := -d*d*v[j]/ratio, -d*d*u[i]/ratio, d*(1+d*u[j])/ratio
	if i == j {
		uu, vv, uv = d/ratio, 0, 0
	}
	for r := range u {
		row, x, y := q.RawRowView(r), u[r], v[r]
		simd.Axpy(row, -(uu*x + uv*y), u)
		simd.Axpy(row, -(vv*y + uv*x), v)
	}
}

// normalWithin is a draw of a normal between low and high; 0, which is between them, where the normal has nothing there.
func normalWithin(mean, sd, low, high float64, rng dist.Rand) float64 {
	if low > mean && high > mean {
		return -normalWithin(-mean, sd, -high, -low, rng)
	}
	from, to := special.NormalCDF((low-mean)/sd), special.NormalCDF((high-mean)/sd)
	if !(to-from > 1e-12) {
		return 0
	}
	return min(max(mean+sd*special.NormalQuantile(from+(to-from)*rng.Uniform()), low), high)
}
