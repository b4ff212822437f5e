package fit_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/spec"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

const boughtBounds = `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 4000}
  columns:
    x: {type: real, bounds: {dp: 0.1, within: [-50, 50]}}
    y: {type: binary}
model: {formula: y ~ 1 + x, family: bernoulli}
`

// A fit whose whole price is over budget buys no bounds; one within its budget pays for
// them first, and its steps cost the same as before.
func TestBoundsAreChargedFirst(t *testing.T) {
	m, err := models.Read("m.yaml", []byte(boughtBounds), nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte("x,y\n"+strings.Repeat("1,0\n2,1\n3,1\n0.5,0\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(m, plan.Config{Epsilon: 1, Table1: "0.05"})
	if err != nil {
		t.Fatal(err)
	}
	compile := func(bought data.Bought) (*models.Model, error) {
		s, errs := spec.ParseSettled("m.yaml", []byte(boughtBounds), bought, nil)
		if len(errs) > 0 {
			return nil, errs
		}
		return models.Compile(s)
	}
	curator := func(epsilon float64) *privacy.Curator {
		root := noise.Insecure(1)
		c, err := privacy.NewCurator(privacy.CuratorConfig{Columns: privacy.NewColumns(privacy.TableConfig{Data: path, Encoding: m.Encoding, Root: root}),
			Root: root, Budget: privacy.Budget{Epsilon: epsilon, Delta: p.Delta}, Relation: p.Neighbours})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	poor := curator(0.996) // the bounds cost more than 0.004 of it
	var over *privacy.BudgetError
	if err := fit.BuyBounds(p, poor, compile); !errors.As(err, &over) || len(poor.Ledger().Entries) > 0 || !p.Open() {
		t.Errorf("%v, ledger %+v", err, poor.Ledger().Entries)
	}
	c, before := curator(1), string(p.Event)
	if err := fit.BuyBounds(p, c, compile); err != nil {
		t.Fatal(err)
	}
	n := p.Settled().Numbers["x"]
	if p.Open() || len(c.Ledger().Entries) != 2 || !(n.Lower > -20 && n.Upper < 20 && n.By < 4) || string(p.Event) != before {
		t.Errorf("numbers %+v, ledger %+v", n, c.Ledger().Entries)
	}
	if got := p.Model().Spec.Data.Column("x"); got.Lower.V != n.Lower || got.By.V != n.By {
		t.Errorf("the model has %+v", got)
	}
	c.Columns(privacy.NewColumns(privacy.TableConfig{Data: path, Encoding: p.Model().Encoding, Root: noise.Insecure(1)}))
	if err := fit.Buy(p, c, compile); err != nil {
		t.Fatal(err)
	}
	entries := c.Ledger().Entries
	if p.Bought == nil || len(entries) != len(p.Before()) {
		t.Fatalf("ledger %+v", entries)
	}
	for i, e := range p.Before() {
		if entries[i].Event != e {
			t.Errorf("entry %d is %v, want %v", i, entries[i].Event, e)
		}
	}
}
