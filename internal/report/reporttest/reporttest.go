// Package reporttest has a finished run with a simulated posterior, for tests.
package reporttest

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/posterior"
	"d3p/internal/privacy/event"
	"d3p/internal/release"
	"d3p/internal/report"
)

const Model = `d3p: 1
name: example
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 5000}
  columns:
    x: {type: real, lower: 1, upper: 9, transform: log, scale: {center: 1, by: 2}, source: expert}
    z: {type: real, lower: -1, upper: 1, scale: {center: 0, by: 1}, missing: {impute: 0, indicator: true}}
    g: {type: category, levels: [a, b, c], unknown: a}
    y: {type: real, lower: -10, upper: 10, scale: {center: 0, by: 3}, source: codebook}
model:
  formula: y ~ 1 + x + z + (1 | g)
  family: gaussian
privacy: {neighbours: add_remove, epsilon: 1, justification: for the tests}
release: {authors: [A. Person], curators: [A Hospital], intended_use: tests, region: none, sector: Healthcare}
`

// Normals is a seeded posterior.Normals.
type Normals struct{ *rand.Rand }

func (n Normals) Normals(dst []float64) {
	for i := range dst {
		dst[i] = n.NormFloat64()
	}
}

// public is a seeded dist.Rand.
type public struct{ *rand.Rand }

func (r public) Normal() float64  { return r.NormFloat64() }
func (r public) Uniform() float64 { return r.Float64() }

// Example is a finished run that read no data: its posterior is simulated.
func Example(t testing.TB, cfg plan.Config) *report.Run {
	t.Helper()
	m := modelstest.Compile(t, "model.yaml", Model)
	s := m.Spec
	plan, err := plan.New(m, cfg)
	if err != nil {
		t.Fatal(err)
	}
	g := guide.NewMeanField(m.P)
	p := &posterior.Posterior{
		Plan: plan, Guide: g, Steps: plan.Steps,
		Lambda: make([]float64, g.Size()), LogSD: make([]float64, m.P), VarDP: make([]float64, m.P),
	}
	for j := range m.P {
		p.Lambda[j], p.Lambda[m.P+j] = float64(j)/10, math.Log(0.1)
		p.LogSD[j], p.VarDP[j] = math.Log(0.1), 0.01*float64(j)/10
	}
	p.Mean = p.Lambda[:m.P]
	for t := 1; t <= plan.Steps; t += 100 {
		p.Trace.Steps = append(p.Trace.Steps, t)
		for j := range m.P {
			p.Trace.Mean = append(p.Trace.Mean, float64(j)+1/float64(t))
		}
	}
	prior := outputs.DrawPrior(m, 400, public{rand.New(rand.NewPCG(2, 2))})
	run := &report.Run{
		ID: "0123456789abcdef", Created: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), Status: report.Complete,
		Tool: report.Tool{Name: "d3p", Version: "test", Device: "cpu"}, Name: "example", Spec: s, SpecSHA256: "00",
		Command: []string{"d3p fit", "--epsilon=1"}, Plan: plan, Posterior: p, Params: outputs.ParametersOf(m, p),
		Trace: outputs.TraceOf(m, p), Prior: prior, Simulated: outputs.PriorPredictive(m, public{rand.New(rand.NewPCG(3, 3))}), Draws: outputs.DrawPosterior(m, p, 500, Normals{rand.New(rand.NewPCG(1, 1))}),
	}
	if plan.Private {
		run.Event, run.Spent = plan.MechanismEvent(plan.NoiseMultiplier), *plan.Certified
	}
	return run
}

// Contents writes the files of a release into memory.
func Contents(t *testing.T, run *report.Run) map[string][]byte {
	t.Helper()
	files, err := run.Release()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		out[f.Name] = b.Bytes()
	}
	return out
}

// Written writes a release into a new folder below dir.
func Written(t *testing.T, dir, banner string, files []release.File) (path string) {
	t.Helper()
	parent, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	if err := release.Write(parent, "release", files, release.Options{Banner: banner}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "release")
}

// Opened opens a release unchecked, or checked against its manifest.
func Opened(t *testing.T, dir string, unverified bool) *release.Folder {
	t.Helper()
	f, err := release.Open(dir, unverified)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Booked is a ledger with two other runs and a limit of 3 at delta 1e-6.
func Booked() *report.Booked {
	other := event.SelfComposed{Of: event.Gaussian{NoiseMultiplier: 80}, Count: 500}
	return &report.Booked{LedgerID: "00ff", Dataset: "cohort", Chain: "ab", Limit: report.Target{Epsilon: 3, Delta: 1e-6}, Runs: 2, Event: event.Composed{Events: []event.Event{other, other}}}
}
