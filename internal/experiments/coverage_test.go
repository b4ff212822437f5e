package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/posterior"
)

const twoParameters = `d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    y: {type: real, lower: -9, upper: 9}
core:
  params:
    a: normal(0, 1)
    b: normal(0, 1)
  rows:
    observe:
      y: normal(a + b, 1)
`

// TestScores compares the scores of a posterior with scores computed by hand.
func TestScores(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", twoParameters)
	post := &posterior.Posterior{Mean: []float64{1, 2}, LogSD: []float64{math.Log(3), 0}, VarDP: []float64{16, 0}}
	got := scoreTable(m, post, []float64{9, 4}) // 1 ± 5 and 2 ± 1
	for name, want := range map[string]score{
		"a": {held: 1, log: -(1.6*1.6/2 + math.Log(5)), square: 64},
		"b": {held: 0, log: -2, square: 4},
	} {
		x := got[name]
		if x.held != want.held || math.Abs(x.log-want.log) > 1e-12 || x.square != want.square {
			t.Errorf("%s scores %v, want %v", name, x, want)
		}
	}
}

// TestErrorsOfScores: tables are independent, and so are settings.
func TestErrorsOfScores(t *testing.T) {
	table := func(log float64) tableScores { return tableScores{"b": {log: log}} }
	s := scores{settings: [][]tableScores{{table(1), table(3)}, {table(10), table(10)}}}
	mean, se := s.mean("b", func(x score) float64 { return x.log })
	if mean != 6 || se != 0.5 { // the first setting is 2 ± 1, the second 10 ± 0
		t.Errorf("%g ± %g, want 6 ± 0.5", mean, se)
	}
}

// TestCoverageRuns fits tables and prints the same twice, without any data.
func TestCoverageRuns(t *testing.T) {
	var first string
	for range 2 {
		opt := options{shared: t.TempDir(), models: "logistic", records: "200", epsilons: "1", tables: 2, scores: filepath.Join(t.TempDir(), "scores.csv")}
		var out bytes.Buffer
		r := newReport(&out)
		if err := priorCoverage.judge(opt, nil, t.TempDir(), r); err != nil {
			t.Fatal(err)
		}
		r.flush()
		raw, err := os.ReadFile(opt.scores)
		if lines := strings.Count(string(raw), "\n"); err != nil || lines != 4 {
			t.Errorf("%d scores of two tables with two parameters (%v)", lines, err)
		}
		if first == "" {
			first = out.String()
		}
		if out.String() != first || !strings.Contains(first, "log score") {
			t.Errorf("first\n%sthen\n%s", first, out.String())
		}
	}
}
