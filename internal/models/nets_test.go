package models_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/safetensors"
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

// TestLengthOfACall checks that positions of a sequence beyond the length that a call
// states change nothing, and that those within do.
func TestLengthOfACall(t *testing.T) {
	m := compileText(t, `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns: {y: {type: binary}, n: {type: integer, lower: 0, upper: 4}}
  tensors:
    series: {from: columns("s0".."s3"), dims: [t], shape: [4], lower: -4, upper: 4, scale: {center: 0, by: 1}, source: declared}
nets:
  net: {input: [t], layers: [{lstm: {units: 3}}, {dense: {units: 1}}]}
core:
  rows: {observe: {y: "bernoulli(logits=net(series, length=n))"}}
`)
	theta := make([]float64, m.P)
	for i := range theta {
		theta[i] = math.Sin(float64(i + 1))
	}
	loss := func(length, third, fourth float64) float64 {
		machine := graph.NewMachine(m.Likelihood, 1)
		machine.Globals(theta, nil)
		record := map[string]float64{"y": 1, "n": length, "s0": 0.3, "s1": -1, "s2": third, "s3": fourth}
		machine.Records(encodeOne(m, record), m.Encoding.K, 1, nil)
		return machine.Loss()[0]
	}
	if loss(2, 0.5, 2) != loss(2, -0.5, 1) || loss(3, 0.5, 2) != loss(3, 0.5, 1) {
		t.Error("values beyond the length change the density")
	}
	if loss(3, 0.5, 2) == loss(3, -0.5, 2) || loss(2, 1, 1) == loss(3, 1, 1) {
		t.Error("values within the length do not change the density")
	}
}

// TestTokensOfAText checks the number of tokens of a record, and their dim, of a text and a
// list of as many tokens.
func TestTokensOfAText(t *testing.T) {
	for _, kind := range []string{"text: bytes", "tokens: 257"} {
		testTokens(t, kind)
	}
}

func testTokens(t *testing.T, kind string) {
	m := compileText(t, `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns: {y: {type: real, lower: -9, upper: 9, scale: {center: 0, by: 1}}}
  tensors:
    letters: {from: c, `+kind+`, dims: [t], shape: [4]}
core:
  params: {b: "normal(0, 1)", w: "normal(0, 1) [letters_levels]"}
  rows: {observe: {y: "normal(b * letters_length + sum(w), 1)"}}
`)
	if m.P != 1+257 {
		t.Errorf("%d parameters, want b and a weight for padding and each byte", m.P)
	}
	theta := make([]float64, m.P)
	theta[0] = 0.3
	machine := graph.NewMachine(m.Likelihood, 1)
	machine.Globals(theta, nil)
	for n, record := range []map[string]float64{{"y": 1}, {"y": 1, "c#0": 256}, {"y": 1, "c#0": 98, "c#1": 1}} {
		machine.Records(encodeOne(m, record), m.Encoding.K, 1, nil)
		d := 1 - 0.3*float64(n)
		compare(t, "log density", machine.Loss(), []float64{-d*d/2 - math.Log(2*math.Pi)/2})
	}
}

// TestNothingFitted: a model whose networks are frozen is refused unless it has something
// else to fit.
func TestNothingFitted(t *testing.T) {
	var file bytes.Buffer
	weights := []safetensors.Array{{Name: "dense1.weight", Shape: []int{2, 3}, Values: make([]float64, 6)}, {Name: "dense1.bias", Shape: []int{3}, Values: make([]float64, 3)}}
	if err := safetensors.Write(&file, weights, nil); err != nil {
		t.Fatal(err)
	}
	load := func(string) ([]byte, error) { return file.Bytes(), nil }
	for layers, want := range map[string]string{
		"[{dense: {units: y, frozen: true}}]":                      "nothing is fitted: every layer of net net is frozen",
		"[{dense: {units: 3, frozen: true}}, {dense: {units: y}}]": "",
	} {
		_, err := models.Read("test.yaml", []byte(regressionHead+`nets:
  net: {input: [f], weights: {from: f}, layers: `+layers+`}
core:
  dims: {f: [x1, x2], y: levels(y)}
  rows: {observe: {y: categorical(logits=net(columns(f)))}}
`), load)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", layers, err, want)
		}
	}
}
