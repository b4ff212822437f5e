package marginals

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// table has columns that depend on each other in pairs: 0-1, 1-2 and 3-4.
func table(n int) (Domain, [][]int32) {
	r := random(8)
	d := Domain{6, 6, 4, 5, 5, 3}
	x := make([][]int32, len(d))
	for k := range x {
		x[k] = make([]int32, n)
	}
	for i := range n {
		for k := range d {
			x[k][i] = int32(r.Uniform() * float64(d[k]))
		}
		if r.Uniform() < 0.7 {
			x[1][i] = x[0][i]
		}
		if r.Uniform() < 0.6 {
			x[2][i] = x[1][i] / 2
		}
		if r.Uniform() < 0.8 {
			x[4][i] = 4 - x[3][i]
		}
	}
	return d, x
}

func pairs(d Domain) []Question {
	var list []Question
	for a := range d {
		for b := range a {
			list = append(list, Question{NewSet(a, b), 1})
		}
	}
	return list
}

// meter measures tables and adds up what that costs.
type meter struct {
	d       Domain
	x       [][]int32
	spent   float64 // Σ σ⁻²
	calls   int
	most    float64 // Σ σ⁻² of the dearest call
	perCell func() float64
}

func (m *meter) measure(tables []Table, sigma []float64) ([][]float64, error) {
	m.calls++
	cost := 0.0
	var out [][]float64
	for i, s := range tables {
		y := make([]float64, m.d.Size(s))
		m.d.Count(y, s, m.x)
		for c := range y {
			y[c] += sigma[i] * m.perCell()
		}
		out = append(out, y)
		cost += 1 / (sigma[i] * sigma[i])
	}
	m.spent += cost
	m.most = max(m.most, cost)
	return out, nil
}

func learned(t *testing.T, sigma float64, workload []Question) (*Learned, *meter) {
	d, x := table(20000)
	return learn(t, d, x, sigma, 1<<16, workload)
}

func learn(t *testing.T, d Domain, x [][]int32, sigma float64, limit int, workload []Question) (*Learned, *meter) {
	r := random(9)
	m := &meter{d: d, x: x, perCell: r.Normal}
	c := Config{Domain: d, Workload: workload, Sigma: sigma, Limit: limit, Workers: 2}
	return learnFrom(t, m, c, sigma*math.Sqrt(float64(len(d))), 10), m
}

// learnFrom counts each column with this noise and learns the rest by c.
func learnFrom(t *testing.T, m *meter, c Config, noise float64, seed uint64) *Learned {
	t.Helper()
	counts, _ := m.measure(Tables(singles(m.d)...), slices.Repeat([]float64{noise}, len(m.d)))
	for k := range m.d {
		c.Columns = append(c.Columns, Measurement{Table: Table{Set: Set{k}}, Counts: counts[k], Variance: noise * noise, Trust: 1})
	}
	l, err := Learn(c, m.measure, random(seed))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Tree.Close)
	return l
}

// Learn finds the columns that depend on each other, and its table is near the true
// one in every pair: within 0.02, where independent columns are 0.5 away.
func TestLearnFindsDependence(t *testing.T) {
	d, x := table(20000)
	l, _ := learned(t, 10, pairs(d))
	if math.Abs(l.Records-20000) > 60 {
		t.Errorf("%g records", l.Records)
	}
	records := l.Tree.Sample(20000, random(11), false)
	var measured, predicted float64
	for i, q := range pairs(d) {
		a, b := make([]float64, d.Cells(q.Set)), make([]float64, d.Cells(q.Set))
		d.Count(a, Table{Set: q.Set}, x)
		d.Count(b, Table{Set: q.Set}, records)
		far := 0.0
		for c := range a {
			far += math.Abs(a[c]-b[c]) / 40000
		}
		if far > 0.02 {
			t.Errorf("pair %v: distance %g", q.Set, far)
		}
		p := l.Distances[len(d)+i].Predicted
		if p > 0.03 {
			t.Errorf("pair %v: distance %g predicted", q.Set, p)
		}
		measured, predicted = measured+far, predicted+p
	}
	if r := predicted / measured; r < 0.6 || r > 1.7 {
		t.Errorf("predicted distances are %.2f times the true ones", r)
	}
}

// No call costs more than it may, and there are at most Releases.
func TestLearnCosts(t *testing.T) {
	d, _ := table(1)
	_, m := learned(t, 25, pairs(d))
	if m.calls > 2+rounds {
		t.Errorf("%d calls", m.calls)
	}
	// One release of single columns in learned is one step.
	if most := float64(1 + Steps - FineSteps - ColumnSteps); m.spent > 1.0000001*most/(25*25) {
		t.Errorf("the calls cost %g, more than %g", m.spent, most/(25*25))
	}
}

// The tree has every look that fits into it, also of pairs without a visible relation: an
// estimate of theirs would otherwise be zero without an error.
func TestLearnKeepsLooks(t *testing.T) {
	d, _ := table(1)
	l, _ := learned(t, 300, pairs(d))
	for _, x := range l.Distances {
		if !x.Measured {
			t.Errorf("the tree lacks %v", x.Set)
		}
	}
}

func TestLearnRefuses(t *testing.T) {
	for want, c := range map[string]Config{
		"over 10^18": {Domain: Domain{1 << 40, 1 << 40}, Workload: []Question{{Set{0, 1}, 1}}},
		"1000000000": {Domain: Domain{100000, 10000}, Workload: []Question{{Set{0, 1}, 1}}},
		"fewer":      {Domain: Domain{2, 2}, Workload: []Question{{Set{0}, 1}}},
	} {
		c.Sigma, c.Limit, c.Workers = 1, 1000, 1
		if _, err := Learn(c, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", want, err)
		}
	}
}

// Groups are merged from neighbours with the fewest counts; what is not in order stays.
func TestGroup(t *testing.T) {
	got := group([]float64{5, 1, 1, 900, 2, 2, 50, 7, 7}, 7, 6)
	if want := []int32{0, 0, 0, 1, 2, 2, 3, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("groups %v, want %v", got, want)
	}
	if group([]float64{1, 2, 3}, 3, 3) != nil || group([]float64{1, 2, 3, 4}, 0, 2) != nil {
		t.Error("groups of few cells, or of cells without order")
	}
}

// A relation of two columns of many ordered cells is found in a table too small to count
// single cells in.
func TestLearnFindsSmoothDependence(t *testing.T) {
	r := random(20)
	const n, cells = 4000, 20
	d := Domain{cells, cells, cells}
	x := make([][]int32, 3)
	for range n {
		a := r.Uniform()
		for k, v := range []float64{a, 0.75*a + 0.25*r.Uniform(), r.Uniform()} {
			x[k] = append(x[k], int32(v*cells))
		}
	}
	m := &meter{d: d, x: x, perCell: r.Normal}
	c := Config{Domain: d, Workload: pairs(d), Ordered: []int{cells, cells, cells}, Sigma: 100, Limit: 1 << 16, Workers: 1}
	l := learnFrom(t, m, c, 100, 21)
	records := l.Tree.Sample(n, random(22), false)
	correlation := func(x [][]int32, a, b int) float64 {
		var sa, sb, sab, saa, sbb float64
		for i := range x[a] {
			u, v := float64(x[a][i]), float64(x[b][i])
			sa, sb, sab, saa, sbb = sa+u, sb+v, sab+u*v, saa+u*u, sbb+v*v
		}
		return (sab/n - sa/n*sb/n) / math.Sqrt((saa/n-sa/n*sa/n)*(sbb/n-sb/n*sb/n))
	}
	if got, want := correlation(records, 0, 1), correlation(x, 0, 1); got < 0.6 {
		t.Errorf("correlation %.2f of %.2f", got, want)
	}
}

// Where the tree has no room for all pairs, it has that whose look shows a correlation, though its single cells are noise.
func TestLearnChoosesCorrelations(t *testing.T) {
	const n, cells, columns = 4000, 20, 12
	r := random(60)
	d, x := make(Domain, columns), make([][]int32, columns)
	ordered := make([]int, columns)
	for k := range d {
		d[k] = 4
	}
	d[0], d[1], ordered[0], ordered[1] = cells, cells, cells, cells
	for range n {
		a, b := r.Uniform(), r.Uniform()
		if r.Uniform() < 0.4 {
			b = a
		}
		x[0], x[1] = append(x[0], int32(a*cells)), append(x[1], int32(b*cells))
		for k := 2; k < columns; k++ { // levels that go with one of them
			level := r.Uniform()
			if r.Uniform() < 0.5 {
				level = []float64{a, b}[k%2]
			}
			x[k] = append(x[k], int32(level*4))
		}
	}
	m := &meter{d: d, x: x, perCell: r.Normal}
	c := Config{Domain: d, Workload: pairs(d), Ordered: ordered, Sigma: 20, Limit: 20000, Workers: 1}
	l := learnFrom(t, m, c, 60, 31)
	if first := l.Distances[columns]; !first.Measured {
		t.Errorf("the tree has no table of columns %v", first.Set)
	}
}

// A column without records, and one of a single cell, do no harm.
func TestLearnOfEmptyTable(t *testing.T) {
	d := Domain{1, 3, 2}
	x := [][]int32{{}, {}, {}}
	m := &meter{d: d, x: x, perCell: random(12).Normal}
	c := Config{Domain: d, Workload: pairs(d), Sigma: 5, Limit: 1000, Workers: 1}
	l := learnFrom(t, m, c, 5, 13)
	for _, x := range l.Tree.theta {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Fatal("the parameters are not finite")
		}
	}
	for _, x := range l.Distances {
		if !(x.Predicted >= 0) || math.IsInf(x.Predicted, 0) {
			t.Errorf("%v: distance %g", x.Set, x.Predicted)
		}
	}
	l.Tree.Sample(10, random(14), false)
}
