package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/ledger"
	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
	"d3p/internal/run"
	"d3p/internal/status"
)

const boughtColumns = `d3p: 1
name: visits
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 3000}
  columns:
    x: {type: real, bounds: {dp: 0.1, within: [-50, 50]}}
    site: {type: category, levels: {dp: 0.2, most: 20}, unknown: other}
    y: {type: binary}
model:
  formula: y ~ 1 + x + site
  family: bernoulli
`

// purchases are fits that buy levels, bounds and Table 1 of one table, booked in a ledger that
// has the budget of one of them.
type purchases struct {
	t             *testing.T
	dir           string
	data, ledger  string
	model, table1 string
	config        plan.Config
	public        map[string][]byte // files that the model names
}

func newPurchases(t *testing.T, header string) *purchases {
	t.Helper()
	p := &purchases{t: t, dir: t.TempDir(), model: boughtColumns, table1: "0.05", config: plan.Config{Epsilon: 1, Delta: 1e-5, Steps: 20, SamplingRate: 1}}
	p.data, p.ledger = filepath.Join(p.dir, "visits.csv"), filepath.Join(p.dir, "visits.ledger")
	p.write(header, "leeds", "york")
	if err := ledger.Create(p.ledger, ledger.New("visits", "person", event.AddRemove, privacy.Budget{Epsilon: 1, Delta: 1e-5})); err != nil {
		t.Fatal(err)
	}
	return p
}

// write writes the table with these names of columns and sites.
func (p *purchases) write(header string, sites ...string) {
	p.t.Helper()
	text := header + "\n"
	for i := range 3000 {
		text += fmt.Sprintf("%g,%s,%d\n", float64(i%7)-3, sites[i%len(sites)], i/3%2)
	}
	if err := os.WriteFile(p.data, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *purchases) host(engine privacy.Engine) run.Host {
	return run.Host{
		Open: func(run.Run, int) (*run.Engine, error) {
			return &run.Engine{Engine: engine, Together: 1, Close: func() error { return nil }}, nil
		},
		Tool: func(string) report.Tool { return report.Tool{Name: "d3p"} }, Notef: p.t.Errorf,
	}
}

// new is a new fit on an engine, of the whole budget of the ledger.
func (p *purchases) new(engine privacy.Engine) run.Run {
	p.t.Helper()
	m, err := models.Read("visits.yaml", []byte(p.model), func(name string) ([]byte, error) { return p.public[name], nil })
	if err != nil {
		p.t.Fatal(err)
	}
	root, err := noise.System()
	if err != nil {
		p.t.Fatal(err)
	}
	cfg := p.config
	cfg.Table1 = p.table1
	return run.Run{
		Model: m, Plan: fittest.Plan(p.t, m, cfg), Root: root, Host: p.host(engine), Job: run.Job{
			ID: run.NewID(), Attempts: []string{run.NewID()}, Created: time.Now(), Data: p.data, Name: "visits", Model: string(m.Spec.Render()), Public: m.Spec.Public,
			Draws: 20, Formats: []string{"csv"}, Threads: 1, Command: []string{"d3p", "fit"}, Ledger: p.ledger,
		},
	}
}

// holds checks that the ledger has one run, in the state spent, at the price of events.
func (p *purchases) holds(events ...event.Event) {
	p.t.Helper()
	book, err := ledger.Read(p.ledger)
	if err != nil {
		p.t.Fatal(err)
	}
	accounts, err := book.Accounts("")
	if err != nil {
		p.t.Fatal(err)
	}
	if len(accounts) != 1 || accounts[0].State != ledger.Spent {
		p.t.Fatalf("the ledger has %+v, want one run that spent", accounts)
	}
	got, err := book.Epsilon(accounts[0].Event)
	want, other := accountant.Epsilon(event.Composed{Events: events}, event.AddRemove, 1e-5)
	if err = errors.Join(err, other); err != nil || math.Abs(got-want.Upper) > 1e-6 {
		p.t.Errorf("the ledger has epsilon %v, want %v (%v)", got, want.Upper, err)
	}
}

// refuses checks that the ledger lets no further fit in.
func (p *purchases) refuses() {
	p.t.Helper()
	_, err := p.new(whole()).Fit(context.Background(), filepath.Join(p.dir, "next"))
	var over *privacy.BudgetError
	if !errors.As(err, &over) {
		p.t.Errorf("the next fit ends with %v, want a BudgetError", err)
	}
}

func whole() privacy.Engine { return cpu.New(cpu.Options{Threads: 1}) }

// closed is an engine that takes no table.
type closed struct{ privacy.Engine }

func (closed) Open(*graph.Tape, *privacy.Rows) (privacy.Worker, error) {
	return nil, errors.New("the card is full")
}

// loud is an engine whose sums are as long as any, with which the iterates of some init seeds leave the range of
// numbers.
type loud struct {
	privacy.Engine
	began func() // nil: no call
}

func (e loud) Open(t *graph.Tape, rows *privacy.Rows) (privacy.Worker, error) {
	if e.began != nil {
		e.began()
	}
	w, err := e.Engine.Open(t, rows)
	return loudWorker{w}, err
}

type loudWorker struct{ privacy.Worker }

func (w loudWorker) ClippedSum(dst []float64, _ privacy.StepInput, _ []uint32, _ bool, clip privacy.Clip) (float64, error) {
	for j := range dst {
		dst[j] = 0x1p31 * clip.Norm
	}
	return 0, nil
}

// diverges runs a fit whose iterates leave the range of numbers, and calls began before its first step.
func (p *purchases) diverges(began func()) run.Run {
	p.t.Helper()
	p.model = strings.NewReplacer("bounds: {dp: 0.1, within: [-50, 50]}", "lower: -3, upper: 3", " + site", "", "3000", "300").Replace(p.model)
	r := p.new(loud{whole(), began})
	r.Plan = fittest.Plan(p.t, r.Model, plan.Config{Epsilon: 1, Delta: 1e-5, Steps: 20, SamplingRate: 1, Table1: "none", Optimizer: "sgd", LearningRate: 3, InitSeed: 1})
	if _, err := r.Fit(context.Background(), filepath.Join(p.dir, "run")); !errors.Is(err, fit.ErrNonFinite) {
		p.t.Fatalf("the fit ends with %v", err)
	}
	return r
}

// A fit whose iterates leave the range of numbers says in which step, which its releases decide. So it has the price
// of all its steps, not of those until then, and no earlier checkpoint continues it.
func TestFitThatEndsItselfPaysAllSteps(t *testing.T) {
	p := newPurchases(t, "x,site,y")
	r := p.diverges(nil)
	p.holds(r.Plan.MechanismEvent(r.Plan.NoiseMultiplier))
	own, _, err := run.ReadLedger(filepath.Join(p.dir, "run"))
	if err != nil || !event.Equal(own.Event(), r.Plan.MechanismEvent(r.Plan.NoiseMultiplier)) {
		t.Errorf("the run's ledger has %v (%v)", own.Event(), err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "run", "private", "checkpoint.json")); err == nil {
		t.Error("a checkpoint is left")
	}
	if _, err := run.Reopen(filepath.Join(p.dir, "run"), ""); err == nil || !strings.Contains(err.Error(), "the fit ended itself, and released nothing; its price is in ") {
		t.Errorf("it is resumed: %v", err)
	}
	p.refuses()
}

// It has this price, too, where the ledger cannot be written at its end and is settled later.
func TestSettledFitThatEndedItselfPaysAllSteps(t *testing.T) {
	p := newPurchases(t, "x,site,y")
	mode := func(mode os.FileMode) {
		if err := os.Chmod(p.ledger, mode); err != nil {
			t.Fatal(err)
		}
	}
	r := p.diverges(func() { mode(0o666) }) // a ledger that others may change is refused
	mode(0o600)
	if err := run.Settle(p.ledger, filepath.Join(p.dir, "run")); err != nil {
		t.Fatal(err)
	}
	p.holds(r.Plan.MechanismEvent(r.Plan.NoiseMultiplier))
	p.refuses()
}

// Of a stopped fit by marginals, too: counts decide how many tables it asks for, and which. It shows no steps, whose
// numbers would follow from counts that a killed fit never pays for.
func TestStoppedMarginalsPayAllReleases(t *testing.T) {
	p := newPurchases(t, "x,site,y")
	p.model = strings.NewReplacer("bounds: {dp: 0.1, within: [-50, 50]}", "lower: -3, upper: 3", "levels: {dp: 0.2, most: 20}, unknown: other", "levels: [leeds, york]").Replace(p.model)
	p.model = p.model[:strings.Index(p.model, "model:")] + "twin: {engine: marginals}\n"
	p.config, p.table1 = plan.Config{Epsilon: 1, Delta: 1e-5}, ""
	r := p.new(whole())
	r.Host.Step = func(t, _ int, _ float64, _ func() float64) { p.t.Errorf("step %d is shown", t) }
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Fit(ctx, filepath.Join(p.dir, "run")); status.Of(err) != status.Interrupted {
		t.Fatalf("the fit ends with %v", err)
	}
	p.holds(r.Plan.MechanismEvent(r.Plan.NoiseMultiplier))
	p.refuses()
}

// A fit that fails before it has bought anything gives its reservation back.
func TestNothingBoughtIsFree(t *testing.T) {
	p := newPurchases(t, "x,place,y")
	if _, err := p.new(whole()).Fit(context.Background(), filepath.Join(p.dir, "failed")); err == nil {
		t.Fatal("the file has no sites")
	}
	p.write("x,site,y", "leeds", "york")
	r := p.new(whole())
	if _, err := r.Fit(context.Background(), filepath.Join(p.dir, "next")); err != nil {
		t.Fatal(err)
	}
	p.holds(r.Plan.MechanismEvent(r.Plan.NoiseMultiplier))
}

// A fit that fails while it reads the records after it has bought levels has spent their price,
// and the next fit does not get it free: whether it reads numbers next, to buy bounds, or all.
func TestFailedReadKeepsBoughtLevels(t *testing.T) {
	for _, bounds := range []string{"bounds: {dp: 0.1, within: [-50, 50]}", "lower: -3, upper: 3, scale: {center: 0, by: 1}"} {
		for _, table1 := range []string{"0.05", "none"} {
			p := newPurchases(t, "x,site,y")
			p.model, p.table1 = strings.Replace(p.model, "bounds: {dp: 0.1, within: [-50, 50]}", bounds, 1), table1
			csv := p.data
			p.data = filepath.Join(p.dir, "visits.parquet")
			p.writeUnreadableNumbers()
			r := p.new(whole())
			if _, err := r.Fit(context.Background(), filepath.Join(p.dir, "failed")); status.Of(err) != status.Data {
				t.Fatalf("%v, want an error of the data", err)
			}
			own, _, err := run.ReadLedger(filepath.Join(p.dir, "failed"))
			if want := plan.Before(r.Plan.Levels, nil, nil, nil); err != nil || len(want) != 1 || !event.Equal(own.Event(), want[0]) {
				t.Errorf("the run's ledger has %v (%v), want %v", own.Event(), err, want)
			}
			p.holds(plan.Before(r.Plan.Levels, nil, nil, nil)...)
			p.data = csv
			p.refuses()
		}
	}
}

// writeUnreadableNumbers writes a Parquet file with sites, whose x is lists.
func (p *purchases) writeUnreadableNumbers() {
	p.t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64)}, {Name: "site", Type: arrow.BinaryTypes.String}, {Name: "y", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range 3000 {
		b.Field(0).(*array.ListBuilder).Append(true)
		b.Field(1).(*array.StringBuilder).Append([]string{"leeds", "york"}[i%2])
		b.Field(2).(*array.Int64Builder).Append(int64(i / 3 % 2))
	}
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &buf, nil, pqarrow.DefaultWriterProps())
	if err == nil {
		err = errors.Join(w.Write(b.NewRecord()), w.Close(), os.WriteFile(p.data, buf.Bytes(), 0o600))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// A file that lacks a column is refused before levels of another are bought.
func TestMissingColumnIsFree(t *testing.T) {
	p := newPurchases(t, "z,site,y")
	_, err := p.new(whole()).Fit(context.Background(), filepath.Join(p.dir, "failed"))
	if status.Of(err) != status.Data || !strings.Contains(err.Error(), "x") {
		t.Fatalf("%v, want an error that x is not in the header", err)
	}
	p.write("x,site,y", "leeds", "york")
	r := p.new(whole())
	if _, err := r.Fit(context.Background(), filepath.Join(p.dir, "next")); err != nil {
		t.Fatal(err)
	}
	p.holds(r.Plan.MechanismEvent(r.Plan.NoiseMultiplier))
}

// A fit that cannot have a result is refused before it buys anything.
func TestPriorWithoutGradientIsFree(t *testing.T) {
	p := newPurchases(t, "x,site,y")
	p.model += "  priors:\n    b: normal(exp(800 * Intercept + 800), 1)\n"
	r := p.new(whole())
	if _, err := r.Fit(context.Background(), filepath.Join(p.dir, "failed")); status.Of(err) != status.Spec {
		t.Fatalf("%v, want an error of the model", err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "failed")); err == nil {
		t.Error("the folder is left")
	}
	p.model = boughtColumns
	if _, err := p.new(whole()).Fit(context.Background(), filepath.Join(p.dir, "next")); err != nil {
		t.Error(err)
	}
}

// A fit whose release cannot be written is refused before it buys anything: a release has a copy
// of a public file under its escaped name, which can be too long.
func TestUnwritableReleaseIsFree(t *testing.T) {
	p := newPurchases(t, "x,site,y")
	sites := strings.Repeat("\u00fc", 100) + ".csv"
	p.public = map[string][]byte{sites: []byte("site,beds\nleeds,300\nyork,500\n")}
	p.model = strings.NewReplacer(
		"levels: {dp: 0.2, most: 20}, unknown: other", "levels: [leeds, york]", "x + site", "x + (1 | site)\n  group_formula: {site: 1 + beds}",
		"model:", "  tables:\n    sites: {file: "+sites+", public: true, key: site, columns: {beds: {type: real, scale: {center: 400, by: 100}}}}\nmodel:",
	).Replace(boughtColumns)
	_, err := p.new(whole()).Fit(context.Background(), filepath.Join(p.dir, "failed"))
	if status.Of(err) != status.Numeric || !strings.Contains(err.Error(), "nothing was spent") {
		t.Fatalf("%v, want an error of the output", err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "failed")); err == nil {
		t.Error("the folder is left")
	}
	p.model, p.public = boughtColumns, nil
	if _, err := p.new(whole()).Fit(context.Background(), filepath.Join(p.dir, "next")); err != nil {
		t.Error(err)
	}
}

// A finished fit whose checkpoint cannot be written has its release all the same.
func TestReleaseWithoutCheckpoint(t *testing.T) {
	p := newPurchases(t, "x,site,y")
	r, folder := p.new(whole()), filepath.Join(p.dir, "fit")
	noted := ""
	r.Host.Notef = func(format string, args ...any) { noted += fmt.Sprintf(format, args...) }
	r.Host.Step = func(step, steps int, _ float64, _ func() float64) {
		if step == steps {
			r.Plan.ClipQuantile = math.NaN() // read by nothing after the last step
		}
	}
	if _, err := r.Fit(context.Background(), folder); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "release", "privacy.json")); err != nil || !strings.Contains(noted, "no checkpoint") {
		t.Errorf("%v, notes %q", err, noted)
	}
}

// So has a fit whose engine fails before the first step.
func TestFailedEngineKeepsPurchases(t *testing.T) {
	p := newPurchases(t, "x,site,y")
	r := p.new(closed{whole()})
	if _, err := r.Fit(context.Background(), filepath.Join(p.dir, "failed")); status.Of(err) != status.Numeric {
		t.Fatalf("%v, want an error of the engine", err)
	}
	p.holds(r.Plan.Before()...)
	p.refuses()
}

// A fit that is stopped between its purchases and its first step has spent their price. Resumed, it
// has the same levels, whatever the file says by then, and the price of its plan.
func TestStoppedBeforeTheFirstStepKeepsPurchases(t *testing.T) {
	p := newPurchases(t, "x,site,y")
	r, folder := p.new(whole()), filepath.Join(p.dir, "stopped")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Fit(ctx, folder); status.Of(err) != status.Stopped || !strings.HasSuffix(err.Error(), "continues at no new cost)") || !strings.Contains(err.Error(), "after 0 of 20 steps") {
		t.Fatalf("%v, want a stop before the first step", err)
	}
	p.holds(r.Plan.Before()...)
	p.refuses()

	p.write("x,site,y", "hull", "ely", "bath")
	again, err := run.Reopen(folder, "")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.Root, again.Host = r.Root, p.host(whole())
	result, err := again.Resume(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if names := result.Levels[0].Names(); len(names) < 2 || names[0] != "leeds" && names[0] != "york" {
		t.Errorf("the resumed fit has the sites %q, want those that it bought", names)
	}
	own, _, err := run.ReadLedger(folder)
	if err != nil || len(own.Entries) != len(r.Plan.Before())+1+len(r.Plan.After()) {
		t.Errorf("%d entries (%v), want one of each purchase and one of the steps", len(own.Entries), err)
	}
	p.holds(r.Plan.MechanismEvent(r.Plan.NoiseMultiplier))
}
