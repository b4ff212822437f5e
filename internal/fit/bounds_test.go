package fit_test

import (
	"strings"
	"testing"

	"d3p/internal/fit"
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
	p := newPurchase(t, boughtBounds, "x,y\n"+strings.Repeat("1,0\n2,1\n3,1\n0.5,0\n", 1000))
	poor := p.curator(t, 0.996) // the bounds cost more than 0.004 of it
	poor.Columns(p.columns())
	isOver(t, fit.BuyBounds(p.Plan, poor, p.compile), poor)
	if !p.Open() {
		t.Error("the plan is settled without its bounds")
	}
	c, before := p.curator(t, 1), string(p.Event)
	c.Columns(p.columns())
	if err := fit.BuyBounds(p.Plan, c, p.compile); err != nil {
		t.Fatal(err)
	}
	n := p.Settled().Numbers["x"]
	if p.Open() || len(c.Ledger().Entries) != 2 || !(n.Lower > -20 && n.Upper < 20 && n.By < 4) || string(p.Event) != before {
		t.Errorf("numbers %+v, ledger %+v", n, c.Ledger().Entries)
	}
	if got := p.Model().Spec.Data.Column("x"); got.Lower.V != n.Lower || got.By.V != n.By {
		t.Errorf("the model has %+v", got)
	}
	c.Columns(p.columns())
	if err := fit.Buy(p.Plan, c, p.compile); err != nil {
		t.Fatal(err)
	}
	p.isComplete(t, c)
}
