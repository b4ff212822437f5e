package run_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"d3p/internal/cpu"
	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
	"d3p/internal/run"
)

// card is an engine of another name than the processor's.
type card struct{ privacy.Engine }

func (card) Name() string { return "card" }

const twoColumns = `d3p: 1
name: two
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 300}
  columns:
    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}, source: expert}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + x
  family: bernoulli
`

// A fit on a card that fails in the middle goes on on the processor where --device
// cuda,cpu asks for it, at the price of the plan and with the same result; elsewhere it
// stops and can be resumed.
func TestGoesOnOnTheProcessor(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "two.csv")
	text := strings.Builder{}
	text.WriteString("x,y\n")
	for i := range 300 {
		fmt.Fprintf(&text, "%g,%d\n", float64(i%7)-3, i%2)
	}
	if err := os.WriteFile(data, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	m := modelstest.Compile(t, "two.yaml", twoColumns)
	fitted := func(name, device string, failing int) (*run.Result, []string, error) {
		p, err := plan.New(m, plan.Config{Epsilon: 1, Steps: 50, SamplingRate: 0.5, Table1: "none"})
		if err != nil {
			t.Fatal(err)
		}
		var notes []string
		host := run.Host{
			Open: func(r run.Run, _ int) (*run.Engine, error) {
				engine := privacy.Engine(cpu.New(cpu.Options{Threads: 1}))
				if r.Job.Device != "cpu" {
					engine = card{fittest.FailsAt{Engine: engine, Step: failing}}
				}
				return &run.Engine{Engine: engine, Together: 1, Close: func() error { return nil }}, nil
			},
			Tool:  func(string) report.Tool { return report.Tool{Name: "d3p"} },
			Step:  func(int, int, float64, func() float64) {},
			Notef: func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) },
		}
		r := run.Run{Model: m, Plan: p, Root: noise.Insecure(7), Host: host, Job: run.Job{
			ID: run.NewID(), Attempts: []string{run.NewID()}, Created: time.Now(), Data: data, Name: "two", Model: string(m.Spec.Render()),
			Draws: 50, Formats: []string{"csv"}, Threads: 1, Device: device, Insecure: true, Command: []string{"d3p", "fit"},
		}}
		result, err := r.Fit(context.Background(), filepath.Join(dir, name))
		return result, notes, err
	}
	whole, _, err := fitted("whole", "cpu", -1)
	if err != nil {
		t.Fatal(err)
	}
	again, notes, err := fitted("again", "cuda,cpu", 20)
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "after 20 steps") {
		t.Errorf("notes %q, want one that says after how many steps", notes)
	}
	for i, row := range whole.Summary {
		if again.Summary[i].Mean != row.Mean || again.Summary[i].SD != row.SD {
			t.Errorf("%s is %v ± %v, without a failure %v ± %v", row.Variable, again.Summary[i].Mean, again.Summary[i].SD, row.Mean, row.SD)
		}
	}
	ledger, err := os.ReadFile(filepath.Join(again.Private, "ledger.json"))
	if err != nil || !strings.Contains(string(ledger), `"steps": 50`) || strings.Count(string(ledger), "purpose") != 1 {
		t.Errorf("ledger %s (%v), want one entry of 50 steps", ledger, err)
	}
	if _, _, err := fitted("stopped", "cuda", 20); err == nil || !strings.Contains(err.Error(), "d3p resume") {
		t.Errorf("error %v, want how to resume", err)
	}
}
