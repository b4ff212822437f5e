package marginals

import (
	"math"
	"testing"

	"d3p/internal/stattest"
)

// classes are records of four hidden classes: a column shows the class with the probability
// strength, and is else a draw from shares that fall.
func classes(d Domain, n int, strength float64, seed uint64) [][]int32 {
	r := random(seed)
	x := make([][]int32, len(d))
	for range n {
		class := int32(r.Uniform() * 4)
		for k := range d {
			v := int32(math.Pow(r.Uniform(), 2) * float64(d[k]))
			if r.Uniform() < strength {
				v = (class + int32(k)) % int32(d[k])
			}
			x[k] = append(x[k], v)
		}
	}
	return x
}

// The mean distance that is predicted of the pairs outside a small tree is about the true one:
// where columns are independent, and where noise hides weak relations.
func TestPredictedDistancesOfOtherPairs(t *testing.T) {
	stattest.SkipNumerics(t)
	d := Domain{8, 8, 6, 6, 5, 9, 7, 4, 8, 6}
	for _, c := range []struct{ strength, sigma float64 }{{0, 10}, {0, 30}, {0.25, 30}, {0.4, 30}, {0.4, 60}} {
		const n = 8000
		x := classes(d, n, c.strength, 30)
		l, _ := learn(t, d, x, c.sigma, 400, pairs(d))
		records := l.Tree.Sample(20*n, random(31), false)
		truth, predicted, others := 0.0, 0.0, 0.0
		for i, q := range pairs(d) {
			p := l.Distances[len(d)+i]
			if p.Measured {
				continue
			}
			others++
			a, b := make([]float64, d.Cells(q.Set)), make([]float64, d.Cells(q.Set))
			d.Count(a, Table{Set: q.Set}, x)
			d.Count(b, Table{Set: q.Set}, records)
			for cell := range a {
				truth += math.Abs(a[cell]-b[cell]/20) / (2 * n)
			}
			predicted += p.Predicted
		}
		if r := predicted / truth; others < 20 || r < 0.75 || r > 1.33 {
			t.Errorf("strength %g, sigma %g: %.0f pairs, distance %.4f, predicted %.4f", c.strength, c.sigma, others, truth/others, predicted/others)
		}
	}
}
