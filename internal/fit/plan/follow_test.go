package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"d3p/internal/settings"
)

// A plan follows every setting that it states: for some value, what it says is that value
// and not the default's.
func TestPlanFollowsSettings(t *testing.T) {
	elsewhere := []string{
		"epochs", "batch-size", "noise-schedule", "batch-schedule", "clip-norm-schedule", "clip-groups", "compat", // become steps, a rate, pieces, parts, others
		"accept-risk", "ledger", // are about no plan
		"batches",                                            // needs batches, see TestBatchesByDevice
		"gradient", "method", "init-seed", "table1", "trace", // need a model, another method or a network
	}
	usual := Config{Records: 5000, Epsilon: 1, Delta: 1e-5}
	byDefault := decisions(t, usual)
	for _, row := range settings.Table() {
		if row.Group == settings.Running || slices.Contains(elsewhere, row.Name) || !settings.Has(&usual, row.Name) { // TestSettingsHaveFields
			continue
		}
		followed := false
		for _, text := range append(slices.Clone(row.Choices), "0.3", "0.03", "7", "4000") {
			value, mistake := row.Read(text)
			if mistake != nil {
				continue
			}
			cfg := usual
			if row.Same != "" || row.Name == "noise-multiplier" {
				cfg.Epsilon, cfg.NoiseMultiplier = 0, 5
			}
			for _, n := range row.Needs {
				if len(n.Is) > 0 {
					if other, mistake := settings.Named(n.Setting).Read(n.Is[0]); mistake == nil {
						settings.Set(&cfg, n.Setting, other)
					}
				}
			}
			settings.Set(&cfg, row.Name, value)
			p, err := New(normals(t, 3), cfg)
			if err != nil {
				continue
			}
			decided := jsonOf(t, p)
			got := fmt.Sprint(decided[row.Field()])
			followed = followed || got == text && got != fmt.Sprint(byDefault[row.Field()])
		}
		if !followed {
			t.Errorf("no value of %s is that of a plan", row.Name)
		}
	}
}

// decisions is the plan of a Config, by the names of its fields in JSON.
func decisions(t *testing.T, cfg Config) map[string]any { return jsonOf(t, mustPlan(t, 3, cfg)) }

func jsonOf(t *testing.T, p *Plan) (decided map[string]any) {
	t.Helper()
	raw, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(raw, &decided)
	}
	if err != nil {
		t.Fatal(err)
	}
	return decided
}
