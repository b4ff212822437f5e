package spec

import (
	"reflect"
	"strings"
	"testing"

	"d3p/internal/models/net"
)

// everyLayer has layers with every setting.
const everyLayer = `d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 10}
  columns: {c: {type: real, lower: -1, upper: 1}}
core:
  dims: {y: 4, x: 4, k: 3}
  rows: {observe: {c: "normal(sum(n(c)), 1)"}}
nets:
  n:
    input: [y, x]
    init: {normal: 0.1}
    prior: normal(0, 1)
    layers:
      - conv1d: {filters: k, kernel: [3], padding: valid}
      - conv2d: {filters: 4, kernel: [3, 2], stride: [1, 2], padding: same, activation: relu, init: he, bias: false}
      - conv1d_transpose: {filters: 4, kernel: 3, stride: 2, padding: 1}
      - conv2d_transpose: {filters: 4, kernel: 3, stride: 2, padding: 0, bias: true}
      - max_pool1d: {kernel: 2}
      - max_pool2d: {kernel: [2, 1], stride: 1, padding: 1}
      - avg_pool1d: {kernel: 2}
      - avg_pool2d: {kernel: 2, padding: same}
      - global_avg_pool
      - embedding: {levels: k, units: 4, init: zero}
      - layer_norm: {trailing: 2, epsilon: 0.001, affine: false, activation: tanh}
      - group_norm: {groups: 2, affine: true}
      - instance_norm: {affine: true}
      - residual: {layers: [{residual: {layers: [relu]}}, {dense: {units: 3}}], shortcut: [{dense: {units: "3", init: {normal: 0.5}}}], activation: gelu}
      - dropout: {rate: 0.25}
      - dense: {units: 2}
      - flatten
      - reshape: {shape: [2, 1]}
      - reshape: {dims: [k]}
`

// TestRenderLayers checks that a rendered network reads back as the same, for
// every layer of the language.
func TestRenderLayers(t *testing.T) {
	text := everyLayer
	for _, k := range net.Kinds() {
		if !strings.Contains(text, "- "+k.Name) {
			text += "      - " + k.Example + "\n"
		}
	}
	s, errs := Parse("m.yaml", []byte(text), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	rendered := s.Render()
	again, errs := Parse("rendered.yaml", rendered, nil)
	if len(errs) > 0 {
		t.Fatalf("%v\n%s", errs, rendered)
	}
	sameValues(t, "nets", reflect.ValueOf(s.Nets), reflect.ValueOf(again.Nets))
}
