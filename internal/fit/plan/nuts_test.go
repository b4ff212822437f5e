package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/settings"
)

const regression = `d3p: 1
name: line
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    x: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}
    y: {type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}}
model:
  formula: y ~ 1 + x
  family: normal
`

func TestDefaultMethodOfReference(t *testing.T) {
	m := modelstest.Compile(t, "line.yaml", regression)
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{}, settings.MethodNUTS},
		{Config{Records: 20_000, InitSeed: 3}, settings.MethodNUTS},
		{Config{Records: 20_000_000}, settings.MethodVI},
		{Config{Guide: "mean_field"}, settings.MethodVI},
		{Config{Steps: 100}, settings.MethodVI},
		{Config{Guide: "mean_field", Method: settings.MethodNUTS}, settings.MethodNUTS},
	} {
		c.config.NonPrivate = true
		p, err := New(m, c.config)
		if err != nil || p.Method != c.want {
			t.Errorf("%+v: %s, want %s (%v)", c.config, p.Method, c.want, err)
		}
	}
}

// Beside many groups the intervals of a mean-field guide are several times too narrow: a fit without privacy samples if
// it takes seconds, and warns otherwise.
func TestDefaultMethodBesideGroups(t *testing.T) {
	var levels []string
	for g := range 300 {
		levels = append(levels, fmt.Sprintf("g%d", g))
	}
	groups := strings.NewReplacer("  columns:\n", "  columns:\n    g: {type: category, levels: ["+strings.Join(levels, ", ")+"]}\n", "1 + x", "1 + x + (1 | g)").Replace(regression)
	m := modelstest.Compile(t, "groups.yaml", groups)
	for records, want := range map[int]string{2000: settings.MethodNUTS, 50_000: settings.MethodVI} {
		p, err := New(m, Config{Records: records, NonPrivate: true})
		if err != nil || p.Method != want {
			t.Fatalf("%d records: %s, want %s (%v)", records, p.Method, want, err)
		}
		if warns := slices.ContainsFunc(p.Warnings, func(w Warning) bool { return w.ID == "mean-field" }); warns != (want == settings.MethodVI) {
			t.Errorf("%d records: warnings %v", records, p.Warnings)
		}
	}
}

const censored = `d3p: 1
name: times
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    x: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}
    y: {type: real, lower: 0.01, upper: 100}
    event: {type: binary, levels: ["no", "yes"]}
model:
  formula: %s ~ 1 + x
  family: gamma
`

// TestDearOperations: an incomplete gamma function costs as much as hundreds of additions.
func TestDearOperations(t *testing.T) {
	for response, most := range map[string]int{"surv(y, event)": 5000, "y": 50_000} {
		m := modelstest.Compile(t, "times.yaml", fmt.Sprintf(censored, response))
		for records, want := range map[int]string{most: settings.MethodNUTS, 3 * most: settings.MethodVI} {
			if got := defaultMethod(m, Config{Records: records, NonPrivate: true}); got != want {
				t.Errorf("%s, %d records: %s, want %s", response, records, got, want)
			}
		}
	}
}
