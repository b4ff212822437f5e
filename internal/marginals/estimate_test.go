package marginals

import (
	"math"
	"slices"
	"testing"

	"d3p/internal/privacy/noise"
)

func random(seed uint64) *noise.Random {
	return noise.NewRandom(noise.Public(seed).Stream(noise.Twin))
}

// noisy are measurements of a random family's tables, with noise.
func noisy(t *testing.T, d Domain, sets []Set, n, sigma, trust float64, r *noise.Random) []Measurement {
	tree, err := NewTree(d, Tables(sets...), nil, 1<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for i := range tree.theta {
		tree.theta[i] = r.Normal()
	}
	tree.Infer()
	var m []Measurement
	for i, s := range sets {
		y := make([]float64, len(tree.Means[i]))
		for c, p := range tree.Means[i] {
			y[c] = n*p + sigma*r.Normal()
		}
		m = append(m, Measurement{Table: Table{Set: s}, Counts: y, Variance: sigma*sigma + 1e-9, Trust: trust})
	}
	return m
}

// At the minimum every cell's gradient vanishes: n p - y + σ²/trust θ = 0.
func TestFitIsStationary(t *testing.T) {
	d := Domain{4, 3, 5, 2, 6}
	sets := []Set{{0}, {1}, {2}, {3}, {4}, {0, 1}, {1, 2}, {2, 3}, {0, 4}, {1, 4}, {2, 3, 4}}
	m := noisy(t, d, sets, 5000, 20, 50, random(3))
	tree, err := NewTree(d, Tables(sets...), nil, 1<<20, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	tree.Fit(m, 5000, 1e-15, 2000)
	tree.Infer()
	for i := range m {
		for c, y := range m[i].Counts {
			if g := 5000*tree.Means[i][c] - y + m[i].Variance/m[i].Trust*tree.Theta[i][c]; math.Abs(g) > 1e-3 {
				t.Fatalf("set %v cell %d: gradient %g", m[i].Set, c, g)
			}
		}
	}
}

// Without noise the tables of a chain are matched, and the joint distribution is
// p(a,b) p(b,c)/p(b).
func TestFitOfChain(t *testing.T) {
	d := Domain{4, 3, 5}
	sets := []Set{{0, 1}, {1, 2}}
	m := noisy(t, d, sets, 1e8, 0, 1e6, random(4))
	all := append(slices.Clone(sets), Set{0, 1, 2})
	tree, err := NewTree(d, Tables(all...), nil, 1<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	// The table over all three is asked for with no weight.
	m = append(m, Measurement{Table: Table{Set: all[2]}, Counts: make([]float64, 60), Variance: 1, Trust: 1e-12})
	tree.Fit(m, 1e8, 1e-16, 3000)
	tree.Infer()
	b := make([]float64, 3)
	d.Project(b, m[0].Counts, sets[0], Set{1})
	for i := range 4 {
		for j := range 3 {
			for k := range 5 {
				want := m[0].Counts[i*3+j] * m[1].Counts[j*5+k] / b[j] / 1e8
				if got := tree.Means[2][(i*3+j)*5+k]; math.Abs(got-want) > 1e-5 {
					t.Fatalf("cell %d %d %d: %g, want %g", i, j, k, got, want)
				}
			}
		}
	}
}

// Reconciled tables have the same sums, and those are averages by precision.
func TestReconcile(t *testing.T) {
	d := Domain{3, 4, 2}
	r := random(5)
	var m []Measurement
	for i, s := range []Set{{0}, {1}, {0, 1}, {0, 1, 2}} {
		y := make([]float64, d.Cells(s))
		for c := range y {
			y[c] = 100 * r.Uniform()
		}
		m = append(m, Measurement{Table: Table{Set: s}, Counts: y, Variance: float64(i + 1), Trust: 1})
	}
	out := Reconcile(d, m, 777)
	margin := func(t Measurement, k int) []float64 {
		x := make([]float64, d[k])
		d.Project(x, t.Counts, t.Set, Set{k})
		return x
	}
	for k := range 2 {
		// by hand: weights 1/(σ² x cells summed into one)
		sum, weight := make([]float64, d[k]), 0.0
		for i, t := range m {
			if slices.Contains(t.Set, k) {
				w := 1 / (float64(i+1) * float64(len(t.Counts)/d[k]))
				weight += w
				for c, y := range margin(t, k) {
					sum[c] += w * y
				}
			}
		}
		total := 0.0
		for c := range sum {
			sum[c] /= weight
			total += sum[c]
		}
		for i, o := range out {
			if !slices.Contains(o.Set, k) {
				continue
			}
			for c, y := range margin(o, k) {
				if want := sum[c] + (777-total)/float64(d[k]); math.Abs(y-want) > 1e-9 {
					t.Errorf("table %d, column %d, cell %d: %g, want %g", i, k, c, y, want)
				}
			}
		}
	}
}

// Inference and the fit's iterations allocate nothing.
func TestInferAllocatesNothing(t *testing.T) {
	d := Domain{20, 30, 40}
	tree, err := NewTree(d, Tables([]Set{{0, 1}, {0, 2}, {1, 2}}...), nil, 1<<20, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if n := testing.AllocsPerRun(20, func() { tree.Infer() }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// Columns that follow from each other, with empty cells and hardly any noise: the fit stays
// finite and reproduces all pairs.
func TestFitOfCopies(t *testing.T) {
	const columns, cells, n = 5, 12, 30000
	d := Domain{}
	var sets []Set
	for a := range columns {
		d = append(d, cells)
		sets = append(sets, Set{a})
	}
	for a := range columns {
		for b := range a {
			sets = append(sets, Set{b, a})
		}
	}
	tree, err := NewTree(d, Tables(sets...), nil, 1<<20, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	r := random(9)
	var m []Measurement
	for _, s := range sets {
		y := make([]float64, d.Cells(s))
		left := float64(n)
		for c := range cells - 2 {
			y[c*(len(y)-1)/(cells-1)] = left / 2
			left /= 2
		}
		y[0] += left
		for c := range y {
			y[c] += 0.5 * r.Normal()
		}
		m = append(m, Measurement{Table: Table{Set: s}, Counts: y, Variance: 0.25, Trust: n / 30})
	}
	tree.Start(m)
	tree.Estimate(m, 100)
	tree.Infer()
	for i, x := range m {
		sum := 0.0
		for c, p := range tree.Means[i] {
			sum += math.Abs(p - x.Counts[c]/n)
		}
		if !(sum < 0.01) {
			t.Errorf("set %v: %.4f of the records lie elsewhere", x.Set, sum/2)
		}
	}
}

// Noise below a hundred-thousandth of the records counts as that: parameters stay as small as
// those of a table with more noise.
func TestFitOfVeryLittleNoise(t *testing.T) {
	const n = 1e7
	d, sets := Domain{4, 3}, []Set{{0}, {1}, {0, 1}}
	fit := func(sigma float64) []float64 {
		m := noisy(t, d, sets, n, 0, 50, random(3))
		m[2].Counts[5] = -40 // an empty cell
		for i := range m {
			m[i].Variance = sigma * sigma
		}
		tree, err := NewTree(d, Tables(sets...), nil, 1<<20, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		tree.Fit(m, n, 1e-13, 2000)
		return slices.Clone(tree.theta)
	}
	little, some, more := fit(1), fit(finest*n), fit(2*finest*n)
	if !slices.Equal(little, some) {
		t.Error("noise of 1 and of 100 give different parameters")
	}
	if slices.Equal(some, more) {
		t.Error("noise of 100 and of 200 give the same parameters")
	}
}
