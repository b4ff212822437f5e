package law

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
	"d3p/internal/stattest"
)

type testRand struct{ *rand.Rand }

func (r testRand) Normal() float64  { return r.NormFloat64() }
func (r testRand) Uniform() float64 { return r.Float64() }

func source1() testRand { return testRand{rand.New(rand.NewPCG(1, 2))} }

func set[T any](v T) source.Value[T] { return source.Value[T]{V: v, At: expr.Position{Line: 1}} }

// declaration has a number on a scale, a count, a logarithm, and levels.
func declaration() *data.Data {
	number := func(name, kind string, lower, upper float64) *data.Column {
		return &data.Column{Name: set(name), Type: set(kind), Lower: set(lower), Upper: set(upper)}
	}
	age := number("age", data.Real, 18, 100)
	age.Center, age.By = set(54.), set(9.)
	dose := number("dose", data.Real, 1, 1000)
	dose.Transform = set("log")
	group := &data.Column{Name: set("group"), Type: set(data.Category), Missing: data.Missing{Rule: data.MissingImpute, Impute: set("a")}}
	for _, l := range []string{"a", "b", "c"} {
		group.Levels = append(group.Levels, set(l))
	}
	return &data.Data{Rows: data.Rows{Public: set(500)}, Columns: []*data.Column{age, number("visits", data.Integer, 0, 80), dose, group}}
}

// bought is a law with a histogram of every number.
func bought() *Law {
	l := Declared(declaration())
	l.Columns[0].Edges, l.Columns[0].Shares, l.Columns[0].ShareSD = []float64{18, 40, 50, 100}, []float64{0.2, 0.5, 0.3}, []float64{0.01, 0.02, 0.03}
	l.Columns[1].Edges, l.Columns[1].Shares, l.Columns[1].ShareSD = []float64{-0.5, 0.5, 1.5, 80.5}, []float64{0.6, 0.3, 0.1}, []float64{0.01, 0.01, 0.01}
	l.Columns[2].Edges, l.Columns[2].Shares, l.Columns[2].ShareSD = []float64{1, 10, 100, 1000}, []float64{0.1, 0.8, 0.1}, []float64{0.01, 0.01, 0.01}
	l.Columns[3].Shares, l.Columns[3].ShareSD, l.Columns[3].Missing = []float64{0.1, 0, 0.9}, []float64{0.01, 0.01, 0.01}, 0.25
	return l
}

func draw(l *Law, n int) [][]float64 {
	values := make([][]float64, len(l.Columns))
	for i := range values {
		values[i] = make([]float64, n)
	}
	l.Draw(values, source1())
	return values
}

// moments are those of the transformed numbers that are not missing.
func moments(c *data.Column, x []float64) (mean, sd float64) {
	n := 0.0
	for _, v := range x {
		mean += c.Transformed(v)
		n++
	}
	mean /= n
	for _, v := range x {
		sd += (c.Transformed(v) - mean) * (c.Transformed(v) - mean) / n
	}
	return mean, math.Sqrt(sd)
}

// Moments are those of draws, whether columns are independent or not: a copula
// leaves the marginals as they are.
func TestMomentsAreThoseOfDraws(t *testing.T) {
	const n = 200000
	for name, correlation := range map[string][]float64{"independent": nil, "copula": {
		1, 0.9, 0, 0.5,
		0.9, 1, 0, 0.5,
		0, 0, 1, 0,
		0.5, 0.5, 0, 1}} {
		l := bought()
		l.Correlation = correlation
		values := draw(l, n)
		for i := range 3 {
			c := &l.Columns[i]
			mean, sd := c.Moments()
			gotMean, gotSD := moments(c.declared, values[i])
			// P(|mean| > 6.5 sd/√n) < 1e-10; fourth moments are below 100 sd⁴, and cells of
			// whole numbers wider than 1 lose up to 0.1 % of the sd to rounding
			if math.Abs(gotMean-mean) > 6.5*sd/math.Sqrt(n) || math.Abs(gotSD-sd) > 33*sd/math.Sqrt(n)+1e-3*sd {
				t.Errorf("%s, %s: mean and sd %g, %g of draws, %g, %g of the law", name, c.Name, gotMean, gotSD, mean, sd)
			}
		}
		counts, missing := make([]int, 3), 0
		for _, v := range values[3] {
			if math.IsNaN(v) {
				missing++
			} else {
				counts[int(v)]++
			}
		}
		stattest.Require(t, "missing", stattest.Binomial(missing, n, 0.25))
		stattest.Require(t, "first level", stattest.Binomial(counts[0], n-missing, 0.09/0.98)) // less its noise
		if counts[1] > 0 {
			t.Errorf("%d draws of a level without a share", counts[1])
		}
		if name == "copula" {
			both, mean0, mean1 := 0.0, 0.0, 0.0
			for b := range n {
				both += values[0][b] * values[2][b] / n
				mean0 += values[0][b] / n
				mean1 += values[2][b] / n
			}
			if both -= mean0 * mean1; math.Abs(both) > 6.5*12*130/math.Sqrt(n) {
				t.Errorf("covariance %g of independent columns", both)
			}
		}
	}
}

// The correlation of the draws' scores is that of the law.
func TestCopula(t *testing.T) {
	const n = 100000
	d := declaration()
	d.Columns = d.Columns[:1]
	twice := *d.Columns[0]
	twice.Name = set("again")
	d.Columns = append(d.Columns, &twice)
	for _, c := range d.Columns {
		c.Lower, c.Upper = set(-1000.), set(1000.) // no value is moved
	}
	l := Declared(d)
	l.Correlation = []float64{1, -0.8, -0.8, 1}
	values := draw(l, n)
	sum := 0.0
	for b := range n {
		sum += (values[0][b] - 54) * (values[1][b] - 54) / 81
	}
	// sd of a product of scores is √(1+ρ²)
	if got := sum / n; math.Abs(got+0.8) > 6.5*1.3/math.Sqrt(n) {
		t.Errorf("correlation %g, want -0.8", got)
	}
}

// MomentsSD is the spread of the moments under the noise of the shares.
func TestMomentsSD(t *testing.T) {
	l, rng := bought(), source1()
	for i := range 3 {
		c := l.Columns[i]
		wantMean, wantSD := c.MomentsSD()
		m, s := c.Moments()
		const draws = 4000
		ofMean, ofSD := 0.0, 0.0
		const scale = 0.02 // first order
		for range draws {
			noisy := c
			noisy.Shares = append([]float64(nil), c.Shares...)
			total := 0.0
			for k := range noisy.Shares {
				noisy.Shares[k] += scale * c.ShareSD[k] * rng.Normal()
				total += noisy.Shares[k]
			}
			for k := range noisy.Shares {
				noisy.Shares[k] /= total
			}
			a, b := noisy.Moments()
			ofMean += (a - m) * (a - m) / draws
			ofSD += (b - s) * (b - s) / draws
		}
		if got := math.Sqrt(ofMean) / scale; math.Abs(got/wantMean-1) > 0.1 {
			t.Errorf("%s: mean spreads by %g, said %g", c.Name, got, wantMean)
		}
		if got := math.Sqrt(ofSD) / scale; math.Abs(got/wantSD-1) > 0.1 {
			t.Errorf("%s: sd spreads by %g, said %g", c.Name, got, wantSD)
		}
	}
}

// A law that was written and read draws the same.
func TestBind(t *testing.T) {
	l := bought()
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	var read Law
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if err := read.Bind(declaration()); err != nil {
		t.Fatal(err)
	}
	same := func(a, b [][]float64) bool {
		for i := range a {
			for j := range a[i] {
				if math.Float64bits(a[i][j]) != math.Float64bits(b[i][j]) {
					return false
				}
			}
		}
		return true
	}
	if !same(draw(l, 100), draw(&read, 100)) {
		t.Error("the law that was read draws other records")
	}
	if !l.Bought() || Declared(declaration()).Bought() {
		t.Error("a declared law is bought, or a bought one is not")
	}
	other := declaration()
	other.Columns[3].Levels = other.Columns[3].Levels[:2]
	if read.Bind(other) == nil {
		t.Error("other levels are accepted")
	}
	other = declaration()
	other.Columns[0].Name = set("years")
	if read.Bind(other) == nil {
		t.Error("another column is accepted")
	}
	if l.Column("dose") != &l.Columns[2] || l.Column("years") != nil {
		t.Error("a column is not found by its name")
	}
	if !reflect.DeepEqual(l.Columns[0].Shares, read.Columns[0].Shares) {
		t.Error("shares changed")
	}
}

// A level whose share is within its noise has no records, so that nothing is simulated
// that its records may not say; others keep their shares but for their noise.
func TestRareLevelsAreCautious(t *testing.T) {
	const n = 100000
	l := bought()
	l.Columns[3].Shares, l.Columns[3].ShareSD, l.Columns[3].Missing = []float64{0.004, 0.02, 0.976}, []float64{0.005, 0.005, 0.005}, 0
	counts := make([]int, 3)
	for _, v := range draw(l, n)[3] {
		counts[int(v)]++
	}
	if counts[0] > 0 {
		t.Errorf("%d records of a level that may have none", counts[0])
	}
	stattest.Require(t, "rare level", stattest.Binomial(counts[1], n, 0.015/0.986))
	if got := l.PlugIn().cautious().Columns[3].Shares; !slices.Equal(got, l.Columns[3].Shares) {
		t.Errorf("without caution the shares are %g", got)
	}
	if got := l.Columns[3].Shares[0]; got != 0.004 {
		t.Errorf("the law's own share is %g", got)
	}
}

// Of five levels one may have no records. Its share stays out of the mean of all, since a
// level with a fifth of the records would show; a drawn law may give it records.
func TestRareLevelOfFewIsNotPooled(t *testing.T) {
	l, rng := bought(), source1()
	c := &l.Columns[3]
	c.Shares, c.ShareSD = []float64{0.03, 0.2, 0.25, 0.27, 0.25}, slices.Repeat([]float64{0.055}, 5)
	if got := l.cautious().Columns[3].Shares[0]; got > 0 {
		t.Errorf("a level that may have none has %.3f of the records", got)
	}
	without, most := 0, 0.0
	for range 1000 {
		share := l.Drawn(rng).cautious().Columns[3].Shares[0]
		if share == 0 {
			without++
		}
		most = math.Max(most, share)
	}
	// P(.03 + .055 z < 0) = .29, .21 after the projection on shares that add up to 1
	if without < 150 || without > 350 || most < 0.1 {
		t.Errorf("%d of 1000 drawn laws have no record of the level, and at most a share of %.2f", without, most)
	}
}

// Shares of many levels that differ by their noise alone are simulated as about equal.
func TestNoisySharesAreShrunk(t *testing.T) {
	const levels, noise = 100, 0.01
	l, rng := bought(), source1()
	c := &l.Columns[3]
	c.Shares, c.ShareSD = make([]float64, levels), make([]float64, levels)
	sum := 0.0
	for k := range c.Shares {
		c.Shares[k], c.ShareSD[k] = math.Max(0, 1./levels+noise*rng.Normal()), noise
		sum += c.Shares[k]
	}
	for k := range c.Shares {
		c.Shares[k] /= sum
	}
	empty := 0
	for _, share := range l.cautious().Columns[3].Shares {
		if share == 0 {
			empty++
		}
	}
	if empty > levels/20 { // a sixth of the shares is 0 by noise
		t.Errorf("%d of %d levels have no records", empty, levels)
	}
}
