package marginals

import (
	"math"
	"slices"
	"testing"

	"d3p/internal/simd"
)

// Raking reaches the counts of columns and keeps the odds ratios of a pair.
func TestRake(t *testing.T) {
	d := Domain{3, 4, 2}
	sets := []Set{{0}, {1}, {2}, {0, 1}}
	tree, err := NewTree(d, Tables(sets...), nil, 1<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	r := random(3)
	for i := range tree.theta {
		tree.theta[i] = r.Normal() / 2
	}
	tree.Infer()
	odds := func() float64 {
		p := tree.Means[3]
		return p[0] * p[5] / (p[1] * p[4])
	}
	before := odds()
	want := [][]float64{{500, 300, 200}, {0, 100, 400, 500}, {900, 100}}
	for range 10 {
		tree.Rake(want)
	}
	for k := range want {
		for c, y := range want[k] {
			if got := 1000 * tree.Means[k][c]; math.Abs(got-y) > 2*leastCount {
				t.Errorf("column %d, cell %d: %g expected records, want %g", k, c, got, y)
			}
		}
	}
	if after := odds(); math.Abs(after-before) > 1e-9*before {
		t.Errorf("the odds ratio of two columns moved from %g to %g", before, after)
	}
}

// Counts without negative ones have the same sum. In order, four empty cells of noise 18 hold
// about half of the 29 records that are the positive part of their noise.
func TestNonnegative(t *testing.T) {
	truth := []float64{0, 0, 0, 0, 100, 300, 300, 200, 100, 0, 0, 0, 0, 0, 0, 0, 50}
	r, low, median := random(4), 0.0, 0.0
	const draws = 2000
	for range draws {
		y := slices.Clone(truth)
		for c := range y {
			y[c] += 18 * r.Normal()
		}
		for _, ordered := range []int{0, 16} {
			x := Nonnegative(y, ordered)
			if slices.Min(x) < 0 || math.Abs(simd.Sum(x)-simd.Sum(y)) > 1e-9*simd.Sum(y) {
				t.Fatalf("ordered %d: %v of %v", ordered, x, y)
			}
			if ordered > 0 {
				low += simd.Sum(x[:4]) / draws
				median += simd.Sum(x[:6]) / draws
			}
		}
	}
	if low > 17 {
		t.Errorf("an empty tail holds %g records on average", low)
	}
	// The noise of six cells has the standard deviation 44, their mean in 2000 draws 1.
	if math.Abs(median-400) > 6 {
		t.Errorf("%g records below a cut, want 400", median)
	}
	if got := Nonnegative([]float64{5, 4, 1}, 3); !slices.Equal(got, []float64{5, 4, 1}) {
		t.Errorf("counts without a negative one became %v", got)
	}
}
