package fit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models/data"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

const boughtLevels = `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 4000}
  columns:
    x: {type: real, bounds: {dp: 0.1, within: [-50, 50]}}
    h: {type: category, levels: {dp: 0.1, most: 30}, unknown: other}
    y: {type: binary}
MODEL
`

// A fit whose whole price is over budget buys no levels. One within its budget pays for them
// first, then for bounds and Table 1, and its steps cost the same as before. The model has the
// levels that many records have, the commonest first.
func TestLevelsAreBoughtFirst(t *testing.T) {
	table := "x,h,y\n" + strings.Repeat("1,leeds,0\n2,york,1\n3,york,1\n", 1000)
	for i := range 1000 {
		table += fmt.Sprintf("0.5,rare%d,1\n", i)
	}
	p := newPurchase(t, strings.Replace(boughtLevels, "MODEL", "model: {formula: y ~ 1 + x + h, family: bernoulli}", 1), table)
	encoding := p.Model().Encoding
	texts := func(column string) *privacy.Columns {
		return privacy.NewTexts(privacy.TableConfig{Data: p.path, Encoding: encoding, Root: noise.Insecure(1)}, column)
	}
	poor := p.curator(t, 0.99)
	isOver(t, fit.BuyLevels(p.Plan, poor, texts, p.compile), poor)
	if !p.OpenLevels() {
		t.Error("the plan is settled without its levels")
	}
	c, before, parameters := p.curator(t, 1), string(p.Event), p.Latent
	if err := fit.BuyLevels(p.Plan, c, texts, p.compile); err != nil {
		t.Fatal(err)
	}
	if got := p.Model().Spec.Data.Column("h").LevelNames(); !slices.Equal(got, []string{"york", "leeds", "other"}) {
		t.Errorf("levels %v", got)
	}
	if p.OpenLevels() || !p.OpenBounds() || p.Latent != parameters-28 || string(p.Event) != before {
		t.Errorf("a plan of %d parameters after one of %d", p.Latent, parameters)
	}
	c.Columns(p.columns())
	if err := fit.BuyBounds(p.Plan, c, p.compile); err != nil {
		t.Fatal(err)
	}
	if x := p.Model().Spec.Data.Column("x"); !x.Settled || len(p.Model().Spec.Data.Column("h").Levels) != 3 {
		t.Errorf("bounds %+v beside levels %v", x, p.Model().Spec.Data.Column("h").LevelNames())
	}
	c.Columns(p.columns())
	if err := fit.Buy(p.Plan, c, p.compile); err != nil {
		t.Fatal(err)
	}
	p.isComplete(t, c)
}

// Whatever levels are found, also none, and whatever they are called, the plan of the model with
// them has the mechanism that was certified: a composition needs mechanisms that are fixed
// beforehand.
func TestLevelsChangeNoMechanism(t *testing.T) {
	stattest.SkipNumerics(t)
	for name, model := range map[string]string{
		"terms":     "model: {formula: y ~ 1 + x * h, family: bernoulli}",
		"groups":    "model: {formula: y ~ 1 + x + (1 + x | h), family: bernoulli}",
		"response":  "model: {formula: h ~ 1 + x, family: categorical}",
		"normal":    "model: {formula: x ~ 1 + h, family: normal}",
		"smooth":    "model: {formula: 'y ~ 1 + poly(x, 3) + h', family: bernoulli}",
		"component": "twin: {engine: mixture, components: 3}",
	} {
		src := strings.Replace(boughtLevels, "MODEL", model, 1)
		m, err := compiler(src)(data.Bought{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, cfg := range []plan.Config{
			{Epsilon: 1}, {Epsilon: 1, Table1: "0.05", Guide: "low_rank"}, {Epsilon: 2, Sampling: "fixed_size", BatchSize: 100, Neighbours: "substitute"},
			{Epsilon: 3, Sampling: "poisson", SamplingRate: 0.05, NoiseSchedule: "cosine:0.5", Guide: "low_rank", Clipping: "flat"},
			{NoiseMultiplier: 30, Table1: "none"}, {Epsilon: 1, Trace: "loss"},
		} {
			p, err := plan.New(m, cfg)
			if name == "component" && cfg.Trace != "" {
				continue // of one column
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, k := range []int{0, 1, 3, 30} {
				found := []privacy.Level{}
				for i := range k {
					found = append(found, privacy.Level{Name: []string{"leeds", `a: "b", c`, "bought_1", "=", "true"}[i%5] + strings.Repeat("x", i/5), Count: 500})
				}
				own := *p
				own.Levels = slices.Clone(p.Levels)
				own.Levels[0].Found = found
				settled, err := compiler(src)(own.Settled())
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				own.Levels = p.Levels
				if err := own.SettleLevels([][]privacy.Level{found}, settled); err != nil {
					t.Fatalf("%s, %d levels: %v", name, k, err)
				}
				if own.OpenLevels() || own.Latent != settled.P || !event.Equal(own.MechanismEvent(own.NoiseMultiplier), p.MechanismEvent(p.NoiseMultiplier)) || own.Latent > p.Latent {
					t.Errorf("%s: %d parameters, of %d before", name, own.Latent, p.Latent)
				}
				if _, err := own.Mechanism(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
