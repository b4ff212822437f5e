package law

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"d3p/internal/models/dist"
)

// ones is a matrix of this many rows, ones on its diagonal, and x elsewhere.
func ones(n int, x float64) []float64 {
	a := slices.Repeat([]float64{x}, n*n)
	for i := range n {
		a[i*n+i] = 1
	}
	return a
}

// Draws of a 3 x 3 matrix have the moments of matrices of independent normals. Only positive definite ones count, each by the
// power of its determinant.
func TestPositiveDraws(t *testing.T) {
	for _, diagonal := range []float64{0, 0.3} {
		const n = 3
		m := noisyMatrix{mean: []float64{1, 0.7, 0.6, 0.7, 1, -0.1, 0.6, -0.1, 1}, sd: ones(n, 0.3), n: n}
		for i := range n {
			m.sd[i*n+i] = diagonal
		}
		rng := source1()
		var want [n * n][]float64
		var weights []float64
		for len(want[0]) < 60000 {
			a := slices.Clone(m.mean)
			for i := range n {
				for j := range i + 1 {
					a[i*n+j] += m.sd[i*n+j] * rng.Normal()
					a[j*n+i] = a[i*n+j]
				}
			}
			var c mat.Cholesky
			if c.Factorize(mat.NewSymDense(n, a)) {
				weights = append(weights, math.Pow(c.Det(), m.power()))
				for i, x := range a {
					want[i] = append(want[i], x)
				}
			}
		}
		mean, sd := m.moments(60000, slices.Clone[[]float64])
		for i := range mean {
			wanted, spread := stat.MeanStdDev(want[i], weights)
			// seeds are fixed; a mean of 60,000 that hang together has a standard error of .005 or so
			if math.Abs(mean[i]-wanted) > 0.015 || math.Abs(sd[i]-spread) > 0.015 {
				t.Errorf("diagonal ± %g, entry %d: %.3f ± %.3f, want %.3f ± %.3f", diagonal, i, mean[i], sd[i], wanted, spread)
			}
		}
	}
}

// Where nothing is known of the correlations of many columns, a column's own part is ownPart on average.
func TestOwnPartsBeforehand(t *testing.T) {
	const n = 16
	m := noisyMatrix{mean: ones(n, 0), sd: ones(n, 100), n: n}
	for i := range n {
		m.sd[i*n+i] = 0
	}
	parts, _ := m.moments(2000, func(a []float64) []float64 { return OwnParts(a, n) })
	if got := stat.Mean(parts, nil); math.Abs(got-ownPart) > 0.02 {
		t.Errorf("own parts are %.3f on average, want %g", got, ownPart)
	}
}

// Of many columns the mean of drawn correlation matrices is not nearly singular where the true one is not; entries that are
// known stay. Beyond mostInChain columns, too, a drawn matrix is positive definite.
func TestDrawsOfManyColumns(t *testing.T) {
	for _, n := range []int{20, mostInChain + 1} {
		rng := rand.New(rand.NewPCG(3, 4))
		truth := make([]float64, n*n)
		m := noisyMatrix{mean: make([]float64, n*n), sd: make([]float64, n*n), n: n}
		for i := range n {
			for j := range i + 1 {
				truth[i*n+j] = math.Pow(0.7, float64(i-j))
				truth[j*n+i] = truth[i*n+j]
				if sd := 0.05; j < i && i < n-1 {
					set := truth[i*n+j] + sd*rng.NormFloat64()
					m.mean[i*n+j], m.mean[j*n+i], m.sd[i*n+j], m.sd[j*n+i] = set, set, sd, sd
				}
			}
			m.mean[i*n+i] = 1
		}
		a := m.drawn(source1())
		if !(slices.Min(OwnParts(a, n)) > 0) {
			t.Errorf("%d columns: own parts are %v", n, OwnParts(a, n))
		}
		if n > mostInChain {
			continue
		}
		if slices.Max(a[(n-1)*n:n*n-1]) != 0 || a[0] != 1 {
			t.Errorf("%d columns: known entries are %v and %g", n, a[(n-1)*n:], a[0])
		}
		mean, _ := m.moments(200, slices.Clone[[]float64])
		own, want := stat.Mean(OwnParts(mean, n), nil), stat.Mean(OwnParts(truth, n), nil)
		if t.Logf("own parts are %.3f, want %.3f", own, want); math.Abs(own/want-1) > 0.2 {
			t.Errorf("own parts are %.3f, want %.3f", own, want)
		}
	}
}

// A matrix that is not finite, or far from positive definite, has finite, positive definite draws.
func TestDrawsOfOddMatrices(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), 1e200, -5} {
		const n = 4
		for _, sd := range []float64{0.1, math.NaN(), math.Inf(1)} {
			m := noisyMatrix{mean: ones(n, x), sd: ones(n, sd), n: n}
			m.mean[0], m.sd[0] = x, sd
			if a := m.drawn(source1()); inverted(a, n) == nil {
				t.Errorf("%g ± %g: %v", x, sd, a)
			}
		}
	}
}

func BenchmarkPositiveDraw(b *testing.B) {
	for _, n := range []int{20, mostInChain} {
		m := noisyMatrix{mean: ones(n, 0.3), sd: ones(n, 0.05), n: n}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var rng dist.Rand = source1()
			for range b.N {
				m.drawn(rng)
			}
		})
	}
}
