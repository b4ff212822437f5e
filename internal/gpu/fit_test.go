//go:build linux && !nogpu

package gpu

import (
	"context"
	"math"
	"sync"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

func cohort(t *testing.T) *models.Model {
	t.Helper()
	return modelstest.Read(t, "../../datasets/cohort.yaml")
}

func cohortTable(m *models.Model) *privacy.Table {
	return privacy.NewTable(privacy.TableConfig{
		Data: "../../datasets/cohort.csv", Encoding: m.Encoding, Precision: privacy.Float32,
		Spare: m.Likelihood.K - m.Likelihood.K0, Root: noise.Insecure(3),
	})
}

func runFit(t *testing.T, plan *plan.Plan, e privacy.Engine, table *privacy.Table, root noise.Root, watch fit.Observer) (*posterior.Posterior, privacy.Ledger) {
	t.Helper()
	curator, err := privacy.NewCurator(privacy.CuratorConfig{
		Table: table, Engine: e, Root: root, Budget: privacy.Budget{Epsilon: plan.Epsilon, Delta: plan.Delta}, Relation: plan.Neighbours,
	})
	if err != nil {
		t.Error(err)
		return nil, privacy.Ledger{}
	}
	result, err := fit.Run(context.Background(), plan, curator, watch)
	if err != nil {
		t.Error(err)
	}
	post, ledger := result.Posterior, result.Spent
	return post, ledger
}

// Fits side by side with noise of their own are, bit for bit, those alone, each is
// charged, and they take few launches and one copy of the table.
func TestFitsSideBySide(t *testing.T) {
	m := cohort(t)
	const count = 4
	config := plan.Config{Epsilon: 1, Delta: 1e-5, Steps: 60, SamplingRate: 0.1}
	d := newOneThread(t, 1<<30)
	e := newEngine("cuda:test", d, Options{})
	table := cohortTable(m)
	var posteriors [count]*posterior.Posterior
	var wait sync.WaitGroup
	plan, err := plan.New(m, config)
	if err != nil {
		t.Fatal(err)
	}
	for k := range count {
		wait.Go(func() {
			var ledger privacy.Ledger
			posteriors[k], ledger = runFit(t, plan, e, table, noise.Insecure(3).Child(uint64(k)), nil)
			if len(ledger.Entries) != 1 || ledger.Entries[0].Steps != plan.Steps {
				t.Errorf("ledger %+v", ledger)
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		return
	}
	if d.launches > count*plan.Steps/2 { // single steps take two; calls are shorter on a busy machine
		t.Errorf("%d launches", d.launches)
	}
	for k := range count {
		alone, _ := runFit(t, plan, newEngine("cuda:test", newOneThread(t, 1<<30), Options{}), cohortTable(m), noise.Insecure(3).Child(uint64(k)), nil)
		same(t, posteriors[k].Mean, alone.Mean)
		same(t, posteriors[k].VarDP, alone.VarDP)
		if k > 0 && posteriors[k].Mean[0] == posteriors[0].Mean[0] {
			t.Errorf("fit %d has the noise of fit 0", k)
		}
	}
}

// A fit of a packed table has the bits of the fit of one that is not, whether the table is
// on the device or its records are sent in parts.
func TestPackedTableOnDevice(t *testing.T) {
	for name, c := range map[string]struct {
		levels int
		unit   string
		sent   bool
	}{
		"lanes": {5, ", rows_per_unit: 1", false}, "in place": {60, ", rows_per_unit: 1", true}, "units": {30, ", id: id, rows_per_unit: 3", true},
	} {
		t.Run(name, func(t *testing.T) {
			m, path := modelstest.NarrowTable(t, c.levels, c.unit)
			var used [2]int64
			var means [2][]float64
			for k, from := range []int64{0, 1} {
				d := newOneThread(t, 1<<30)
				e := newEngine("cuda:test", d, Options{})
				e.keepsAll = !c.sent
				means[k] = narrowFit(t, m, path, plan.Config{Epsilon: 1, Table1: "none", Steps: 10}, e, from)
				used[k] = d.most
			}
			same(t, means[1], means[0])
			if !c.sent && used[1] >= used[0] {
				t.Errorf("a packed table takes %d bytes of the device, another %d", used[1], used[0])
			}
		})
	}
}

// narrowFit is the mean of a fit of the table at path, packed from that many bytes on.
func narrowFit(t *testing.T, m *models.Model, path string, config plan.Config, e privacy.Engine, from int64) []float64 {
	t.Helper()
	plan, err := plan.New(m, config)
	if err != nil {
		t.Fatal(err)
	}
	table := privacy.NewTable(privacy.TableConfig{
		Data: path, Encoding: m.Encoding, Spare: m.Likelihood.K - m.Likelihood.K0, Precision: privacy.Float32, Root: noise.Insecure(1), PackFrom: from,
	})
	post, _ := runFit(t, plan, e, table, noise.Insecure(1), nil)
	if t.Failed() {
		t.FailNow()
	}
	return post.Mean
}

// levelsModel has no column whose bytes are places in a list of numbers.
const levelsModel = `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 3000}
  columns:
    x: {type: real, lower: -3, upper: 3}
    g: {type: category, levels: [l0, l1, l2, l3, l4], unknown: reject_row_silently}
    y: {type: binary}
model: {formula: y ~ 1 + x + g, family: bernoulli}
`

// checkPacked compares fits of packed tables: with few columns, which are copied to lanes,
// with many, which are read in place, and without lists of numbers.
func checkPacked(t *testing.T, d driver) {
	for name, levels := range map[string]int{"lanes": 5, "in place": 60, "levels alone": 0} {
		t.Run(name, func(t *testing.T) {
			m, path := modelstest.NarrowTable(t, max(levels, 5), ", rows_per_unit: 1")
			if levels == 0 {
				m = modelstest.Compile(t, "levels.yaml", levelsModel)
			}
			config := plan.Config{Epsilon: 1, Table1: "none", Steps: 2, SamplingRate: 0.03}
			got := narrowFit(t, m, path, config, newEngine("cuda:test", d, Options{}), 1)
			same(t, got, narrowFit(t, m, path, config, newEngine("cuda:test", newOneThread(t, 1<<30), Options{}), 0))
		})
	}
}

// scarce has no memory for the second allocation after a tape is prepared for steps, the
// one for the results of the first call.
type scarce struct {
	*oneThread
	since int // the preparation; 0: not yet
}

func (d *scarce) together(of ...kernel) (int, error) {
	d.since = 1
	return d.oneThread.together(of...)
}

func (d *scarce) alloc(bytes int64) (address, error) {
	if d.since > 0 {
		d.since++
	}
	if d.since == 3 {
		return 0, errNoMemory
	}
	return d.oneThread.alloc(bytes)
}

// A fit for whose many steps there is no memory takes them one at a time.
func TestFitWithoutMemoryForSteps(t *testing.T) {
	m := cohort(t)
	plan, err := plan.New(m, plan.Config{Epsilon: 1, Delta: 1e-5, Steps: 20, SamplingRate: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	d := &scarce{oneThread: newOneThread(t, 1<<30)}
	got, ledger := runFit(t, plan, newEngine("cuda:test", d, Options{}), cohortTable(m), noise.Insecure(3), nil)
	want, _ := runFit(t, plan, cpu.New(cpu.Options{Threads: 1}), cohortTable(m), noise.Insecure(3), nil)
	if t.Failed() {
		return
	}
	if d.since < 3 || d.launches < plan.Steps || len(ledger.Entries) != 1 || ledger.Entries[0].Steps != plan.Steps {
		t.Errorf("%d allocations, %d launches, ledger %+v", d.since, d.launches, ledger)
	}
	for j, x := range want.Mean {
		if math.Abs(got.Mean[j]-x) > 1e-6*(1+math.Abs(x)) {
			t.Errorf("mean %d is %.12g, want %.12g", j, got.Mean[j], x)
		}
	}
}

// A whole fit on the device follows the one on the CPU with the same noise: the
// iterates drift apart only as the rounding of sums and elementary functions
// does. Noise is rounded to a lattice, so that one of the about 17 000 noisy
// numbers falls on another multiple when a sum differs in its last bits: with
// probability 1e-9 or so, and then by a thousandth of the noise.
func TestFitFollowsCPU(t *testing.T) {
	m := cohort(t)
	for name, cfg := range map[string]plan.Config{
		"defaults":         {Epsilon: 1, Delta: 1e-5, Steps: 150},
		"poisson, flat":    {Epsilon: 1, Delta: 1e-5, Steps: 150, SamplingRate: 0.1, Clipping: "flat", ClipNorm: 2},
		"points":           {Epsilon: 1, Delta: 1e-5, Steps: 60, SamplingRate: 0.1, Guide: "delta"},
		"last iterate":     {Epsilon: 1, Delta: 1e-5, Steps: 40, SamplingRate: 0.1, Averaging: new(float64)},
		"one step a time":  {Epsilon: 1, Delta: 1e-5, Steps: 40, SamplingRate: 0.1, Guide: "full_rank"},
		"a network":        {Epsilon: 1, Delta: 1e-5, Steps: 60, SamplingRate: 0.1, Batches: "feistel"},
		"automatic, fixed": {Epsilon: 1, Delta: 1e-5, Steps: 60, SamplingRate: 0.1, Sampling: "fixed_size", Neighbours: "substitute", Clipping: "automatic"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := plan.New(m, cfg)
			if err != nil {
				t.Fatal(err)
			}
			run := func(e privacy.Engine) *posterior.Posterior {
				post, ledger := runFit(t, plan, e, cohortTable(m), noise.Insecure(3), nil)
				if len(ledger.Entries) != 1 || ledger.Entries[0].Steps != plan.Steps {
					t.Errorf("ledger %+v", ledger)
				}
				return post
			}
			d := newOneThread(t, 1<<30)
			got, want := run(newEngine("cuda:test", d, Options{})), run(cpu.New(cpu.Options{Threads: 1}))
			if cfg.Guide != "full_rank" && d.launches > plan.Steps/2 { // single steps take two; calls are shorter on a busy machine
				t.Errorf("%d launches for %d steps", d.launches, plan.Steps)
			}
			close := func(what string, got, want []float64, tolerance float64) {
				t.Helper()
				if len(got) != len(want) {
					t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
				}
				for i := range want {
					if math.Abs(got[i]-want[i]) > tolerance*(1+math.Abs(want[i])) {
						t.Errorf("%s[%d] = %.12g, want %.12g", what, i, got[i], want[i])
					}
				}
			}
			close("trace", got.Trace.Mean, want.Trace.Mean, 1e-8)
			// the computations after the last iterate amplify its rounding
			close("mean", got.Mean, want.Mean, 1e-6)
			close("log sd", got.LogSD, want.LogSD, 1e-6)
			close("noise variance", got.VarDP, want.VarDP, 1e-6)
		})
	}
}
