package fit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/models"
	"d3p/internal/models/spec"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// study is a simulated logistic regression with its model, its file and its
// exact posterior mode.
type study struct {
	model *models.Model
	data  string
	mode  []float64
	sd    []float64 // of the Laplace approximation
}

const studyModel = `d3p: 1
name: study
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: %d}
  columns:
    u: {type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}, source: expert}
    v: {type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}, source: expert}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + u + v
  family: bernoulli
  link: logit
  priors:
    Intercept: normal(0, 1)
    b: normal(0, 1)
privacy:
  neighbours: add_remove
`

// newStudy draws n records with coefficients (0.5, -1, 1).
func newStudy(t testing.TB, n int) *study {
	t.Helper()
	parsed, errs := spec.Parse("study.yaml", fmt.Appendf(nil, studyModel, n), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	model, err := models.Compile(parsed)
	if err != nil {
		t.Fatal(err)
	}
	s := &study{model: model, data: filepath.Join(t.TempDir(), "study.csv")}
	rng := noise.Insecure(1).Stream(noise.Initialisation)
	text := strings.Builder{}
	text.WriteString("u,v,y\n")
	var x [][]float64
	var y []float64
	for range n {
		z := make([]float64, 2)
		rng.Normals(z)
		row := []float64{1, math.Round(1e3*z[0]) / 1e3, math.Round(1e3*z[1]) / 1e3}
		outcome := 0.0
		if rng.Float64() < 1/(1+math.Exp(-(0.5-row[1]+row[2]))) {
			outcome = 1
		}
		fmt.Fprintf(&text, "%g,%g,%g\n", row[1], row[2], outcome)
		x, y = append(x, row), append(y, outcome)
	}
	if err := os.WriteFile(s.data, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.mode, s.sd = laplace(x, y)
	return s
}

// laplace returns mode and marginal sds of the logistic posterior with standard
// normal priors on three coefficients, by Newton's method.
func laplace(x [][]float64, y []float64) (mode, sd []float64) {
	mode = make([]float64, 3)
	var inverse [3][3]float64
	for range 30 {
		var h [3][3]float64
		g := [3]float64{}
		for j := range 3 {
			h[j][j] = 1
			g[j] = -mode[j]
		}
		for i, row := range x {
			p := 1 / (1 + math.Exp(-(row[0]*mode[0] + row[1]*mode[1] + row[2]*mode[2])))
			for j := range 3 {
				g[j] += (y[i] - p) * row[j]
				for k := range 3 {
					h[j][k] += p * (1 - p) * row[j] * row[k]
				}
			}
		}
		inverse = invert3(h)
		for j := range 3 {
			for k := range 3 {
				mode[j] += inverse[j][k] * g[k]
			}
		}
	}
	for j := range 3 {
		sd = append(sd, math.Sqrt(inverse[j][j]))
	}
	return mode, sd
}

func invert3(a [3][3]float64) (inv [3][3]float64) {
	cof := func(i, j int) float64 {
		r, c := [2]int{(i + 1) % 3, (i + 2) % 3}, [2]int{(j + 1) % 3, (j + 2) % 3}
		return a[r[0]][c[0]]*a[r[1]][c[1]] - a[r[0]][c[1]]*a[r[1]][c[0]]
	}
	det := a[0][0]*cof(0, 0) + a[0][1]*cof(0, 1) + a[0][2]*cof(0, 2)
	for i := range 3 {
		for j := range 3 {
			inv[j][i] = cof(i, j) / det
		}
	}
	return inv
}

func (s *study) plan(t testing.TB, cfg fit.Config) *fit.Plan {
	t.Helper()
	p, err := fit.NewPlan(s.model, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// curator opens the study's records with noise that is a function of seed.
func (s *study) curator(t testing.TB, p *fit.Plan, seed uint64, spent privacy.Ledger) *privacy.Curator {
	t.Helper()
	budget, relation := privacy.Budget{Epsilon: p.Epsilon, Delta: p.Delta}, p.Adjacency
	if !p.Private {
		budget, relation = privacy.Budget{Epsilon: 1, Delta: 1e-6}, "add_remove"
	}
	c, err := privacy.NewCurator(privacy.CuratorConfig{
		Data: s.data, Encoding: s.model.Encoding, Engine: cpu.New(cpu.Options{Threads: 1}),
		Root: noise.Insecure(seed), Budget: budget, Relation: relation, Spent: spent,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// At ε = 4 the private posterior of 4000 records is near the exact one: its
// location within 6.2 of its own total sds plus a tenth for what mean field and
// clipping add (P(|N(0,1)| > 6.2) < 1e-9), its total sds between 0.75 (mean
// field ignores correlations) and 3 times the exact ones.
func TestPrivateFitIsNearExactPosterior(t *testing.T) {
	s := newStudy(t, 4000)
	for _, cfg := range []fit.Config{
		{Epsilon: 4, Delta: 1e-6},
		{Epsilon: 4, Delta: 1e-6, SamplingRate: 0.2},
		{Epsilon: 4, Delta: 1e-6, Guide: "full-rank"},
		{Epsilon: 4, Delta: 1e-6, NoiseAware: "temper"},
	} {
		p := s.plan(t, cfg)
		post, ledger, err := fit.Run(context.Background(), p, s.curator(t, p, 11, privacy.Ledger{}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(ledger.Entries) != 1 || ledger.Entries[0].Steps != p.Steps {
			t.Errorf("ledger %+v", ledger)
		}
		sd, share := make([]float64, 3), make([]float64, 3)
		post.SD(sd)
		post.NoiseShare(share)
		for j := range 3 {
			if d := math.Abs(post.Mean[j] - s.mode[j]); d > 6.2*sd[j]+0.1*s.sd[j] {
				t.Errorf("%+v: mean[%d] = %.4f, exact %.4f, total sd %.4f", cfg, j, post.Mean[j], s.mode[j], sd[j])
			}
			if sd[j] < 0.75*s.sd[j] || sd[j] > 3*s.sd[j] {
				t.Errorf("%+v: sd[%d] = %.4f, exact %.4f", cfg, j, sd[j], s.sd[j])
			}
			if want := cfg.NoiseAware == ""; (share[j] > 0) != want {
				t.Errorf("%+v: noise share %v", cfg, share)
			}
		}
	}
}

// Vanilla gradients, and the Python package's algorithm as a whole, run on the
// tape of the guide's parameters. At this ε and size they too must come near,
// with the tolerance of what the design measured for them: a third of a unit.
func TestVanillaGradients(t *testing.T) {
	s := newStudy(t, 4000)
	for name, cfg := range map[string]fit.Config{
		"shared":         {Epsilon: 4, Delta: 1e-6, Gradient: "vanilla"},
		"per record":     {Epsilon: 4, Delta: 1e-6, Gradient: "vanilla", Theta: "per-record", PriorGradient: "inside"},
		"sampled":        {Epsilon: 4, Delta: 1e-6, Gradient: "vanilla", Theta: "per-record", SamplingRate: 0.2},
		"Python package": {Epsilon: 4, Delta: 1e-6, Compat: "d3p", LearningRate: 0.01, SamplingRate: 0.1, Steps: 1000},
	} {
		p := s.plan(t, cfg)
		post, ledger, err := fit.Run(context.Background(), p, s.curator(t, p, 11, privacy.Ledger{}), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if ledger.Entries[0].Steps != p.Steps {
			t.Errorf("%s: ledger %+v", name, ledger)
		}
		for j := range 3 {
			if d := math.Abs(post.Mean[j] - s.mode[j]); d > 0.33 {
				t.Errorf("%s: mean[%d] = %.3f, exact %.3f", name, j, post.Mean[j], s.mode[j])
			}
		}
	}
}

func TestNonPrivateFitIsExact(t *testing.T) {
	s := newStudy(t, 1000)
	p := s.plan(t, fit.Config{NonPrivate: true})
	post, ledger, err := fit.Run(context.Background(), p, s.curator(t, p, 1, privacy.Ledger{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if ledger.NotPrivate == "" {
		t.Error("the ledger does not say NOT PRIVATE")
	}
	for j := range 3 {
		if d := math.Abs(post.Mean[j]-s.mode[j]) / s.sd[j]; d > 0.1 {
			t.Errorf("mean[%d] is %.3f sd from the exact one", j, d)
		}
	}
}

// The releases at one θ vary with variance z²C² per coordinate: the sum of
// squares over T·P values is chi-square; |χ²/(TP−P) − 1| > 6.2·√(2/(TP−P)) has
// probability below 1e-8.
func TestReleasedNoiseHasPlannedVariance(t *testing.T) {
	s := newStudy(t, 500)
	p := s.plan(t, fit.Config{Epsilon: 1, Delta: 1e-6, Steps: 2000})
	m, err := p.Mechanism()
	if err != nil {
		t.Fatal(err)
	}
	session, err := s.curator(t, p, 3, privacy.Ledger{}).Begin(m)
	if err != nil {
		t.Fatal(err)
	}
	const clipNorm = 0.5
	theta, dst := make([]float64, 3), make([]float64, 3)
	var sum, square [3]float64
	var counts, countSquares float64
	for range p.Steps {
		release, err := session.Step(dst, privacy.StepRequest{Params: theta, ClipNorm: clipNorm})
		if err != nil {
			t.Fatal(err)
		}
		for j, x := range dst {
			sum[j] += x
			square[j] += x * x
		}
		counts += release.Count
		countSquares += release.Count * release.Count
	}
	n := float64(p.Steps)
	within := func(what string, variance, want, freedom float64) {
		if r := variance / want; math.Abs(r-1) > 6.2*math.Sqrt(2/freedom) {
			t.Errorf("variance of %s is %.4f of the planned", what, r)
		}
	}
	total := 0.0
	for j := range 3 {
		total += (square[j] - sum[j]*sum[j]/n) / (n - 1) / 3
	}
	planned := p.GradientNoise * clipNorm
	within("the gradient", total, planned*planned, 3*(n-1))
	if p.CountNoise > 0 {
		within("the count", (countSquares-counts*counts/n)/(n-1), p.CountNoise*p.CountNoise, n-1)
	}
}

// stopAt cancels after a number of steps.
type stopAt struct {
	step   int
	cancel context.CancelFunc
	spent  float64
}

func (s *stopAt) Step(t, _ int, epsilonSpent func() float64) {
	if t == s.step {
		s.spent = epsilonSpent()
		s.cancel()
	}
}

// A stopped fit reports what was spent; continued, it gives the same numbers
// and the same ledger as one that was never stopped.
func TestStopAndResume(t *testing.T) {
	s := newStudy(t, 1000)
	cfg := fit.Config{Epsilon: 1, Delta: 1e-6, SamplingRate: 0.3, Steps: 200}
	p := s.plan(t, cfg)
	whole, wholeLedger, err := fit.Run(context.Background(), p, s.curator(t, p, 5, privacy.Ledger{}), nil)
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	stop := &stopAt{step: 120, cancel: cancel}
	post, ledger, err := fit.Run(ctx, p, s.curator(t, p, 5, privacy.Ledger{}), stop)
	if !errors.Is(err, fit.ErrStopped) {
		t.Fatalf("error %v, want ErrStopped", err)
	}
	// The curator's noise has a known seed here, so it claims no ε at all.
	if post.Steps != 120 || ledger.Entries[0].Steps != 120 || !math.IsInf(stop.spent, 1) {
		t.Errorf("stopped after %d steps, ledger %+v, spent %v", post.Steps, ledger, stop.spent)
	}
	checkpoint, err := post.Checkpoint(ledger)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := checkpoint.Write(&file); err != nil {
		t.Fatal(err)
	}
	restored, err := fit.ReadCheckpoint(&file)
	if err != nil {
		t.Fatal(err)
	}
	var spent privacy.Ledger
	if err := json.Unmarshal(restored.Ledger, &spent); err != nil {
		t.Fatal(err)
	}
	again, finalLedger, err := fit.Resume(context.Background(), restored, s.model, s.curator(t, p, 5, spent), nil)
	if err != nil {
		t.Fatal(err)
	}
	for j := range whole.Mean {
		if whole.Mean[j] != again.Mean[j] || whole.VarDP[j] != again.VarDP[j] {
			t.Fatalf("resumed %v %v, want %v %v", again.Mean, again.VarDP, whole.Mean, whole.VarDP)
		}
	}
	if len(finalLedger.Entries) != 1 || finalLedger.Entries[0].Steps != wholeLedger.Entries[0].Steps {
		t.Errorf("ledger after resuming %+v, want %+v", finalLedger, wholeLedger)
	}
}

// A mixture's components start apart, at a draw from their prior; what is no
// mixture starts at zero, and an explicit choice stands.
func TestMixturesStartApart(t *testing.T) {
	const text = `d3p: 1
name: mixture
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 2000}
  columns:
    x: {type: real, lower: -9, upper: 9, scale: {center: 0, by: 1}, source: physics}
core:
  dims:
    k: 3
  params:
    w: dirichlet(1) [k]
    mu: normal(0, 3) [k]
    sigma: inverse_gamma(1, 1) [k]
  rows:
    observe:
      x: mixture(w, normal(mu, sigma), over=k)
privacy:
  neighbours: add_remove
`
	parsed, errs := spec.Parse("mixture.yaml", []byte(text), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	mixture, err := models.Compile(parsed)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m    *models.Model
		init string
		want string
	}{{mixture, "", "prior"}, {mixture, "zero", "zero"}, {newStudy(t, 100).model, "", "zero"}} {
		p, err := fit.NewPlan(c.m, fit.Config{Epsilon: 1, Init: c.init})
		if err != nil {
			t.Fatal(err)
		}
		if p.Init != c.want {
			t.Errorf("init %q of %s becomes %q, want %q", c.init, c.m.Name, p.Init, c.want)
		}
	}
}

// Over budget nothing is spent and there is no posterior.
func TestOverBudget(t *testing.T) {
	s := newStudy(t, 1000)
	p := s.plan(t, fit.Config{Epsilon: 1, Delta: 1e-6, Steps: 50})
	dearer := s.plan(t, fit.Config{Epsilon: 2, Delta: 1e-6, Steps: 50})
	var refused *privacy.BudgetError
	post, ledger, err := fit.Run(context.Background(), dearer, s.curator(t, p, 5, privacy.Ledger{}), nil)
	if !errors.As(err, &refused) || post != nil || len(ledger.Entries) != 0 {
		t.Errorf("posterior %v, ledger %+v, error %v", post, ledger, err)
	}
}

// BenchmarkRun is a whole private fit of 1000 steps of 4000 records with 3
// parameters, reading the file included.
func BenchmarkRun(b *testing.B) {
	s := newStudy(b, 4000)
	p := s.plan(b, fit.Config{Epsilon: 1, Delta: 1e-6})
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := fit.Run(context.Background(), p, s.curator(b, p, 1, privacy.Ledger{}), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(4000*p.Steps*b.N)/b.Elapsed().Seconds(), "records/s")
}
