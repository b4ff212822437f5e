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
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/event"
)

// family reads three columns of levels that go together, one of them with levels that are
// too many to pair, and two numbers.
func family(t *testing.T) *models.Model {
	t.Helper()
	many := make([]string, 60)
	for i := range many {
		many[i] = fmt.Sprintf("h%d", i)
	}
	return modelstest.Compile(t, "family.yaml", `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 20000}
  columns:
    marital: {type: category, levels: [civil, never, widowed]}
    role: {type: category, levels: [husband, wife, child, alone]}
    house: {type: category, levels: [`+strings.Join(many, ", ")+`]}
    age: {type: real, lower: 0, upper: 100}
    hours: {type: real, lower: 0, upper: 100}
    y: {type: binary}
model:
  formula: y ~ 1 + marital + role + house + age + hours
  family: bernoulli
`)
}

// people are n rows: the married are husbands, 60 %, or wives and 50 years old, the others
// children, 70 %, and 25, or live alone, with 60.
func people(t *testing.T, n int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	b.WriteString("marital,role,house,age,hours,y\n")
	for range n {
		marital, role, age := "civil", "husband", 50.0
		switch u := rng.Float64(); {
		case u < 0.3:
		case u < 0.5:
			role = "wife"
		case u < 0.85:
			marital, role, age = "never", "child", 25
		default:
			marital, role, age = "widowed", "alone", 60
		}
		fmt.Fprintf(&b, "%s,%s,h%d,%.2f,%.2f,%d\n", marital, role, rng.IntN(60), age+5*rng.NormFloat64(), 40+10*rng.NormFloat64(), rng.IntN(2))
	}
	path := tableFile(t, b.String())
	return path
}

// Levels that go together are bought, within their noise, and so is what a number is
// within them. The releases are those of the plan, one entry of the ledger each, and what
// they cost is its share. The rows of the table are the law again.
func TestPairsOfLevels(t *testing.T) {
	m, file := family(t), people(t, 20000)
	mu := muOf(1, event.AddRemove)
	p := Auto(m, mu, 20000, event.AddRemove)
	r := p.release(Pairs)
	if r == nil || !reflect.DeepEqual(r.Coded, []string{"marital", "role"}) {
		t.Fatalf("pairs: %+v", r)
	}
	if p.Share > 0.07*(1+1e-9) {
		t.Errorf("pairs raise the share to %g", p.Share)
	}
	l, spent := buy(t, m, file, 1, p, 3, event.AddRemove)
	took := 0.0
	for i, e := range spent.Entries {
		g := e.Event.(event.Gaussian)
		if e.Purpose != string(p.Releases[i].Kind) || g != p.Events()[i] {
			t.Errorf("entry %d is %q, %v", i, e.Purpose, g)
		}
		took += 1 / (g.NoiseMultiplier * g.NoiseMultiplier)
	}
	if len(spent.Entries) != len(p.Releases) || math.Abs(took/(p.Share*mu*mu)-1) > 1e-9 {
		t.Errorf("%d entries, %g of μ² for %g", len(spent.Entries), took/(mu*mu), p.Share)
	}
	want := map[string]float64{"civil, husband": 0.3, "civil, wife": 0.2, "never, child": 0.35, "widowed, alone": 0.15}
	rows := Rows(l, &m.Spec.Data)
	joint := 0
	for _, row := range rows {
		switch row.Statistic {
		case JointShare:
			joint++
			if row.Column != "role" {
				t.Fatalf("%+v", row)
			}
			role, marital, _ := strings.Cut(strings.TrimPrefix(row.Of, "marital: "), ", ")
			if x := want[marital+", "+role]; math.Abs(row.Value-x) > 0.015+5*row.NoiseSD {
				t.Errorf("%s: %.3f, want %.3f +- %.3f", row.Of, row.Value, x, row.NoiseSD)
			}
		case MeanScore:
			if row.Column == "age" && row.Of == "role: child" && math.Abs(row.Value+1.1) > 0.3+5*row.NoiseSD {
				t.Errorf("children: %+v", row)
			}
			if row.Column == "hours" && math.Abs(row.Value) > 0.1+5*row.NoiseSD {
				t.Errorf("hours do not depend on levels: %+v", row)
			}
		}
	}
	if joint != 12 {
		t.Errorf("%d shares of pairs", joint)
	}
	read, err := LawOf(rows, &m.Spec.Data)
	if err != nil {
		t.Fatal(err)
	}
	ofLevels := func(rows []Row) []Row {
		return slices.DeleteFunc(rows, func(r Row) bool { return r.Statistic != JointShare && r.Statistic != MeanScore })
	}
	if got, want := ofLevels(Rows(read, &m.Spec.Data)), ofLevels(rows); !reflect.DeepEqual(got, want) {
		t.Errorf("the rows of the law that was read are others: %d, %d", len(got), len(want))
	}
	if _, err := LawOf([]Row{{Column: "age", Statistic: MeanScore, Of: "nobody: x"}}, &m.Spec.Data); err == nil {
		t.Error("levels of an unknown column were read")
	}
	if _, err := LawOf([]Row{{Column: "role", Statistic: JointShare, Of: "marital: civil, husband"}}, &m.Spec.Data); err == nil {
		t.Error("one share of a pair was read as all")
	}
	// few records say nothing of combinations
	if few := Auto(m, mu, 1500, event.AddRemove); few.release(Pairs) != nil {
		t.Errorf("1500 records: %+v", few.release(Pairs))
	}
}
