package fit_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/spec"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// compiler compiles a model with bought constants.
func compiler(src string) func(data.Bought) (*models.Model, error) {
	return func(bought data.Bought) (*models.Model, error) {
		s, errs := spec.ParseSettled("m.yaml", []byte(src), bought, nil)
		if len(errs) > 0 {
			return nil, errs
		}
		return models.Compile(s)
	}
}

// purchase is a fit that buys constants of its model.
type purchase struct {
	*plan.Plan
	path    string // of its table
	compile func(data.Bought) (*models.Model, error)
}

// newPurchase is a fit at epsilon 1 of the model src to a table.
func newPurchase(t *testing.T, src, table string) purchase {
	t.Helper()
	p := purchase{path: filepath.Join(t.TempDir(), "t.csv"), compile: compiler(src)}
	m, err := p.compile(data.Bought{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.path, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Plan = fittest.Plan(t, m, plan.Config{Epsilon: 1, Table1: "0.05"})
	return p
}

// columns are those of the table by the model as it is now.
func (p purchase) columns() *privacy.Columns {
	return privacy.NewColumns(privacy.TableConfig{Data: p.path, Encoding: p.Model().Encoding, Root: noise.Insecure(1)})
}

// curator has the budget epsilon and no records yet.
func (p purchase) curator(t *testing.T, epsilon float64) *privacy.Curator {
	t.Helper()
	c, err := privacy.NewCurator(privacy.CuratorConfig{Root: noise.Insecure(1), Budget: privacy.Budget{Epsilon: epsilon, Delta: p.Delta}, Relation: p.Neighbours})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// isOver checks that err refuses a purchase over budget, of which the curator's ledger has nothing.
func isOver(t *testing.T, err error, c *privacy.Curator) {
	t.Helper()
	var over *privacy.BudgetError
	if !errors.As(err, &over) || len(c.Ledger().Entries) > 0 {
		t.Errorf("%v, ledger %+v", err, c.Ledger().Entries)
	}
}

// isComplete checks that Table 1 is bought, too, and that the ledger has the plan's purchases.
func (p purchase) isComplete(t *testing.T, c *privacy.Curator) {
	t.Helper()
	entries := c.Ledger().Entries
	if p.Bought == nil || len(entries) != len(p.Before()) {
		t.Fatalf("ledger %+v", entries)
	}
	for i, e := range p.Before() {
		if !event.Equal(entries[i].Event, e) {
			t.Errorf("entry %d is %v, want %v", i, entries[i].Event, e)
		}
	}
}
