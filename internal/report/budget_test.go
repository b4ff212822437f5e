package report_test

import (
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/privacy/event"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
)

// The budget block follows from the events in it and in dp_event.json alone, and
// the readable reports show it.
func TestBudget(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	run.Booked = reporttest.Booked()
	files := reporttest.Contents(t, run)
	p, ev := readReport(t, files)
	askAgain(t, p, ev)
	b := p.Budget
	if !(b.Before.Epsilon > 0 && b.ThisRun > 1 && b.After > b.ThisRun && b.After < b.ThisRun+b.Before.Epsilon && b.Left > 0) {
		t.Errorf("budget %+v: composition must cost more than each part and less than their sum", b)
	}
	for _, name := range []string{"privacy.html", "privacy.md"} {
		if text := string(files[name]); !strings.Contains(text, "2 other runs") || !strings.Contains(text, report.Upward(b.After)) || strings.Contains(text, "This run only") {
			t.Errorf("%s does not show the ledger", name)
		}
	}
}

// A run whose own delta reaches that of the ledger has no epsilon there.
func TestDeltaReachesTheLedger(t *testing.T) {
	b := reporttest.Booked()
	if _, err := b.Budget(event.EpsilonDelta{Delta: 1e-5}, event.AddRemove); err == nil || !strings.HasSuffix(err.Error(), "(--delta 1e-06 or less)") {
		t.Error(err)
	}
}
