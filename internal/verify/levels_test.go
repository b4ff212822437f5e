package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/table1"
	"d3p/internal/verify"
)

// locked is a model as the file of a release has it, with one predictor.
func locked(t *testing.T, column string) *models.Model {
	t.Helper()
	name, _, _ := strings.Cut(column, ":")
	return modelstest.Compile(t, "lock.yaml", fmt.Sprintf(`d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 600}
  columns:
    %s
    y: {type: binary}
model: {formula: y ~ 1 + %s, family: bernoulli}
`, column, name))
}

// Levels of a report that are not those of the model file, or that do not follow from their event,
// are found.
func TestForgedLevels(t *testing.T) {
	m := locked(t, "h: {type: category, levels: [leeds, york, other], unknown: other}")
	bought := func(change func(l *table1.Levels)) []table1.Levels {
		l := table1.Levels{Column: "h", Price: 0.1, Most: 2}.Planned(m, 1, 1e-5, event.AddRemove)
		l.Found = []privacy.Level{{Name: "leeds", Count: 290}, {Name: "york", Count: 280}}
		change(&l)
		return []table1.Levels{l}
	}
	if wrong := verify.LevelsDiffer(bought(func(*table1.Levels) {}), 1e-5, event.AddRemove, m); wrong != "" {
		t.Error(wrong)
	}
	for name, change := range map[string]func(l *table1.Levels){
		"name":      func(l *table1.Levels) { l.Found[1].Name = "hull" },
		"order":     func(l *table1.Levels) { l.Found[0], l.Found[1] = l.Found[1], l.Found[0] },
		"fewer":     func(l *table1.Levels) { l.Found = l.Found[:1] },
		"none":      func(l *table1.Levels) { l.Found = nil },
		"count":     func(l *table1.Levels) { l.Found[1].Count = 20 },
		"most":      func(l *table1.Levels) { l.Most = 1 },
		"price":     func(l *table1.Levels) { l.Price *= 1.001 },
		"noise":     func(l *table1.Levels) { l.Noise /= 2 },
		"event":     func(l *table1.Levels) { l.NoiseMultiplier = 6 },
		"delta":     func(l *table1.Levels) { l.Delta = 1e-8 },
		"threshold": func(l *table1.Levels) { l.Threshold = 20 },
		"column":    func(l *table1.Levels) { l.Column = "z" },
	} {
		if wrong := verify.LevelsDiffer(bought(change), 1e-5, event.AddRemove, m); wrong == "" {
			t.Errorf("another %s is not found", name)
		}
	}
	if wrong := verify.LevelsDiffer(bought(func(*table1.Levels) {}), 1e-5, event.Substitute, m); wrong == "" {
		t.Error("another relation is not found")
	}
}
