package models_test

import (
	"testing"

	"d3p/internal/models"
)

// TestUncalledNet checks that a net that nothing calls is left out with a
// warning, so that a file may hold alternatives, and that compiling a file twice
// warns once.
func TestUncalledNet(t *testing.T) {
	m := compileText(t, regressionHead+`nets:
  net: {input: [f], layers: [{dense: {units: y}}]}
  other: {input: [f], layers: [{dense: {units: 7}}, {dense: {units: y}}]}
core:
  dims: {f: [x1, x2], y: levels(y)}
  rows: {observe: {y: categorical(logits=net(columns(f)))}}
`)
	if _, err := models.Compile(m.Spec); err != nil {
		t.Fatal(err)
	}
	if m.P != 9 || len(m.Layers) != 1 {
		t.Errorf("%d weights in %d layers, want 9 in 1", m.P, len(m.Layers))
	}
	const want = "model.yaml:11:3: nothing calls net other, so it is left out (call it in rows:, or remove it)"
	if w := m.Spec.Warnings; len(w) != 1 || w[0].Error() != want {
		t.Errorf("warnings %v, want %s", w, want)
	}
}
