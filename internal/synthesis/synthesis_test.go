package synthesis_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"d3p/internal/marginals"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/synthesis"
)

const model = `
d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 6000}
  columns:
    age: {type: integer, lower: 0, upper: 90}
    gain: {type: real, lower: 0, upper: 100000}
    home: {type: category, levels: [own, rent, none]}
    ill: {type: binary, levels: ["no", "yes"]}
  missing: {default: reject, home: model}
twin:
  engine: marginals
  constraints: [age >= 18 or home != 'own']
`

// people are records: illness follows age, gain has a spike at zero, the ill
// often have no home stated, and nobody below 18 owns one.
func people(n int, random *noise.Random) []byte {
	var b bytes.Buffer
	b.WriteString("age,gain,home,ill\n")
	for range n {
		age := int(random.Uniform() * 91)
		gain := 0.0
		if random.Uniform() < 0.3 {
			gain = math.Round(math.Exp(4 + 6*random.Uniform()))
		}
		home := []string{"own", "rent", "none", "none"}[int(random.Uniform()*4)]
		if age < 18 && home == "own" {
			home = "rent"
		}
		ill, absent := "no", 0.02
		if random.Uniform() < float64(age)/100 {
			ill, absent = "yes", 0.4
		}
		if random.Uniform() < absent {
			home = ""
		}
		fmt.Fprintf(&b, "%d,%g,%s,%s\n", age, gain, home, ill)
	}
	return b.Bytes()
}

// learn fits records; the curator comes back for its ledger.
func learn(t *testing.T, m *models.Model, records []byte, rel event.Relation, multiplier float64, seed uint64) (*synthesis.Table, *privacy.Curator) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(path, records, 0o600); err != nil {
		t.Fatal(err)
	}
	root := noise.Insecure(seed)
	c, err := privacy.NewCurator(privacy.CuratorConfig{
		Columns: privacy.NewColumns(privacy.TableConfig{Data: path, Encoding: m.Encoding.Counted(), Root: root}),
		Root:    root, Budget: privacy.Budget{Epsilon: 1000, Delta: 1e-5}, Relation: rel,
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err := synthesis.Fit(c, m, synthesis.Config{Relation: rel, NoiseMultiplier: multiplier, Workers: 2}, public(seed))
	if err != nil {
		t.Fatal(err)
	}
	return table, c
}

func public(seed uint64) *noise.Random {
	return noise.NewRandom(noise.Public(seed).Stream(noise.Twin))
}

// draw returns a synthetic table by column.
func draw(t *testing.T, m *models.Model, table *synthesis.Table, n int, perturb bool, random *noise.Random) [][]float64 {
	t.Helper()
	d, err := synthesis.NewDrawer(table, m, perturb, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if perturb {
		d.Perturb(random)
	}
	return fill(t, m, d, n, perturb, random)
}

func fill(t *testing.T, m *models.Model, d *synthesis.Drawer, n int, independent bool, random *noise.Random) [][]float64 {
	t.Helper()
	twin, err := simulate.NewTwin(m)
	if err != nil {
		t.Fatal(err)
	}
	out := twin.Table(n)
	if err := d.Fill(out, random, independent); err != nil {
		t.Fatal(err)
	}
	return out.Values
}

// The ledger's releases together cost no more than the plan's steps, and hardly less: with
// numbers, without, and of a single column.
func TestFitCostsItsReleases(t *testing.T) {
	const multiplier = 7.5
	head := model[:strings.Index(model, "    age:")]
	plan := event.Composed{}
	for range marginals.Steps {
		plan.Events = append(plan.Events, event.Gaussian{NoiseMultiplier: multiplier})
	}
	for _, text := range []string{model, head + levels("home", 3) + levels("ill", 2) + "twin: {engine: marginals}\n", head + levels("home", 3) + "twin: {engine: marginals}\n"} {
		m := modelstest.Compile(t, "m.yaml", text)
		for _, rel := range []event.Relation{event.AddRemove, event.Substitute, event.ZeroOut} {
			table, c := learn(t, m, people(500, public(1)), rel, multiplier, 2)
			want, err := accountant.Epsilon(plan, rel, 1e-5)
			if err != nil {
				t.Fatal(err)
			}
			got, err := accountant.Epsilon(c.Ledger().Event(), rel, 1e-5)
			if err != nil {
				t.Fatal(err)
			}
			if table.Steps != marginals.Steps || got.Upper > want.Upper*(1+1e-7) || got.Upper < want.Upper*(1-1e-3) {
				t.Errorf("%s, %d columns: %d steps, the ledger has epsilon %g, the plan %g", rel, len(table.Columns), table.Steps, got.Upper, want.Upper)
			}
		}
	}
}

// A synthetic table keeps the shares, the relation of illness and age, the spike at
// zero, missing cells and the rule, and stays in the bounds.
func TestTwinKeepsTheTable(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", model)
	table, _ := learn(t, m, people(6000, public(3)), event.AddRemove, 8, 4)
	if math.Abs(table.Records-6000) > 200 {
		t.Errorf("%g records", table.Records)
	}
	x := draw(t, m, table, 6000, false, public(5))
	age, gain, home, ill := x[0], x[1], x[2], x[3]
	var zero, missing, ills, young, youngIll, old, oldIll float64
	for i := range age {
		if age[i] < 0 || age[i] > 90 || age[i] != math.Trunc(age[i]) || gain[i] < 0 || gain[i] > 100000 {
			t.Fatalf("record %d is out of bounds", i)
		}
		if age[i] < 18 && home[i] == 0 {
			t.Fatal("a record breaks the constraint")
		}
		if gain[i] == 0 {
			zero++
		}
		if ill[i] == 1 {
			ills++
			if math.IsNaN(home[i]) {
				missing++
			}
		}
		switch {
		case age[i] < 30:
			young++
			youngIll += ill[i]
		case age[i] > 60:
			old++
			oldIll += ill[i]
		}
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"gain of zero", zero / 6000, 0.7}, {"home missing of the ill", missing / ills, 0.4},
		{"ill below 30", youngIll / young, 0.145}, {"ill above 60", oldIll / old, 0.755},
	} {
		// noise of a count is below 100 (8 sqrt(6) x a few cells), records' own 0.01
		if math.Abs(c.got-c.want) > 0.06 {
			t.Errorf("%s: %.3f, want %.3f", c.name, c.got, c.want)
		}
	}
}

// Perturbed tables vary as the shares do over records and noise, so that intervals
// from several tables hold.
func TestPerturbedTablesVary(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", model)
	const n, fits = 1500, 24
	var estimates, perturbed []float64
	share := func(x [][]float64) float64 {
		sum := 0.0
		for _, v := range x[3] {
			sum += v
		}
		return sum / float64(len(x[3]))
	}
	for i := range fits {
		table, _ := learn(t, m, people(n, public(uint64(100+i))), event.AddRemove, 12, uint64(200+i))
		estimates = append(estimates, share(draw(t, m, table, 2*n, false, public(1))))
		if i > 0 {
			continue
		}
		d, err := synthesis.NewDrawer(table, m, true, 2)
		if err != nil {
			t.Fatal(err)
		}
		random := public(6)
		for range fits {
			d.Perturb(random)
			perturbed = append(perturbed, share(fill(t, m, d, 2*n, false, random)))
		}
		d.Close()
	}
	// The ratio of two variances of 23 degrees of freedom is in [1/5, 5] but for 2e-4.
	if r := variance(perturbed) / variance(estimates); r < 0.2 || r > 5 {
		t.Errorf("perturbed tables have %.2f times the variance of fits to new records", r)
	}
}

func variance(x []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return sum / float64(len(x)-1)
}

// A bad file is refused, not drawn from.
func TestDrawerRefuses(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", model)
	for name, spoil := range map[string]func(*synthesis.Table){
		"columns":  func(x *synthesis.Table) { x.Columns = x.Columns[1:] },
		"bins":     func(x *synthesis.Table) { x.Columns[0].Bins = []int{0, 0} },
		"shape":    func(x *synthesis.Table) { x.Columns[1].Shape[0] = math.NaN() },
		"counts":   func(x *synthesis.Table) { x.Tables[0].Counts = x.Tables[0].Counts[1:] },
		"variance": func(x *synthesis.Table) { x.Tables[0].Variance = 0 },
		"set":      func(x *synthesis.Table) { x.Tables[0].Columns = []int{9} },
	} {
		table, _ := learn(t, m, people(300, public(7)), event.AddRemove, 8, 8)
		spoil(table)
		if d, err := synthesis.NewDrawer(table, m, false, 1); err == nil {
			d.Close()
			t.Errorf("%s: accepted", name)
		}
	}
}

// Without usable records, or without any record, the result is a table of noise and not an
// error.
func TestFitOfNoRecords(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", model)
	for _, records := range []string{"age,gain,home,ill\n", "age,gain,home,ill\n,,,\nx,y,z,w\n1e300,-1e300,own,yes\n"} {
		table, _ := learn(t, m, []byte(records), event.AddRemove, 8, 9)
		x := draw(t, m, table, 50, true, public(10))
		if slices.ContainsFunc(x[0], math.IsNaN) {
			t.Error("an age is missing")
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	big := modelstest.Compile(t, "m.yaml", `
d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 6000}
  columns:
`+levels("a", 110)+levels("b", 110)+levels("c", 110)+`
twin: {engine: marginals, workload: [[a, b, c]]}
`)
	if err := synthesis.Check(big); err == nil {
		t.Error("a table of more than a million cells is accepted")
	}
	huge := modelstest.Compile(t, "m.yaml", `
d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 6000}
  columns:
`+levels("a", 1000)+levels("b", 1000)+levels("c", 1000)+`
twin: {engine: marginals, workload: [[a, b, c]]}
`)
	if err := synthesis.Check(huge); err == nil || !strings.Contains(err.Error(), "over a, b, c has 1e+09 cells") || !strings.Contains(err.Error(), "declare fewer levels") {
		t.Errorf("a table of 10^9 cells: %v", err)
	}
	for rule, refused := range map[string]bool{
		"age >= 18 or home != 'own'": false,
		"age > 200":                  true,
		"age == 47":                  false,
		"age + gain < 0":             true,
		"age > 40 and home == 'own' and gain < 5": false,
	} {
		m := modelstest.Compile(t, "m.yaml", strings.Replace(model, "age >= 18 or home != 'own'", rule, 1))
		if err := synthesis.Check(m); (err != nil) != refused {
			t.Errorf("constraint %s: %v", rule, err)
		}
	}
	apart := strings.Replace(model, "age >= 18 or home != 'own'", "age > 60, age < 30", 1)
	if err := synthesis.Check(modelstest.Compile(t, "m.yaml", apart)); err == nil {
		t.Error("constraints that exclude each other are accepted")
	}
}

// A rule that only missing values meet is refused before it costs anything; one that needs a
// missing value of some records is not.
func TestCheckRefusesRulesThatOnlyMissingValuesMeet(t *testing.T) {
	for rule, want := range map[string]string{
		"age > 200":                    "no values of age meet the constraint \"age > 200\"",
		"age + gain < 0":               "no values of age, gain meet the constraint",
		"age > 60, age < 30":           "no values of age meet the constraints",
		"home != 'own', home == 'own'": "no values of home meet the constraints",
		"gain >= 0 and ill == 'yes'":   "",
		"gain >= 0 and ill == 'yes', age > 20 and ill == 'no'": "",
	} {
		text := strings.NewReplacer("age >= 18 or home != 'own'", rule, "default: reject", "default: model").Replace(model)
		err := synthesis.Check(modelstest.Compile(t, "m.yaml", text))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", rule, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "only missing")):
			t.Errorf("%s: %v", rule, err)
		}
	}
}

func levels(name string, n int) string {
	text := "    " + name + ": {type: category, levels: ["
	for i := range n {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("l%d", i)
	}
	return text + "]}\n"
}

// Each unit weighs one, however many rows it has, and a level of no record hardly occurs.
func TestUnitsWeighOne(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", `
d3p: 1
data:
  unit: {entity: patient, id: id, rows_per_unit: 3, keep: first}
  rows: {public: 6000}
  columns:
    ward: {type: category, levels: [a, b, c]}
    ill: {type: binary, levels: ["no", "yes"]}
twin: {engine: marginals}
`)
	var b bytes.Buffer
	b.WriteString("id,ward,ill\n")
	for i := range 3000 {
		if i%2 == 0 {
			fmt.Fprintf(&b, "%d,a,no\n", i)
			continue
		}
		for range 3 {
			fmt.Fprintf(&b, "%d,b,yes\n", i)
		}
	}
	table, _ := learn(t, m, b.Bytes(), event.AddRemove, 8, 11)
	if math.Abs(table.Records-3000) > 100 {
		t.Errorf("%g records of 3000 units", table.Records)
	}
	x := draw(t, m, table, 3000, false, public(12))
	var both, empty float64
	for i, ward := range x[0] {
		switch {
		case ward == 1 && x[1][i] == 1:
			both++
		case ward == 2:
			empty++
		}
	}
	if math.Abs(both/3000-0.5) > 0.03 || empty/3000 > 0.02 {
		t.Errorf("share %.3f of the units with three rows, want 0.5; %.3f in a ward without records", both/3000, empty/3000)
	}
}

// Rules that the records break end in a table far from the counts of a column that they compare,
// and the page says of which. Rules that hold contradict nothing.
func TestContradictedColumns(t *testing.T) {
	for rule, want := range map[string]bool{"age >= 18 or home != 'own'": false, "age < 30 or home != 'none'": true} {
		m := modelstest.Compile(t, "m.yaml", strings.Replace(model, "age >= 18 or home != 'own'", rule, 1))
		table, _ := learn(t, m, people(6000, public(1)), event.AddRemove, 16.8, 3)
		if got := table.Contradicted(); (slices.Contains(got, "home") || slices.Contains(got, "age")) != want {
			t.Errorf("%s: it contradicts %v", rule, got)
		}
		if page := table.Utility(m); strings.Contains(page, "**The rules contradict") != want {
			t.Errorf("%s: the page says otherwise", rule)
		}
	}
}
