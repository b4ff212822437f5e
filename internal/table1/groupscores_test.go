package table1

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/law"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// wards has a number that is constant within a group, and one that varies.
func wards(t *testing.T, levels int) *models.Model {
	t.Helper()
	return wardsOf(t, levels, ", constant_within: ward", ", constant_within: none")
}

// wardsOf are wards whose beds and age declare this.
func wardsOf(t *testing.T, levels int, beds, age string) *models.Model {
	t.Helper()
	names := make([]string, levels)
	for k := range names {
		names[k] = fmt.Sprint(k)
	}
	return modelstest.Compile(t, "wards.yaml", `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 10000}
  columns:
    ward: {type: category, levels: [`+strings.Join(names, ", ")+`]}
    beds: {type: real, lower: 0, upper: 100, scale: {center: 40, by: 10}`+beds+`}
    age: {type: real, lower: 0, upper: 100, scale: {center: 50, by: 10}`+age+`}
    y: {type: binary}
model:
  formula: y ~ 1 + age + beds + (1 | ward)
  family: bernoulli
`)
}

// patients are n rows of as many wards as there are numbers of beds.
func patients(t *testing.T, n int, beds []float64) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	var b strings.Builder
	b.WriteString("ward,beds,age,y\n")
	for range n {
		ward := rng.IntN(len(beds))
		fmt.Fprintf(&b, "%d,%.4f,%.2f,%d\n", ward, beds[ward], 50+10*rng.NormFloat64(), rng.IntN(2))
	}
	path := tableFile(t, b.String())
	return path
}

// Of a column that is constant within a group, Table 1 buys the value of each level: records
// that the law draws have it within the width of a cell, in the law that was bought, in laws that
// the truth may have, and in the one that the rows of the table state.
func TestValuesOfGroups(t *testing.T) {
	beds := make([]float64, 30)
	for k := range beds {
		beds[k] = 25 + float64(k*7%30) // not in the order of the wards
	}
	m := wards(t, len(beds))
	p := Auto(m, muOf(1, event.AddRemove), 10000, event.AddRemove)
	l, ledger := buy(t, m, patients(t, 10000, beds), 1, p, 3, event.AddRemove)
	if len(ledger.Entries) != len(p.Releases) || p.release(Groups) == nil || !p.Correlates() {
		t.Fatalf("%d releases, %d entries of the ledger", len(p.Releases), len(ledger.Entries))
	}
	for i, e := range ledger.Entries { // the report has the order of the plan
		if e.Purpose != string(p.Releases[i].Kind) {
			t.Errorf("entry %d of the ledger is %q, of the plan %q", i, e.Purpose, p.Releases[i].Kind)
		}
	}
	read, err := LawOf(Rows(l, &m.Spec.Data), &m.Spec.Data)
	if err != nil {
		t.Fatal(err)
	}
	rng := noise.NewRandom(noise.Public(1).Stream(noise.Simulation))
	for name, of := range map[string]*law.Law{"bought": l, "drawn": l.Drawn(rng), "read": read} {
		values := make([][]float64, len(of.Columns))
		for i := range values {
			values[i] = make([]float64, 2000)
		}
		of.Draw(values, rng)
		off := 0
		for b, ward := range values[0] {
			if math.Abs(values[1][b]-beds[int(ward)]) > 5 {
				off++
			}
		}
		if off > 300 { // of 2000; random values are off in about 1300
			t.Errorf("%s: %d of 2000 records have another value than their ward", name, off)
		}
	}
	scores := func(l *law.Law) []Row {
		return slices.DeleteFunc(Rows(l, &m.Spec.Data), func(r Row) bool { return r.Statistic != GroupScore })
	}
	if again := scores(read); len(again) != len(beds) || !reflect.DeepEqual(again, scores(l)) {
		t.Errorf("the rows of the law that was read are %v", again)
	}
}

// Where groups are small the table of their values would cost too much.
func TestSmallGroupsHaveNoValues(t *testing.T) {
	for _, x := range []struct {
		levels  int
		epsilon float64
		buys    bool
	}{{30, 1, true}, {30, 4, true}, {200, 4, true}, {2000, 1, false}, {200, 0.3, false}} {
		p := Auto(wards(t, x.levels), muOf(x.epsilon, event.AddRemove), 10000, event.AddRemove)
		if r := p.release(Groups); (r != nil) != x.buys {
			t.Errorf("%d levels at epsilon %g: %v", x.levels, x.epsilon, r)
		} else if r != nil && leastGroups*r.Noise > 10000/float64(x.levels)*1.01 {
			t.Errorf("%d levels at epsilon %g: noise %g", x.levels, x.epsilon, r.Noise)
		}
	}
}

// The score of a group is the mean over the cells that it may be in, by their counts.
func TestGroupScore(t *testing.T) {
	c := &law.Column{Edges: []float64{-1, 0, 1}, Shares: []float64{0.5, 0.5}}
	half := math.Sqrt(2 / math.Pi) // mean of half a normal
	for _, x := range []struct{ low, high, mean, sd float64 }{
		{100, 0, -half, math.Sqrt(1 - half*half)},
		{0, 100, half, math.Sqrt(1 - half*half)},
		{50, 50, 0, 1},
	} {
		if mean, sd := groupScore(c, []float64{0}, []float64{x.low, x.high}, 100, 10); math.Abs(mean-x.mean) > 1e-6 || math.Abs(sd-x.sd) > 1e-6 {
			t.Errorf("counts %g and %g: %g ± %g, want %g ± %g", x.low, x.high, mean, sd, x.mean, x.sd)
		}
	}
}
