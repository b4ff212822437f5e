package table1

import (
	"math"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

const hospitals = `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 4000}
  columns:
    h: {type: category, header: "the hospital", levels: {dp: 0.2, most: 3}, unknown: other}
    g: {type: category, levels: {dp: 0.5}}
    y: {type: binary}
model:
  formula: y ~ 1 + h + g
  family: bernoulli
`

// Levels cost alone what the model file says, δ and all, and are entered as that. All purchases
// together take a fiftieth of δ.
func TestLevelsCostTheirPrice(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", hospitals)
	rows := "the hospital,g,y\n" + strings.Repeat("leeds,a,0\n", 900) + strings.Repeat("york,b,0\n", 600) + strings.Repeat("other,b,0\n", 700) + strings.Repeat("hull,b,0\n", 500) + strings.Repeat("ely,b,0\n", 400)
	path := tableFile(t, rows)
	for _, rel := range []event.Relation{event.AddRemove, event.Substitute, event.ZeroOut} {
		list := LevelsOf(m, 1e-5, rel)
		if len(list) != 2 || math.Abs(list[0].Delta+list[1].Delta-2e-7) > 1e-15 || list[0].Most != 3 || list[1].Most != 50 {
			t.Fatalf("%+v", list)
		}
		for i := range list {
			l := &list[i]
			answer, err := accountant.Epsilon(l.Event(), rel, 1e-5)
			if err != nil || math.Abs(answer.Upper/l.Price-1) > 1e-4 {
				t.Errorf("%s: %s costs %v alone, not %v (%v)", rel, l.Purpose(), answer.Upper, l.Price, err)
			}
			if l.Threshold != l.Query(m).Threshold(1) || !event.Equal(l.Event(), l.Query(m).Event(rel)) {
				t.Errorf("%s: %+v", rel, l)
			}
		}
		l := &list[0]
		c, err := privacy.NewCurator(privacy.CuratorConfig{Columns: privacy.NewTexts(privacy.TableConfig{Data: path, Encoding: m.Encoding, Root: noise.Insecure(1)}, "the hospital"),
			Root: noise.Insecure(1), Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, Relation: rel})
		if err != nil {
			t.Fatal(err)
		}
		if l.Found, err = l.Buy(c, m); err != nil || !slices.Equal(l.Names(), []string{"leeds", "york", "hull"}) {
			t.Errorf("%s: bought %v, %v", rel, l.Found, err)
		}
		if e := c.Ledger().Entries; len(e) != 1 || !event.Equal(e[0].Event, l.Event()) || e[0].Purpose != "levels of h" {
			t.Errorf("%s: ledger %+v", rel, e)
		}
	}
}
