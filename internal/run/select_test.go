package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"d3p/internal/cpu"
	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/report"
	"d3p/internal/run"
	"d3p/internal/status"
)

// trialsOf are two trials of a selection with few steps.
func trialsOf(t *testing.T, data string, meanTrials int) []run.Run {
	t.Helper()
	var all []*models.Model
	for _, formula := range []string{"y ~ 1 + x", "y ~ 1"} {
		m := modelstest.Compile(t, "two.yaml", strings.Replace(twoColumns, "y ~ 1 + x", formula, 1))
		all = append(all, m)
	}
	target := accountant.Target{Epsilon: 2, Delta: 1e-5}
	plans, err := plan.Select(target, event.AddRemove, meanTrials, func(epsilon float64) (list []*plan.Plan, err error) {
		for _, m := range all {
			p, err := plan.New(m, plan.Config{Epsilon: epsilon, Delta: target.Delta, Steps: 5, SamplingRate: 1, Table1: "none", NoiseAware: "none"})
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
		return list, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	host := run.Host{
		Open: func(run.Run, int) (*run.Engine, error) {
			return &run.Engine{Engine: cpu.New(cpu.Options{Threads: 1}), Together: 1, Close: func() error { return nil }}, nil
		},
		Tool: func(string) report.Tool { return report.Tool{Name: "d3p"} }, Notef: t.Errorf,
	}
	var trials []run.Run
	for i, m := range all {
		trials = append(trials, run.Run{Model: m, Plan: plans[i], Host: host, Job: run.Job{
			ID: "0123456789abcdef", Attempts: []string{run.NewID()}, Created: time.Now().Add(-time.Hour), Data: data, Name: "two", Model: string(m.Spec.Render()),
			Draws: 2, Formats: []string{"csv"}, Threads: 1, Command: []string{"d3p", "select"},
		}})
	}
	return trials
}

// A selection releases the trial with the highest score, and no file tells how many there
// were: neither what is left in private/ nor the times of the release.
func TestSelectReleasesTheBest(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "two.csv")
	if err := os.WriteFile(data, []byte("x,y\n1,1\n2,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const meanTrials, selections = 3, 14
	trials := trialsOf(t, data, meanTrials)
	for k := range selections {
		out := filepath.Join(dir, fmt.Sprint(k))
		var scores []float64
		var released [][]byte
		result, err := run.Select(context.Background(), trials, out, func(_ context.Context, folder string) (float64, error) {
			params, err := os.ReadFile(filepath.Join(folder, "release", "params.json"))
			scores, released = append(scores, float64((7*len(scores)+3)%5)), append(released, params)
			return scores[len(scores)-1], err
		})
		if err != nil {
			t.Fatal(err)
		}
		best := 0
		for i, x := range scores {
			if x > scores[best] {
				best = i
			}
		}
		params, err := os.ReadFile(filepath.Join(result.Release, "params.json"))
		if err != nil || !bytes.Equal(params, released[best]) || *result.Score != scores[best] {
			t.Fatalf("scores %v: another trial than number %d was released, with score %v (%v)", scores, best, *result.Score, err)
		}
		if *result.Epsilon > 2 || *result.Epsilon < 1.9 {
			t.Errorf("epsilon %v, want nearly 2", *result.Epsilon)
		}
		left, err := os.ReadDir(result.Private)
		var names []string
		for _, e := range left {
			names = append(names, e.Name())
		}
		if err != nil || strings.Join(names, " ") != "datacheck.json ledger.json run.json" {
			t.Errorf("private has %q (%v)", names, err)
		}
		err = filepath.WalkDir(result.Release, func(path string, e fs.DirEntry, err error) error {
			if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < 30*time.Minute {
				t.Errorf("%s has the time at which its trial ended (%v)", path, err)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The number of trials is geometric, each is chosen uniformly, and the first of the highest
// scores is kept. P(|Z| > 6.11) < 1e-9.
func TestUntilStopped(t *testing.T) {
	const n, mean, selections = 3, 4, 20000
	var chosen [n]float64
	total, single := 0.0, 0.0
	for range selections {
		var scores []float64
		kept := -1
		highest, err := run.UntilStopped(n, mean, func(k int) (float64, error) {
			chosen[k]++
			score := float64(k)
			if k == 2 {
				score = math.NaN()
			}
			scores = append(scores, score)
			return score, nil
		}, func(better bool) error {
			if better {
				kept = len(scores) - 1
			}
			return nil
		})
		want := max(slices.Index(scores, 1), 0)
		if !slices.Contains(scores, 1) {
			want = max(slices.Index(scores, 0), 0)
		}
		if err != nil || kept != want || highest == highest-1 && slices.Contains(scores, 0) {
			t.Fatalf("scores %v: kept number %d, want %d; highest %v (%v)", scores, kept, want, highest, err)
		}
		total += float64(len(scores))
		if len(scores) == 1 {
			single++
		}
	}
	within := func(what string, got, want, sd float64) {
		if math.Abs(got-want) > 6.11*sd {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	within("mean number of trials", total/selections, mean, math.Sqrt(mean*(mean-1)/float64(selections)))
	within("selections of one trial", single/selections, 1./mean, math.Sqrt(1./mean*(1-1./mean)/selections))
	for k, count := range chosen {
		within(fmt.Sprintf("choices of trial %d", k), count/total, 1./n, math.Sqrt(1./n*(1-1./n)/total))
	}
}

// A selection that fails or is stopped releases nothing, leaves no trial that could be
// resumed or released, and keeps its price.
func TestSelectFails(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "two.csv")
	if err := os.WriteFile(data, []byte("x,y\n1,1\n2,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	trials := trialsOf(t, data, 10_000_000) // the coin stops one of both before its third trial once in 2,500,000 runs
	for name, end := range map[string]func(cancel func()) error{
		"failed":  func(func()) error { return errors.New("the disk is full") },
		"stopped": func(cancel func()) error { cancel(); return nil },
	} {
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		_, err := run.Select(ctx, trials, filepath.Join(dir, name), func(context.Context, string) (float64, error) {
			if n++; n == 3 {
				return 1, end(cancel)
			}
			return 0, nil
		})
		cancel()
		if err == nil || !strings.Contains(err.Error(), "price of the selection stays spent") || strings.Contains(err.Error(), "resume") {
			t.Errorf("%s: error %v", name, err)
		}
		left, err := filepath.Glob(filepath.Join(dir, name, "*", "*"))
		if err != nil || len(left) != 2 || filepath.Base(left[0]) != "ledger.json" || filepath.Base(left[1]) != "lock" {
			t.Errorf("%s: %q is left (%v), want the ledger and the lock", name, left, err)
		}
	}
}

// The message of a failed trial names no folder that the selection removes, but the ledger that is left.
func TestSelectOfFailingTrials(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "two.csv")
	if err := os.WriteFile(data, []byte("x,y\n1,1\n2,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, failing := range []int{0, 3} {
		trials, out := trialsOf(t, data, 3), filepath.Join(dir, fmt.Sprint(failing))
		for i := range trials {
			trials[i].Host.Open = func(run.Run, int) (*run.Engine, error) {
				engine := fittest.FailsAt{Engine: cpu.New(cpu.Options{Threads: 1}), Step: failing}
				return &run.Engine{Engine: engine, Together: 1, Close: func() error { return nil }}, nil
			}
		}
		_, err := run.Select(context.Background(), trials, out, nil)
		if err == nil {
			t.Fatal("no error")
		}
		ledger := filepath.Join(out, "private", "ledger.json")
		if _, stat := os.Stat(ledger); stat != nil || !strings.Contains(err.Error(), ledger) || !strings.Contains(err.Error(), "d3p select") {
			t.Errorf("step %d: %v (%v), want an error with %s", failing, err, stat, ledger)
		}
		if strings.Contains(err.Error(), "resume") || strings.Contains(err.Error(), filepath.Join("private", "trial")) {
			t.Errorf("step %d: the error names what is removed: %v", failing, err)
		}
		if _, stat := os.Stat(filepath.Join(out, "private", "trial")); stat == nil {
			t.Errorf("step %d: the trial is left", failing)
		}
	}
}

// A selection with a trial that cannot have a result spends nothing.
func TestSelectRefusesBeforeItSpends(t *testing.T) {
	trials, out := trialsOf(t, "two.csv", 3), filepath.Join(t.TempDir(), "out")
	trials[1].Plan.ClipQuantile = math.NaN() // JSON has no such number
	_, err := run.Select(context.Background(), trials, out, nil)
	if status.Of(err) != status.Spec {
		t.Fatalf("%v, want an error of the model", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("the folder is left")
	}
}
