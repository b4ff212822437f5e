package table1

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// open is the cohort with bounds and scales that are bought.
func open(t *testing.T) *models.Model {
	t.Helper()
	return modelstest.Compile(t, "cohort.yaml", `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 4000}
  columns:
    age: {type: real, bounds: {dp: 0.2, within: [-2000, 2000]}}
    income: {type: real, transform: log, bounds: {dp: 0.2, within: [1e-6, 1e12]}, scale: {dp: 0.1}}
    visits: {type: integer, lower: 0, upper: 12, scale: {dp: 0.1}}
    days: {type: integer, bounds: {dp: 0.2, within: [0, 10000]}, scale: {center: 30, by: 8}, missing: {impute: 5}}
    group: {type: category, levels: [a, b, c]}
    y: {type: binary}
model:
  formula: y ~ 1 + age + income + visits + days + group
  family: bernoulli
`)
}

// buyBounds buys all bounds of m, with a budget of 10.
func buyBounds(t *testing.T, m *models.Model, path string, seed uint64, rel event.Relation) (map[string]data.Numbers, []Bounds, privacy.Ledger) {
	t.Helper()
	cfg := privacy.TableConfig{Data: path, Encoding: m.Encoding, Root: noise.Insecure(seed)}
	c, err := privacy.NewCurator(privacy.CuratorConfig{Columns: privacy.NewColumns(cfg), Root: noise.Insecure(seed),
		Budget: privacy.Budget{Epsilon: 10, Delta: 1e-5}, Relation: rel})
	if err != nil {
		t.Fatal(err)
	}
	all, list := map[string]data.Numbers{}, BoundsOf(m, 1e-5, rel)
	for i := range list {
		if all[list[i].Column], err = list[i].Buy(c, m); err != nil {
			t.Fatal(err)
		}
	}
	return all, list, c.Ledger()
}

// Bounds hold nearly all records and are not much wider than they; the scale is that of
// the records, all where the limits are a hundred times too wide.
func TestBoughtBounds(t *testing.T) {
	m, path := open(t), records(t, 4000)
	for seed := range uint64(20) {
		n, list, _ := buyBounds(t, m, path, seed, event.AddRemove)
		for _, b := range list {
			if o := b.Outside; (o != nil) != (b.OfBounds > 0) || o != nil && !(o.Share < 4*o.NoiseSD+0.01 && o.NoiseSD > 0.001 && o.NoiseSD < 0.05) {
				t.Errorf("seed %d: outside the bounds of %s %+v", seed, b.Column, o)
			}
		}
		check := func(name string, low, high, center, by float64) {
			got := n[name]
			// in standard deviations: 2.9 to 11 of them on each side
			if below, above := (center-low)/by, (high-center)/by; !(below > 2.4 && below < 11 && above > 2.4 && above < 11) {
				t.Errorf("seed %d: bounds of %s %v to %v", seed, name, got.Lower, got.Upper)
			}
		}
		age, income, visits, days := n["age"], n["income"], n["visits"], n["days"]
		check("age", age.Lower, age.Upper, 54, 9.4)
		check("income", math.Log(income.Lower), math.Log(income.Upper), 9, 0.7)
		check("days", days.Lower, days.Upper, 29.5, 8)
		for name, want := range map[string][2]float64{"age": {54, 9.4}, "income": {9, 0.7}, "visits": {1.54, 1.95}} {
			if got := n[name]; math.Abs(got.Center-want[0]) > 0.3*want[1] || got.By < 0.75*want[1] || got.By > 1.5*want[1] {
				t.Errorf("seed %d: scale of %s %v by %v, want %v", seed, name, got.Center, got.By, want)
			}
		}
		if visits.Lower != 0 || visits.Upper > 12 || days.By != 0 || days.Lower != math.Trunc(days.Lower) {
			t.Errorf("seed %d: visits %+v, days %+v", seed, visits, days)
		}
	}
}

// A center that rounds to 0 has no sign.
func TestRoundedZero(t *testing.T) {
	if x := rounded(math.Round(-0.2), 0.01); x != 0 || math.Signbit(x) {
		t.Errorf("%v, want 0", x)
	}
}

// The share outside is that of the cells that reach beyond the bounds; of whole numbers a cell
// ends below its last edge.
func TestShareOutside(t *testing.T) {
	d := &open(t).Spec.Data
	for _, c := range []struct {
		column       string
		cuts         []float64
		lower, upper float64
		cells, most  float64 // of the counts, and their number
	}{
		{"age", []float64{-10, 0, 10}, -10, 10, 12, 2}, {"age", []float64{-10, 0, 10}, -9, 9, 102, 4}, {"age", []float64{-10, 0, 10}, -2000, 2000, 0, 0},
		{"days", []float64{4.5, 9.5, 12.5}, 5, 12, 12, 2}, {"days", []float64{4.5, 9.5, 12.5}, 5, 11, 62, 3},
	} {
		h := histogram{cuts: c.cuts, counts: []float64{5, 40, 50, 7, 3}, noise: 2, rows: 105}
		got := outsideOf(columnOf(d.Column(c.column)), h, data.Numbers{Lower: c.lower, Upper: c.upper})
		if c.most == 0 {
			if got != nil {
				t.Errorf("%s from %g to %g: %+v, want none", c.column, c.lower, c.upper, got)
			}
			continue
		}
		all := h.withValue()
		if got == nil || math.Abs(got.Share-min(c.cells/all, 1)) > 1e-5 || math.Abs(got.NoiseSD-2*math.Sqrt(c.most)/all) > 1e-5 {
			t.Errorf("%s from %g to %g: %+v of %g", c.column, c.lower, c.upper, got, all)
		}
	}
}

// Each purchase is two entries of the ledger with their own events, which together cost what the file
// says: the epsilon of the price alone, of both prices as Gaussians composed.
func TestBoundsCostTheirPrice(t *testing.T) {
	path := records(t, 50)
	for _, rel := range []event.Relation{event.AddRemove, event.Substitute, event.ZeroOut} {
		m := open(t)
		_, list, ledger := buyBounds(t, m, path, 1, rel)
		if len(list) != 4 || len(ledger.Entries) != 8 {
			t.Fatalf("%d purchases, %d entries", len(list), len(ledger.Entries))
		}
		for i, b := range list {
			for k, purpose := range []string{"place of " + b.Column, b.Purpose()} {
				if e := ledger.Entries[2*i+k]; e.Event != b.Events()[k] || e.Purpose != purpose || e.Steps != 1 {
					t.Errorf("%s: entry %+v, events %v", purpose, e, b.Events())
				}
			}
			price := b.OfBounds
			if price == 0 {
				price = b.OfScale
			}
			answer, err := accountant.Epsilon(event.Composed{Events: b.Events()}, rel, 1e-5)
			if err != nil {
				t.Fatal(err)
			}
			one := b.OfBounds == 0 || b.OfScale == 0
			if one && math.Abs(answer.Upper-price) > 1e-3*price || !one && !(answer.Upper > 0.2 && answer.Upper < 0.2+0.1) {
				t.Errorf("%s: %s costs %v", rel, b.Purpose(), answer.Upper)
			}
		}
		if got := list[1].Purpose(); got != "bounds and scale of income" {
			t.Errorf("purpose %q", got)
		}
	}
}

// No table is an error, and all numbers lie within the limits: a table that shows nothing
// leaves the limits.
func TestBoundsOfBadTables(t *testing.T) {
	m := open(t)
	far := strings.Repeat("1e300,1e300,12,9999,a,1\n", 3000)
	for name, rows := range map[string]string{
		"empty": "", "words": strings.Repeat("x,y,z,w,v,u\n", 100), "one": "54,9,1,30,a,1\n", "far": far, "missing": strings.Repeat(",,,,,\n", 3000),
	} {
		path := tableFile(t, "age,income,visits,days,group,y\n"+rows)
		for seed := range uint64(8) {
			n, _, _ := buyBounds(t, m, path, seed, event.AddRemove)
			for column, got := range n {
				c := m.Spec.Data.Column(column)
				if !(c.Lower.V <= got.Lower && got.Lower < got.Upper && got.Upper <= c.Upper.V) || got.By < 0 || math.IsNaN(got.Center) {
					t.Errorf("%s, seed %d: %s %+v", name, seed, column, got)
				}
				if name != "far" && got != Limits(c) {
					t.Errorf("%s, seed %d: %s is %+v of nothing but noise", name, seed, column, got)
				}
			}
		}
	}
}

// Table 1 does not look for a column again whose bounds or scale are bought: its price is
// the same before and after the purchase.
func TestTable1AfterBounds(t *testing.T) {
	limits := open(t)
	p := Of(limits, 0.1, muOf(1, event.AddRemove), 1000, event.AddRemove)
	if r := p.release(Ranges); r != nil {
		t.Errorf("the ranges are bought twice: %+v", r)
	}
	for i := range limits.Spec.Data.Columns {
		c := limits.Spec.Data.Columns[i]
		if c.Buys() {
			c.Settle(data.Numbers{Lower: c.Lower.V, Upper: c.Lower.V + 10, Center: c.Lower.V + 5, By: 2})
		}
	}
	if after := Of(limits, 0.1, muOf(1, event.AddRemove), 1000, event.AddRemove); len(after.Releases) != len(p.Releases) || !reflect.DeepEqual(after.Releases[0], p.Releases[0]) {
		t.Errorf("%+v, then %+v", p, after)
	}
}

// Where a column of few records has a signal as weak as noise can have, bought numbers are still
// nearer to it than the limits are: a normal of scale 1 within ±200, 300 records, a price of .1.
func TestBoundsOfFewRecords(t *testing.T) {
	m := modelstest.Compile(t, "few.yaml", `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 300}
  columns:
    x: {type: real, bounds: {dp: 0.1, within: [-200, 200]}}
    y: {type: binary}
model: {formula: y ~ x, family: bernoulli}
`)
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("x,y\n")
	for range 300 {
		fmt.Fprintf(&b, "%.4f,%d\n", rng.NormFloat64(), rng.IntN(2))
	}
	path := tableFile(t, b.String())
	off, clamps := 0, 0
	for seed := range uint64(40) {
		n, _, _ := buyBounds(t, m, path, seed, event.AddRemove)
		if got := n["x"]; !(got.By > 0.1 && got.By < 10) {
			off++
		} else if got.Lower > -2 || got.Upper < 2 {
			clamps++
		}
	}
	if off > 2 || clamps > 2 { // of 40; with a signal that is sure 5 and 1
		t.Errorf("of 40 scales %d are wrong by a factor of 10, and %d bounds clamp", off, clamps)
	}
}

// One record in ten is far from the others, all at one place: bounds hold them, and the scale is that of
// all records. Without cuts about the place it is a quarter larger.
func TestBoundsOfTwoPlaces(t *testing.T) {
	m := modelstest.Compile(t, "two.yaml", `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 4000}
  columns:
    x: {type: real, bounds: {dp: 0.2, within: [0, 1000]}, scale: {dp: 0.2}}
    y: {type: binary}
model: {formula: y ~ x, family: bernoulli}
`)
	path, _, sd := tailTable(t, 4000, func(r *rand.Rand) float64 {
		if r.Float64() < 0.1 {
			return 500
		}
		return max(20+5*r.NormFloat64(), 0)
	})
	for seed := range uint64(20) {
		n, _, _ := buyBounds(t, m, path, seed, event.AddRemove)
		if got := n["x"]; got.Upper < 500 || math.Abs(math.Log(got.By/sd)) > 0.1 {
			t.Errorf("seed %d: bounds to %g, scale %.1f for %.1f", seed, got.Upper, got.By, sd)
		}
	}
}

// A forged purchase of many pairs contradicts its price before it fills the memory.
func TestForgedPairsAreCounted(t *testing.T) {
	m := modelstest.Compile(t, "two.yaml", `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 600}
  columns:
    x: {type: real, lower: -3, upper: 3}
    y: {type: binary}
model: {formula: y ~ 1 + x, family: bernoulli}
`)
	for n, wrong := range map[int]string{2: "", 60_000: string(Pairs)} {
		p := &Plan{Share: 0.01, Releases: []Release{{Kind: Pairs, Noise: 10, NoiseMultiplier: 10, Coded: make([]string, n)}}}
		if got := p.Contradiction(m, nil, 1, event.AddRemove); got != wrong {
			t.Errorf("%d columns: %q, want %q", n, got, wrong)
		}
	}
}
