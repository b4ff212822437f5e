package report

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/spec"
	"d3p/internal/posterior"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

const exampleModel = `d3p: 1
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

// normals is a seeded posterior.Normals.
type normals struct{ *rand.Rand }

func (n normals) Normals(dst []float64) {
	for i := range dst {
		dst[i] = n.NormFloat64()
	}
}

// public is a seeded dist.Rand.
type public struct{ *rand.Rand }

func (r public) Normal() float64  { return r.NormFloat64() }
func (r public) Uniform() float64 { return r.Float64() }

// example is a finished run that read no data: its posterior is made up.
func example(t testing.TB, cfg plan.Config) *Run {
	t.Helper()
	m := modelstest.Compile(t, "model.yaml", exampleModel)
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
	prior := DrawPrior(m, 400, public{rand.New(rand.NewPCG(2, 2))})
	run := &Run{
		ID: "0123456789abcdef", Created: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), Status: Complete,
		Tool: Tool{Name: "d3p", Version: "test", Device: "cpu"}, Name: "example", Spec: s, SpecSHA256: "00",
		Command: []string{"d3p fit", "--epsilon=1"}, Plan: plan, Posterior: p, Params: ParametersOf(m, p),
		Trace: TraceOf(m, p), Prior: prior, Simulated: PriorPredictive(m, public{rand.New(rand.NewPCG(3, 3))}), Draws: DrawPosterior(m, p, 500, normals{rand.New(rand.NewPCG(1, 1))}),
	}
	if plan.Private {
		run.Event, run.Spent = plan.MechanismEvent(plan.NoiseMultiplier), *plan.Certified
	}
	return run
}

// contents writes the files of a release into memory.
func contents(t *testing.T, run *Run) map[string][]byte {
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

// readReport reads privacy.json, which must be valid, and dp_event.json of a release.
func readReport(t *testing.T, files map[string][]byte) (*Privacy, event.Event) {
	t.Helper()
	if err := validate(t, files["privacy.json"]); err != nil {
		t.Error(err)
	}
	p := new(Privacy)
	if err := json.Unmarshal(files["privacy.json"], p); err != nil {
		t.Fatal(err)
	}
	ev, err := event.UnmarshalDpEvent(files["dp_event.json"])
	if err != nil {
		t.Fatal(err)
	}
	return p, ev
}

// Whoever has only the release can compute the claim again: from dp_event.json
// and delta alone follow epsilon and every number of the risk.
func TestClaimFollowsFromTheEvent(t *testing.T) {
	files := contents(t, example(t, plan.Config{Epsilon: 1, SamplingRate: 0.3, Steps: 200}))
	p, ev := readReport(t, files)
	answer, err := accountant.Epsilon(ev, event.Relation(p.Neighbours.Relation), p.Guarantee.Delta)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Upper != p.Guarantee.Epsilon || answer.Upper != p.Accounting.EpsilonUpper || answer.Lower != p.Accounting.EpsilonLower {
		t.Errorf("the event gives epsilon %v to %v, the report says %v to %v", answer.Lower, answer.Upper, p.Accounting.EpsilonLower, p.Guarantee.Epsilon)
	}
	if p.Guarantee.Epsilon > 1 || p.Guarantee.Slack != 1-p.Guarantee.Epsilon {
		t.Errorf("epsilon %v with slack %v for a target of 1", p.Guarantee.Epsilon, p.Guarantee.Slack)
	}
	askAgain(t, p, ev)
	if !bytes.Contains(files["draws.parquet"], []byte(p.Statements.OneLine)) {
		t.Error("draws.parquet does not hold the claim")
	}
}

// Every file of a run without a guarantee says so, and none claims anything.
func TestNotPrivateIsStampedEverywhere(t *testing.T) {
	seeded := example(t, plan.Config{Epsilon: 1})
	seeded.Insecure = true
	for name, run := range map[string]*Run{"seeded": seeded, "baseline": example(t, plan.Config{NonPrivate: true})} {
		files := contents(t, run)
		for file, content := range files {
			if strings.HasPrefix(file, zarrRoot) && !strings.HasSuffix(file, "r/.zattrs") {
				continue // arrays hold numbers; the attributes of their groups are stamped
			}
			if !bytes.Contains(content, []byte(NotPrivate)) {
				t.Errorf("%s: %s is not stamped", name, file)
			}
		}
		if err := validate(t, files["privacy.json"]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var p Privacy
		if err := json.Unmarshal(files["privacy.json"], &p); err != nil {
			t.Fatal(err)
		}
		if p.Guarantee != nil || p.Risk != nil || strings.Contains(p.Statements.OneLine, "differential") {
			t.Errorf("%s: the report claims %+v, %s", name, p.Guarantee, p.Statements.OneLine)
		}
		if len(p.Scope.Covers) > 0 || strings.Contains(p.Setting.Actors[1], "may") {
			t.Errorf("%s: the report covers %v, %v", name, p.Scope.Covers, p.Setting.Actors)
		}
		if noisy := strings.Contains(p.Scope.DataAccesses[0], "noisy"); noisy != run.Plan.Private {
			t.Errorf("%s: the records were touched by %v", name, p.Scope.DataAccesses)
		}
		for _, page := range []string{"privacy.md", "privacy.html"} {
			for _, lie := range []string{"one person; declared", "may be published", "1.798e+308"} {
				if bytes.Contains(files[page], []byte(lie)) {
					t.Errorf("%s: %s says %q", name, page, lie)
				}
			}
		}
		if files["dp_event.json"] != nil {
			t.Errorf("%s: an event is published", name)
		}
	}
}

// The path of the data set's ledger, which the model file may name, is the
// custodian's own: no file of a release has it, and the run keeps it.
func TestLedgerPathIsNotPublished(t *testing.T) {
	const path = "/srv/custodian/cohort.ledger"
	run := example(t, plan.Config{Epsilon: 1})
	run.Spec.Settings["ledger"] = spec.Value[any]{V: path, At: spec.Position{Line: 1}}
	if !bytes.Contains(run.Spec.Render(), []byte(path)) {
		t.Fatal("the model file does not name the ledger: the test tests nothing")
	}
	for name, content := range contents(t, run) {
		if bytes.Contains(content, []byte(path)) {
			t.Errorf("%s names the ledger", name)
		}
	}
	if run.Spec.Settings.Word("ledger") != path {
		t.Error("the run has lost its ledger")
	}
}

// The draws have the variance of guide and privacy noise together.
func TestDrawPosterior(t *testing.T) {
	run := example(t, plan.Config{Epsilon: 1})
	rows := run.Draws.Summarise()
	if rows[0].Variable != "Intercept" || rows[1].Variable != "b[x]" {
		t.Fatalf("variables %s, %s", rows[0].Variable, rows[1].Variable)
	}
	// b[x] is the second unconstrained number: mean 0.1, variance 0.01 + 0.001.
	// The mean of 500 draws is off by 6.5 standard errors with P < 1e-10.
	if sd := math.Sqrt(0.011); math.Abs(rows[1].Mean-0.1) > 6.5*sd/math.Sqrt(500) || math.Abs(rows[1].SD/sd-1) > 0.21 {
		t.Errorf("b[x] %g ± %g, want 0.1 ± %g", rows[1].Mean, rows[1].SD, sd)
	}
	if share := *rows[1].NoiseShare; math.Abs(share-0.001/0.011) > 1e-12 {
		t.Errorf("noise share of b[x] %g, want %g", share, 0.001/0.011)
	}
}
