package models_test

import (
	"os"
	"strings"
	"testing"
)

// TestNetworksExample compiles the example of docs/reference/networks.md.
func TestNetworksExample(t *testing.T) {
	src, err := os.ReadFile("../../docs/reference/networks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(src), "```yaml\n")
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
