package models_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/net"
)

// manualLayers is the table of layers of the manual.
func manualLayers() string {
	table := "| layer | settings (default) | input → output |\n|---|---|---|\n"
	activations := net.Activations()
	for _, k := range net.Kinds() {
		if slices.Contains(activations, k.Name) {
			continue
		}
		var list []string
		for _, s := range k.Settings() {
			if s.Default == "" {
				list = append(list, "`"+s.Key+"`")
			} else {
				list = append(list, "`"+s.Key+"` ("+s.Default+")")
			}
		}
		table += "| `" + k.Name + "` | " + strings.Join(list, ", ") + " | " + k.Maps + " |\n"
	}
	return table + "| `" + strings.Join(activations, "` `") + "` | | value by value |\n"
}

// TestManualNamesLayers checks that docs/reference/networks.md has the table of layers,
// and compiles its example.
func TestManualNamesLayers(t *testing.T) {
	const file = "../../docs/reference/networks.md"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	if *update {
		before, rest, _ := strings.Cut(text, "| layer | settings (default) |")
		_, after, _ := strings.Cut(rest, "\n\n")
		text = before + manualLayers() + "\n" + after
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(text, "\n"+manualLayers()+"\n") {
		t.Errorf("%s does not have the table of layers; run this test with -update", file)
	}
	_, example, _ := strings.Cut(text, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	m := compileText(t, `d3p: 1
data:
  unit: {entity: image, rows_per_unit: 1}
  rows: {public: 100}
  columns: {label: {type: category, levels: [a, b, c, d, e, f, g, h, i, j]}}
  tensors:
    img: {from: columns("p1".."p784"), dims: [y, x], shape: [28, 28], lower: 0, upper: 1, scale: {center: 0, by: 1}}
core:
  rows: {observe: {label: categorical(logits=net(img))}}
`+example)
	if len(m.Likelihood.Notes) > 0 {
		t.Error(m.Likelihood.Notes)
	}
}
