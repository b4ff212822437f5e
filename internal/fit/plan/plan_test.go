package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/clipgroups"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
	"d3p/internal/privacy/schedule"
	"d3p/internal/score"
	"d3p/internal/settings"
	"d3p/internal/stattest"
	"d3p/internal/table1"
)

// normals is a model of that many means, whose sum is the mean of a normal column.
func normals(t *testing.T, latent int) *models.Model {
	t.Helper()
	return modelstest.Compile(t, "normals.yaml", fmt.Sprintf(modelstest.Normals, latent))
}

func mustPlan(t *testing.T, latent int, cfg Config) *Plan {
	t.Helper()
	p, err := New(normals(t, latent), cfg)
	if err != nil {
		t.Fatalf("%+v: %v", cfg, err)
	}
	return p
}

func isNear(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

// The default of the design, section 4, by its formulas.
func TestDefaultPlan(t *testing.T) {
	for _, c := range []struct {
		records, latent    int
		epsilon, delta     float64
		rate               float64
		clipping, sampling string
	}{
		{3341, 8, 1, 1e-3, 1, settings.ClippingAdaptive, "full"},                        // abalone
		{30162, 96, 1, 1. / 30162, 5000. / 30162, settings.ClippingAdaptive, "poisson"}, // adult
		{100, 24, 1, 0.01, 1, settings.ClippingFlat, "full"},                            // hierarchical, N = 100
		{100000, 20, 8, 1e-7, 0, settings.ClippingAdaptive, "poisson"},                  // q = 4μ/√T
		{1000000, 20, 8, 1e-7, 0.1, settings.ClippingAdaptive, "poisson"},               // TqN = 1e8
	} {
		t.Run(fmt.Sprint(c.records), func(t *testing.T) {
			p := mustPlan(t, c.latent, Config{Records: c.records, Epsilon: c.epsilon, Delta: c.delta})
			mu := accountant.GaussianMu(accountant.Target{Epsilon: c.epsilon, Delta: c.delta})
			if c.rate == 0 {
				c.rate = 4 * mu / math.Sqrt(1000)
			}
			isNear(t, "q", p.SamplingRate, c.rate, 1e-12)
			isNear(t, "mu", p.Mu, mu, 1e-12)
			if p.Steps != 1000 || p.Clipping != c.clipping || p.Sampling != c.sampling || p.Guide != "mean_field" ||
				p.Gradient != settings.GradientAligned || p.NoiseAware != settings.NoiseAwareCurvature || p.Averaging != 0.5 || p.InitScale != 0.1 {
				t.Errorf("plan %+v", p)
			}
			sigma := p.NoiseMultiplier
			if p.SamplingRate == 1 {
				isNear(t, "sigma", sigma, math.Sqrt(1000)/mu, 5e-5) // the accountant rounds up
			}
			again, err := accountant.Epsilon(p.MechanismEvent(sigma), p.Neighbours, p.Delta)
			if err != nil || again.Upper > c.epsilon {
				t.Errorf("the curator would refuse: epsilon %v of %v, %v", again.Upper, c.epsilon, err)
			}
			if p.Certified.Upper > c.epsilon || p.Certified.Upper < 0.999*c.epsilon {
				t.Errorf("certified epsilon %v for a target of %v", p.Certified.Upper, c.epsilon)
			}
			if c.clipping == settings.ClippingFlat {
				if p.ClipNorm != 1 || p.CountNoise != 0 || p.GradientNoise != sigma {
					t.Errorf("flat clipping: %+v", p)
				}
				return
			}
			n := float64(c.records)
			quantile := 1 - math.Min(math.Max(10*math.Sqrt(float64(c.latent))/(mu*n), 0.01), 0.4)
			isNear(t, "quantile", p.ClipQuantile, quantile, 1e-12)
			isNear(t, "C0", p.ClipNorm, 0.1, 0)
			isNear(t, "sigma_b", p.CountNoise, 4*quantile*sigma, 1e-12)
			isNear(t, "z", p.GradientNoise, 1.0327955589886444*sigma, 1e-9) // (1 − 1/16)^(-1/2)
			isNear(t, "eta_C", p.ClipRate, 0.2*math.Min(1, p.SamplingRate*n/(20*quantile*sigma)), 1e-12)
		})
	}
}

// Subsampling costs σ/(q√T) against q = 1. At ε = 1, δ = 1e-5, T = 1000 these are
// the numbers computed by hand.
func TestSubsamplingCost(t *testing.T) {
	stattest.SkipNumerics(t)
	const n = 100000
	full := mustPlan(t, 5, Config{Records: n, Epsilon: 1, Delta: 1e-5, SamplingRate: 1}).NoiseMultiplier
	for rate, want := range map[float64]float64{0.1: 1.006, 0.03: 1.03, 0.01: 1.20} {
		p := mustPlan(t, 5, Config{Records: n, Epsilon: 1, Delta: 1e-5, SamplingRate: rate})
		isNear(t, fmt.Sprintf("cost at q=%g", rate), p.NoiseMultiplier/(rate*full), want, 0.01)
	}
}

func TestDeltaDefault(t *testing.T) {
	for records, want := range map[int]float64{100: 1e-5, 10000: 1e-5, 1000000: math.Pow(1e6, -1.1)} {
		isNear(t, "delta", mustPlan(t, 3, Config{Records: records, Epsilon: 1}).Delta, want, 1e-12)
	}
}

func TestSubstitutionDoublesNoise(t *testing.T) {
	add := mustPlan(t, 3, Config{Records: 5000, Epsilon: 1, Delta: 1e-6})
	sub := mustPlan(t, 3, Config{Records: 5000, Epsilon: 1, Delta: 1e-6, Neighbours: "substitute"})
	isNear(t, "sigma", sub.NoiseMultiplier, 2*add.NoiseMultiplier, 5e-5)
	isNear(t, "mu", sub.Mu, add.Mu/2, 1e-12)
}

func TestGivenNoise(t *testing.T) {
	calibrated := mustPlan(t, 3, Config{Records: 20000, Epsilon: 1, Delta: 1e-6})
	cfg := Config{Records: 20000, Delta: 1e-6, NoiseMultiplier: calibrated.NoiseMultiplier}
	given := mustPlan(t, 3, cfg)
	isNear(t, "epsilon", given.Epsilon, 1, 1e-3)
	cfg.Epsilon = 0.5
	if _, err := New(normals(t, 3), cfg); err == nil || !strings.Contains(err.Error(), "--noise-multiplier") {
		t.Errorf("noise that costs epsilon 1 accepted for 0.5: %v", err)
	}
	cfg.Epsilon = 1.1
	mustPlan(t, 3, cfg)
}

// Every setting that names a value gets that value.
func TestExplicitSettings(t *testing.T) {
	last := 0.0
	p := mustPlan(t, 4, Config{
		Records: 1000, Epsilon: 2, Delta: 1e-6, BatchSize: 100, Epochs: 20, ClipNorm: 0.7, Optimizer: "sgd", LearningRate: 0.01,
		Momentum: 0.9, Schedule: "cosine", Guide: "low_rank", Rank: 2, InitScale: 0.3, InitSeed: 9, Averaging: &last, NoiseAware: "none",
	})
	if p.SamplingRate != 0.1 || p.Steps != 200 || p.Clipping != settings.ClippingFlat || p.ClipNorm != 0.7 || p.Optimizer != "sgd" ||
		p.LearningRate != 0.01 || p.Momentum != 0.9 || p.Schedule != "cosine" || p.Guide != "low_rank" || p.Rank != 2 ||
		p.InitScale != 0.3 || p.InitSeed != 9 || p.Averaging != 0 || p.NoiseAware != settings.NoiseAwareNone {
		t.Errorf("%+v", p)
	}
}

func TestCompatD3P(t *testing.T) {
	p := mustPlan(t, 5, Config{Records: 1000, Epsilon: 2, Delta: 1e-4, Compat: settings.CompatD3P, Steps: 500})
	if p.Gradient != settings.GradientVanilla || p.Release != 10 ||
		p.Clipping != settings.ClippingFlat || p.ClipNorm != 1 || p.LearningRate != 1e-3 || p.InitScale != 1 || p.Averaging != 0 ||
		p.NoiseAware != settings.NoiseAwareNone || p.Neighbours != event.Substitute || p.Steps != 500 {
		t.Errorf("%+v", p)
	}
	// The event is the one that runs: batches of fixed size, not the Poisson sampling
	// that the Python package accounts for.
	want := event.SelfComposed{Count: 500, Of: event.FixedSizeSampled{Population: 1000, Batch: 100, Of: event.Gaussian{NoiseMultiplier: 3}}}
	if got := p.MechanismEvent(3); !reflect.DeepEqual(got, want) {
		t.Errorf("event %+v, want %+v", got, want)
	}
}

func TestNonPrivatePlan(t *testing.T) {
	p := mustPlan(t, 5, Config{Records: 100, NonPrivate: true, Method: settings.MethodVI})
	if p.Private || p.Clipping != ClippingOff || p.GradientNoise != 0 || p.Draws != 8 || p.Schedule != "cosine" || p.Guide != "full_rank" || p.Event != nil {
		t.Errorf("%+v", p)
	}
}

func TestPlanJSON(t *testing.T) {
	for _, cfg := range []Config{
		{Records: 20000, Epsilon: 1}, {Records: 100, Epsilon: 0.1, Guide: "full_rank"}, {Records: 100, NonPrivate: true},
	} {
		p := mustPlan(t, 6, cfg)
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back Plan
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		p.model, p.config = nil, nil // no part of the file
		if !reflect.DeepEqual(*p, back) {
			t.Errorf("plan changed on the way through JSON:\n%+v\n%+v", *p, back)
		}
	}
}

func TestWarnings(t *testing.T) {
	sound := Plan{
		model: normals(t, 20), Private: true, Records: 50000, Latent: 20, Release: 20, Epsilon: 1, Delta: 1e-6, Mu: 0.23,
		SamplingRate: 0.1, NoiseMultiplier: 8, Clipping: settings.ClippingAdaptive, Guide: "mean_field", Gradient: settings.GradientAligned,
		NoiseAware: settings.NoiseAwareCurvature,
	}
	for id, change := range map[string]func(*Plan){
		"noise-dominates":   func(p *Plan) { p.Latent = 400000 },
		"clipping-bias":     func(p *Plan) { p.Records = 800 },
		"delta-above-1/n":   func(p *Plan) { p.Delta = 1. / 50000 },
		"large-epsilon":     func(p *Plan) { p.Epsilon = 12 },
		"empty-batches":     func(p *Plan) { p.SamplingRate = 1e-5 },
		"small-batches":     func(p *Plan) { p.NoiseMultiplier = 1 },
		"biased-clipping":   func(p *Plan) { p.Clipping = settings.ClippingAutomatic },
		"full-rank-noise":   func(p *Plan) { p.Guide = "full_rank" },
		"vanilla-gradients": func(p *Plan) { p.Gradient = settings.GradientVanilla },
		"unclear-bounds": func(p *Plan) {
			p.Bounds = []table1.Bounds{{Column: "u", OfBounds: 0.1, Histogram: table1.Release{Noise: 2999}}, {Column: "v", OfBounds: 0.1, Histogram: table1.Release{Noise: 3001}}}
		},
		"": func(*Plan) {},
	} {
		p := sound
		change(&p)
		p.warn()
		var ids []string
		for _, w := range p.Warnings {
			ids = append(ids, w.ID)
		}
		if got := strings.Join(ids, " "); got != id {
			t.Errorf("warnings %q, want %q", got, id)
		}
	}
}

// Who will get independent normals beside effects of groups hears it before the fit, and who has units of several rows.
func TestWarningsOfModels(t *testing.T) {
	const text = `d3p: 1
data:
  unit: {entity: person, id: id, rows_per_unit: ROWS}
  rows: {public: 50000}
  columns:
    u: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}
    site: {type: category, levels: [LEVELS]}
    y: {type: binary, levels: [no, yes]}
model:
  formula: y ~ u + (1 | site)
  family: bernoulli
`
	for _, c := range []struct {
		groups, rows int
		noiseAware   string
		want         string // of the warning; empty: none
		effects      string
	}{
		{400, 1, "", "", "(1 | site)"},
		{998, 1, "", "1001 parameters, at most 1000", "(1 | site)"},
		{10, 2, "", "several rows", "(1 | site)"},
		{10, 1, settings.NoiseAwareVariance, "--noise-aware variance", "(1 | site)"},
		{10, 1, "", "", "(1 + u | site)"},
	} {
		var levels []string
		for k := range c.groups {
			levels = append(levels, strconv.Itoa(k))
		}
		m := modelstest.Compile(t, "lone.yaml", strings.NewReplacer("(1 | site)", c.effects, "ROWS", strconv.Itoa(c.rows), "LEVELS", strings.Join(levels, ", ")).Replace(text))
		p, err := New(m, Config{Epsilon: 1, NoiseAware: c.noiseAware})
		if err != nil {
			t.Fatal(err)
		}
		if dependent := slices.ContainsFunc(p.Warnings, func(w Warning) bool { return w.ID == "dependent-rows" }); dependent != (c.rows > 1) {
			t.Errorf("%+v: warnings %+v", c, p.Warnings)
		}
		at := slices.IndexFunc(p.Warnings, func(w Warning) bool { return w.ID == "lone-effects" })
		if at < 0 && c.want != "" || at >= 0 && (c.want == "" || !strings.Contains(p.Warnings[at].Text, c.want)) {
			t.Errorf("%+v: warnings %+v", c, p.Warnings)
		}
	}
}

// Every mistake is reported, with its flag, the value and what to type.
func TestConfigErrors(t *testing.T) {
	two := 2.0
	for flag, cfg := range map[string]Config{
		"--epsilon: missing":          {Records: 100},
		"--epsilon: -1":               {Records: 100, Epsilon: -1},
		"--epsilon: NaN":              {Records: 100, Epsilon: math.NaN()},
		"--epsilon: +Inf":             {Records: 100, Epsilon: math.Inf(1)},
		"--delta: 1":                  {Records: 100, Epsilon: 1, Delta: 1},
		"--delta: NaN":                {Records: 100, Epsilon: 1, Delta: math.NaN()},
		"--noise-multiplier: -2":      {Records: 100, NoiseMultiplier: -2},
		"--neighbours:":               {Records: 100, Epsilon: 1, Neighbours: "zero"},
		"--sampling-rate: 1.5":        {Records: 100, Epsilon: 1, SamplingRate: 1.5},
		"--batch-size: 101":           {Records: 100, Epsilon: 1, BatchSize: 101},
		"--batch-size: sampling-rate": {Records: 100, Epsilon: 1, BatchSize: 10, SamplingRate: 0.1},
		"--batch-size: sampling full": {Records: 100, Epsilon: 1, BatchSize: 10, Sampling: "full"},
		"--sampling: unknown":         {Records: 100, Epsilon: 1, Sampling: "poison"},
		"--sampling: shuffle":         {Records: 100, Epsilon: 1, Sampling: "shuffle"},
		"--steps: -1":                 {Records: 100, Epsilon: 1, Steps: -1},
		"--epochs: steps":             {Records: 100, Epsilon: 1, Steps: 10, Epochs: 3},
		"--clip-norm: -1":             {Records: 100, Epsilon: 1, ClipNorm: -1},
		"--clip-quantile: 1":          {Records: 100, Epsilon: 1, ClipQuantile: 1},
		"--clip-quantile: clipping":   {Records: 100, Epsilon: 1, ClipQuantile: 0.5, Clipping: "flat"},
		"--clipping: unknown":         {Records: 100, Epsilon: 1, Clipping: "off"},
		"--clip-quantile: adaptive":   {Records: 100, Epsilon: 1, Sampling: "shuffle", Neighbours: "zero-out", ClipQuantile: 0.8},
		"--optimizer: unknown":        {Records: 100, Epsilon: 1, Optimizer: "adamm"},
		"--optimizer: adam_corrected": {Records: 100, Epsilon: 1, Optimizer: "adam_corrected"},
		"--schedule: unknown":         {Records: 100, Epsilon: 1, Schedule: "linear"},
		"--guide: unknown":            {Records: 100, Epsilon: 1, Guide: "normal"},
		"--averaging: 2":              {Records: 100, Epsilon: 1, Averaging: &two},
		"--guide: only mean_field":    {Records: 100, Epsilon: 1, Guide: "full_rank", Compat: "d3p"},
		"--gradient: vanilla is":      {Records: 100, Epsilon: 1, Gradient: "vanilla"},
		"--noise-aware: it needs":     {Records: 100, Epsilon: 1, NoiseAware: "curvature", Compat: "d3p"},
		"--noise-aware: a delta":      {Records: 100, Epsilon: 1, Guide: "delta", NoiseAware: "variance"},
		"--draws: 3":                  {Records: 100, Epsilon: 1, Draws: 3},
		"--momentum: 1":               {Records: 100, Epsilon: 1, Momentum: 1},
		"--init: unknown":             {Records: 100, Epsilon: 1, Init: "random"},
		"--compat: unknown":           {Records: 100, Epsilon: 1, Compat: "opacus"},
		"--learning-rate: NaN is not": {Records: 100, Epsilon: 1, LearningRate: math.NaN()},
	} {
		_, err := New(normals(t, 3), cfg)
		if err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%+v: error %v, want one with %q", cfg, err, flag)
			continue
		}
		if !strings.Contains(err.Error(), "(") && !strings.Contains(err.Error(), " is not ") {
			t.Errorf("%v: no hint", err)
		}
	}
	_, err := New(normals(t, 3), Config{Records: -1, Epsilon: -1, Delta: 2, Steps: -3})
	if n := strings.Count(err.Error(), "--"); n < 4 || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("want four mistakes at once, got: %v", err)
	}
}

// Under zero-out neighbours the count that adaptive clipping buys has no accounting.
func TestZeroOutClipsFlat(t *testing.T) {
	p, err := New(normals(t, 3), Config{Records: 10_000, Epsilon: 4, Sampling: "shuffle", SamplingRate: 0.1, Steps: 20, Neighbours: "zero_out"})
	if err != nil || p.Clipping != settings.ClippingFlat || p.CountNoise != 0 {
		t.Errorf("plan %+v, %v", p, err)
	}
}

// Every setting that decides a fit has a field of Config, and every field but the three
// that are no flags of fit is a setting. The plan has its decisions.
func TestSettingsHaveFields(t *testing.T) {
	raw, err := json.Marshal(&Plan{Rank: 1, Momentum: 1, WeightDecay: 1, Method: settings.MethodVI, Table1: settings.Table1None, Batches: sampler.Feistel, NoiseSchedule: schedule.Factors{{Steps: 1, Factor: 2}}, BatchSchedule: schedule.Factors{{Steps: 1, Factor: 2}}, ClipNormSchedule: schedule.Factors{{Steps: 1, Factor: 2}}, ClipGroups: clipgroups.Groups{{Name: "b", Share: 1}}, SideQueries: &score.SideQueries{}})
	if err != nil {
		t.Fatal(err)
	}
	var decided map[string]any
	if err := json.Unmarshal(raw, &decided); err != nil {
		t.Fatal(err)
	}
	// These become others: epochs steps, compat all that it stands for.
	elsewhere := []string{"epochs", "compat", "accept-risk", "ledger"}
	var c Config
	fields := map[string]bool{"nonprivate": true, "draws": true, "card": true, "unpriced": true, "follows": true}
	for _, row := range settings.Table() {
		if row.Group == settings.Running {
			continue
		}
		if name := row.Name; !settings.Has(&c, name) && name != "accept-risk" && name != "ledger" {
			t.Errorf("Config has no field for the setting %s", name)
		}
		if decided[row.Field()] == nil && !slices.Contains(elsewhere, row.Name) {
			t.Errorf("a plan does not say %s", row.Field())
		}
		fields[strings.ReplaceAll(row.Name, "-", "")] = true
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		if !fields[strings.ToLower(f.Name)] {
			t.Errorf("Config.%s is no row of the table of settings", f.Name)
		}
	}
}

// A plan of an earlier version reads as the same plan.
func TestOldPlan(t *testing.T) {
	p := mustPlan(t, 3, Config{Records: 1000, Epsilon: 1, Compat: settings.CompatD3P})
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.NewReplacer(`"neighbours"`, `"adjacency"`, "mean_field", "mean-field",
		`"gradient":"vanilla"`, `"gradient":"vanilla","theta":"per-record","prior":"inside"`).Replace(string(raw))
	var again Plan
	if err := json.Unmarshal([]byte(old), &again); err != nil || old == string(raw) {
		t.Fatal(err)
	}
	if same, _ := json.Marshal(&again); string(same) != string(raw) {
		t.Errorf("read as %s, want %s", same, raw)
	}
	for _, gone := range []string{`{"gradient":"vanilla","theta":"shared"}`, `{"gradient":"vanilla","prior":"outside"}`, `{"noise_aware":"temper"}`} {
		if err := json.Unmarshal([]byte(gone), &again); err == nil {
			t.Errorf("%s is read", gone)
		}
	}
	if err := json.Unmarshal([]byte(`{"stepz": 1}`), &again); err == nil {
		t.Error("an unknown field is read")
	}
}
