package outputs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/posterior"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
)

// A network whose weights are a point, beside parameters with priors.
const networkModel = `d3p: 1
name: network
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 500}
  columns:
    a: {type: real, lower: -1, upper: 1, scale: {center: 0, by: 1}, source: physics}
    b: {type: real, lower: -1, upper: 1, scale: {center: 0, by: 1}, source: physics}
    y: {type: real, lower: -9, upper: 9, scale: {center: 0, by: 1}, source: physics}
nets:
  f:
    input: [k]
    layers:
      - dense: {units: 3, activation: tanh}
      - dense: {units: 1, bias: false}
core:
  dims: {k: [a, b]}
  params:
    level: normal(0, 1)
    sigma: half_normal(1)
  rows:
    observe:
      y: normal(level + f(columns(k)), sigma)
privacy: {epsilon: 1, neighbours: add_remove}
`

// networkRun is a made-up run of networkModel in which θ_j = 1 + j.
func networkRun(t *testing.T) *report.Run {
	t.Helper()
	m := modelstest.Compile(t, "model.yaml", networkModel)
	plan, err := plan.New(m, plan.Config{NonPrivate: true, Steps: 10})
	if err != nil {
		t.Fatal(err)
	}
	g := guide.NewDelta(m.P)
	p := &posterior.Posterior{Plan: plan, Guide: g, Steps: 10, Lambda: make([]float64, m.P), LogSD: make([]float64, m.P), VarDP: make([]float64, m.P)}
	for j := range p.Lambda {
		p.Lambda[j] = float64(1 + j)
	}
	p.Mean = p.Lambda
	return &report.Run{
		Status: report.Complete, Name: "network", Spec: m.Spec, Plan: plan, Posterior: p, Params: outputs.ParametersOf(m, p),
		Draws: outputs.Draws{S: 0}, Weights: outputs.WeightsOf(m, p),
	}
}

// The weights stand in their own file alone, and a release gives them back in
// their places.
func TestWeightsComeBack(t *testing.T) {
	run := networkRun(t)
	files, err := run.Release()
	if err != nil {
		t.Fatal(err)
	}
	dir := reporttest.Written(t, t.TempDir(), run.Banner(), files)
	raw, err := os.ReadFile(filepath.Join(dir, "params.json"))
	if err != nil {
		t.Fatal(err)
	}
	var written outputs.Parameters
	if err := json.Unmarshal(raw, &written); err != nil {
		t.Fatal(err)
	}
	if want := []float64{1, 2}; !slices.Equal(written.Guide.Lambda, want) || len(written.Guide.VarDP) != 2 || written.Guide.Weights.Numbers != 12 {
		t.Errorf("params.json has lambda %v and weights %+v, want %v and 12 numbers elsewhere", written.Guide.Lambda, written.Guide.Weights, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "draws.parquet")); err == nil {
		t.Error("there are no draws, but a file of them")
	}
	_, parameters, err := report.ReadRelease(reporttest.Opened(t, dir, false))
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := parameters.Posterior(modelstest.Compile(t, "model.yaml", networkModel))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(posterior.Lambda, run.Posterior.Lambda) || len(posterior.VarDP) != len(posterior.Mean) {
		t.Errorf("read back %v, want %v", posterior.Lambda, run.Posterior.Lambda)
	}

	path := filepath.Join(dir, outputs.WeightsName)
	weights, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	weights[len(weights)-1] ^= 1
	if err := os.WriteFile(path, weights, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := report.ReadRelease(reporttest.Opened(t, dir, true)); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("an altered file of weights: error %v", err)
	}
}
