package report_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
	"d3p/internal/outputs"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
	"d3p/internal/settings"
)

// readReport reads privacy.json, which must be valid, and dp_event.json of a release.
func readReport(t *testing.T, files map[string][]byte) (*report.Privacy, event.Event) {
	t.Helper()
	if err := validate(t, files["privacy.json"]); err != nil {
		t.Error(err)
	}
	p := new(report.Privacy)
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
	files := reporttest.Contents(t, reporttest.Example(t, plan.Config{Epsilon: 1, SamplingRate: 0.3, Steps: 200}))
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
	seeded := reporttest.Example(t, plan.Config{Epsilon: 1})
	seeded.Insecure = true
	for name, run := range map[string]*report.Run{"seeded": seeded, "baseline": reporttest.Example(t, plan.Config{NonPrivate: true})} {
		files := reporttest.Contents(t, run)
		for file, content := range files {
			if strings.HasPrefix(file, outputs.ZarrRoot) && !strings.HasSuffix(file, "r/.zattrs") {
				continue // arrays hold numbers; the attributes of their groups are stamped
			}
			if !bytes.Contains(content, []byte(settings.NotPrivate)) {
				t.Errorf("%s: %s is not stamped", name, file)
			}
		}
		if err := validate(t, files["privacy.json"]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var p report.Privacy
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
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	run.Spec.Settings["ledger"] = source.Value[any]{V: path, At: expr.Position{Line: 1}}
	if !bytes.Contains(run.Spec.Render(), []byte(path)) {
		t.Fatal("the model file does not name the ledger: the test tests nothing")
	}
	for name, content := range reporttest.Contents(t, run) {
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
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
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
