package manual

import (
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/dist"
	"d3p/internal/models/expr"
	"d3p/internal/models/formula"
	"d3p/internal/models/net"
	"d3p/internal/models/twin"
	"d3p/internal/settings"
)

// Every topic has the names of the tables that it is about.
func TestTopicsNameAll(t *testing.T) {
	var names []string
	for _, row := range settings.Table() {
		if row.Key != "" {
			names = append(names, row.Key[strings.LastIndex(row.Key, ".")+1:])
		}
	}
	want := map[string][]string{
		"keys":          append(names, "entity", "levels_from", "workload", "order_by"),
		"formula":       {"spline", "surv", "trials", "offset"},
		"families":      slices.Concat(formula.FamilyNames(), formula.BrmsNames(), twin.FamilyNames()),
		"distributions": slices.Concat(dist.Names(), expr.FunctionNames(), expr.DensityNames()),
		"layers":        net.Names(),
	}
	for _, topic := range Topics() {
		words := strings.FieldsFunc(topic.Text(), func(c rune) bool { return strings.ContainsRune(" \n,:;()[]`", c) })
		for _, name := range want[topic.Name] {
			if !slices.Contains(words, name) {
				t.Errorf("d3p help %s does not name %s", topic.Name, name)
			}
		}
		if len(want[topic.Name]) < 4 {
			t.Errorf("no names to look for in d3p help %s", topic.Name)
		}
	}
}

// Lines fit a terminal.
func TestTopicsFitATerminal(t *testing.T) {
	for _, topic := range Topics() {
		for _, line := range strings.Split(topic.Text(), "\n") {
			if n := len([]rune(line)); n > width && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("d3p help %s: %d letters: %s", topic.Name, n, line)
			}
		}
	}
}

func TestSignatures(t *testing.T) {
	for name, want := range map[string]string{"normal": "normal(loc=0, scale=1)", "poisson": "poisson(rate or log_rate)"} {
		d, _ := dist.Lookup(name)
		if got := signature(d); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
