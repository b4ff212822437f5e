package attack

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/schedule"
	"d3p/internal/stattest"
)

// model has a gradient of (y - 1/2)(1, u) at zero: a record (6, 1) moves a sum by C
// along (1, 6), a record (6, 0) against it.
const model = `d3p: 1
name: audited
data:
  unit: {%s}
  rows: {public: 6}
  columns:
    u: {type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}, source: expert}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + u
  family: bernoulli
  link: logit
  priors:
    Intercept: normal(0, 1)
    b: normal(0, 1)
`

// A game is a mechanism and two tables that differ in one unit, the worst there are
// for it.
type game struct {
	name          string
	unit          string // of the model file
	cfg           plan.Config
	with, without string  // tables
	from, move    float64 // the sum without the record, and what the record adds if drawn, over C
	ratio         ratio
	more          float64 // the attack refutes a claim made for this multiple of the noise; 0: it is far from the bound
}

const (
	rowsAreUnits = "entity: person, rows_per_unit: 1"
	head         = "u,y\n"
	canary       = "6,1\n"
	opposite     = "6,0\n"
)

func games() []game {
	six := strings.Repeat(opposite, 6)
	return []game{
		{"full batch", rowsAreUnits, plan.Config{Sampling: "full", Steps: 4, NoiseMultiplier: 2, Clipping: "flat"},
			head + canary, head, 0, 1, always, 1.25},
		{"adaptive clipping", rowsAreUnits, plan.Config{Sampling: "full", Steps: 4, NoiseMultiplier: 2, ClipQuantile: 0.8},
			head + canary, head, 0, 1, always, 1.25},
		{"automatic clipping", rowsAreUnits, plan.Config{Sampling: "full", Steps: 4, NoiseMultiplier: 2, Clipping: "automatic"},
			head + canary, head, 0, 1, always, 1.25},
		{"poisson", rowsAreUnits, plan.Config{SamplingRate: 0.3, Steps: 4, NoiseMultiplier: 0.8, Clipping: "flat"},
			head + canary, head, 0, 1, independent, 1.25},
		{"poisson, adaptive clipping", rowsAreUnits, plan.Config{SamplingRate: 0.3, Steps: 4, NoiseMultiplier: 0.8, ClipQuantile: 0.8},
			head + canary, head, 0, 1, independent, 1.25},
		{"poisson, substitute", rowsAreUnits, plan.Config{SamplingRate: 0.3, Steps: 4, NoiseMultiplier: 1.2, Neighbours: "substitute", Clipping: "flat"},
			head + canary, head + opposite, 0, 1, replaced, 1.25},
		{"fixed size, substitute", rowsAreUnits, plan.Config{Sampling: "fixed_size", BatchSize: 2, Steps: 4, NoiseMultiplier: 2, Neighbours: "substitute", Clipping: "flat"},
			head + canary + six[len(opposite):], head + six, -2, 2, independent, 1.5},
		{"balls and bins", rowsAreUnits, plan.Config{Sampling: "balls_and_bins", BatchSize: 3, Steps: 4, NoiseMultiplier: 2, Clipping: "flat"},
			head + canary, head, 0, 1, once, 1.25},
		{"shuffle", rowsAreUnits, plan.Config{Sampling: "shuffle", BatchSize: 3, Steps: 4, NoiseMultiplier: 2, Neighbours: "zero_out", Clipping: "flat"},
			head + canary, head + "none,1\n", 0, 1, once, 0}, // a record that a rule rejects is a null one
		{"a unit of five rows", "entity: person, id: who, rows_per_unit: 3, keep: first", plan.Config{Sampling: "full", Steps: 4, NoiseMultiplier: 2, Clipping: "flat"},
			"who,u,y\n" + strings.Repeat("a,"+canary, 5), "who,u,y\n", 0, 1, always, 1.25},
		{name: "vector groups", unit: rowsAreUnits, cfg: plan.Config{Sampling: "full", Steps: 4, NoiseMultiplier: 2, ClipGroups: "each"},
			with: head + canary, without: head, move: 1, ratio: always, more: 1.25},
		{name: "schedules and vector groups", unit: rowsAreUnits, cfg: plan.Config{SamplingRate: 0.3, Steps: 4, NoiseMultiplier: 1.1, ClipGroups: "b@0.7", NoiseSchedule: "1@0,0.7@0.5", BatchSchedule: "1@0,2@0.75"},
			with: head + canary, without: head, move: 1, ratio: scheduled([]float64{1, 1, 0.7, 0.7}, []float64{1, 1, 1, 2}), more: 1.25},
	}
}

const (
	trials = 40_000
	delta  = 0.02
)

// No attack finds more than was certified, and each finds most of it; against a
// claim for more noise than there is, it wins.
func TestAttacksStayBelowEpsilon(t *testing.T) {
	stattest.SkipNumerics(t)
	for _, g := range games() {
		t.Run(g.name, func(t *testing.T) {
			plan, m := g.plan(t)
			with, without := g.releases(t, plan, m, g.with, 1), g.releases(t, plan, m, g.without, 2)
			g.judge(t, plan, leaked(with, without, plan.Certified.Upper, delta, stattest.Alpha))
		})
	}
}

// judge compares the result of an attack with the certified epsilon, and with that of
// more noise.
func (g game) judge(t *testing.T, plan *plan.Plan, found float64) {
	t.Helper()
	certified := plan.Certified.Upper
	t.Logf("epsilon is at most %.3f and, with confidence, at least %.3f", certified, found)
	if found > certified {
		t.Errorf("an attack shows epsilon %.4f at delta %g; %.4f was certified", found, delta, certified)
	}
	if g.more == 0 {
		return
	}
	wrong, err := accountant.Epsilon(plan.MechanismEvent(g.more*plan.NoiseMultiplier), plan.Neighbours, delta)
	if err != nil {
		t.Fatal(err)
	}
	if found <= wrong.Upper {
		t.Errorf("the attack shows epsilon %.4f: it does not refute a claim of %.4f, for %g times the noise", found, wrong.Upper, g.more)
	}
}

// plan is the mechanism of a fit. One trial is all its steps.
func (g game) plan(t *testing.T) (*plan.Plan, *models.Model) {
	t.Helper()
	m := modelstest.Compile(t, "audited.yaml", fmt.Sprintf(model, g.unit))
	g.cfg.Delta = delta
	plan := fittest.Plan(t, m, g.cfg)
	return plan, m
}

// releases makes the releases of all trials from a table and returns their ratios.
func (g game) releases(t *testing.T, plan *plan.Plan, m *models.Model, table string, seed uint64) []float64 {
	t.Helper()
	path := modelstest.File(t, "table.csv", table)
	mechanism, err := plan.Mechanism()
	if err != nil {
		t.Fatal(err)
	}
	mechanism.Steps *= trials
	mechanism.Schedule, mechanism.Rates = repeated(plan.NoiseSchedule), repeated(plan.BatchSchedule)
	curator, err := privacy.NewCurator(privacy.CuratorConfig{
		Table:  privacy.NewTable(privacy.TableConfig{Data: path, Encoding: m.Encoding, Root: noise.Insecure(seed)}),
		Engine: cpu.New(cpu.Options{Threads: 1}), Root: noise.Insecure(seed),
		Budget: privacy.Budget{Epsilon: math.MaxFloat64, Delta: delta}, Relation: plan.Neighbours,
	})
	if err != nil {
		t.Fatal(err)
	}
	session, err := curator.Begin(mechanism)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	request := privacy.StepRequest{Params: make([]float64, 2), ClipNorm: 0.5}
	sum, u, ratios := make([]float64, 2), make([]float64, mechanism.Steps), make([]float64, trials)
	for n := range u {
		release, err := session.Step(sum, request)
		if err != nil {
			t.Fatal(err)
		}
		at := n
		if mechanism.Schedule != nil { // a step of all trials, then the next
			at = n%trials*plan.Steps + n/trials
		}
		u[at] = (project(plan, sum, release.Count, request.ClipNorm) - g.from) / g.move
	}
	for i := range ratios {
		ratios[i] = g.ratio(u[i*plan.Steps:(i+1)*plan.Steps], plan.NoiseMultiplier/g.move, plan.SamplingRate)
	}
	return ratios
}

// repeated is a schedule whose every step is one of all trials.
func repeated(f schedule.Factors) (long schedule.Factors) {
	for _, piece := range f {
		long = append(long, schedule.Piece{Steps: trials * piece.Steps, Factor: piece.Factor})
	}
	return long
}

// project is the component of a release along the record: 1 in expectation if it is the
// only one in the batch, with the standard deviation of the joint noise. The record is
// longer than C, so that it counts -γ.
func project(plan *plan.Plan, sum []float64, count, clipNorm float64) float64 {
	direction := [2]float64{1 / math.Sqrt(37), 6 / math.Sqrt(37)}
	for _, group := range plan.ClipGroups { // each has a parameter
		direction[group.Ranges[0].From] = math.Sqrt(group.Share)
	}
	along := (sum[0]*direction[0] + sum[1]*direction[1]) / clipNorm
	if plan.CountNoise == 0 {
		return along
	}
	z, b := plan.GradientNoise, plan.CountNoise/plan.ClipQuantile
	return (along/(z*z) - count/plan.ClipQuantile/(b*b)) / (1/(z*z) + 1/(b*b))
}
