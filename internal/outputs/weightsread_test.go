package outputs_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
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

// Damaged files of weights are refused, not believed.
func TestParseWeightsRefuses(t *testing.T) {
	const good = `{"w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}`
	file := func(length uint64, head string) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, length), head+"12345678"...)
	}
	if arrays, err := outputs.ParseWeights(file(uint64(len(good)), good)); err != nil || len(arrays["w"]) != 1 {
		t.Fatalf("%v, %v", arrays, err)
	}
	damaged := [][]byte{nil, {8, 0, 0}, file(math.MaxUint64, good), file(1000, good), file(2, "[]")}
	for _, change := range [][2]string{{"0,8", "0,16"}, {"0,8", "-8,0"}, {"0,8", "8,0"}, {"0,8", "0,7"}, {"F64", "F32"}, {`"F64"`, "1"}} {
		head := strings.Replace(good, change[0], change[1], 1)
		damaged = append(damaged, file(uint64(len(head)), head))
	}
	for _, raw := range damaged {
		if _, err := outputs.ParseWeights(raw); err == nil {
			t.Errorf("%q: no error", raw)
		}
	}
}

// What is read is never more than the file holds, and what the writer writes
// comes back.
func FuzzParseWeights(f *testing.F) {
	for _, list := range [][]outputs.WeightArray{nil, {{"a", []int{2}, []float64{1, -0.5}}}, {{"a", nil, []float64{3}}, {"b", []int{0}, nil}}} {
		var b bytes.Buffer
		if err := outputs.WeightsFile(list, map[string]string{"d3p.run_id": "x"}).Write(&b); err != nil {
			f.Fatal(err)
		}
		arrays, err := outputs.ParseWeights(b.Bytes())
		if err != nil || len(arrays) != len(list) {
			f.Fatalf("%v, %v", arrays, err)
		}
		for _, a := range list {
			if !slices.Equal(arrays[a.Name], a.Values) {
				f.Fatalf("%s is %v, want %v", a.Name, arrays[a.Name], a.Values)
			}
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		arrays, _ := outputs.ParseWeights(raw)
		for name, values := range arrays {
			if 8*len(values) > len(raw) {
				t.Errorf("%s has %d numbers from %d bytes", name, len(values), len(raw))
			}
		}
	})
}
