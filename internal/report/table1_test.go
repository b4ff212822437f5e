package report_test

import (
	"bytes"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
	"d3p/internal/table1"
)

// A correlation with a column whose spread noise hides has no number, and the table for
// readers names the column.
func TestCorrelationsThatAreNoise(t *testing.T) {
	p, err := reporttest.Example(t, plan.Config{Epsilon: 1}).Privacy()
	if err != nil {
		t.Fatal(err)
	}
	zero, one := 0.0, 1.0
	p.Mechanism.Purchase = &table1.Plan{}
	p.Table1 = []table1.Row{
		{Column: "age", Statistic: table1.SD, Value: 10, NoiseSD: 2, Low: &one, High: &one}, {Column: "flat", Statistic: table1.SD, Value: 0.1, NoiseSD: 2, Low: &zero, High: &one},
		{Column: "age", Statistic: table1.Correlation, Of: "flat", Value: 0.4321, NoiseSD: 0.4}, {Column: "age", Statistic: table1.Correlation, Of: "dose", Value: 0.25, NoiseSD: 0.1},
		{Column: "age", Statistic: table1.OwnShare, Value: 0.9996, NoiseSD: 0.004},
	}
	wanted := map[string][2]string{
		"table1.csv": {"age,correlation,dose,0.25,0.1,", "age,correlation,flat,,,"}, "table1.md": {"| age | correlation with dose | 0.25 |", "spread of flat: "},
		"privacy.md": {"| age | correlation with dose | 0.25 |", "do not explain | 100 % | 0.4 %"}, "privacy.html": {"correlation with dose", "spread of flat: "},
	}
	for _, f := range append(report.Table1Files(p), report.MarkdownFile(p, report.Findings{}), report.HTMLFile(p, report.Findings{})) {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range wanted[f.Name] {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s has no %q", f.Name, want)
			}
		}
		if strings.Contains(b.String(), "0.43") || strings.Contains(b.String(), "correlation with flat") {
			t.Errorf("%s has the correlation with flat:\n%s", f.Name, b.String())
		}
	}
}

// The share outside bought bounds has as many places as its noise.
func TestOutsideWords(t *testing.T) {
	for want, o := range map[string]*table1.Outside{
		"none: they are the limits": nil, "0.00 % ± 0.17 % in cells that reach outside": {Share: 3e-7, NoiseSD: 0.0017},
		"1.2 % ± 2.0 % in cells that reach outside": {Share: 0.0123, NoiseSD: 0.02}, "12 % ± 31 % in cells that reach outside": {Share: 0.1234, NoiseSD: 0.312},
	} {
		if got := report.OutsideWords(&table1.Bounds{Outside: o}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Readers see dates as dates, an sd of dates in days, and which units were counted; programs see numbers.
func TestDatesOfTable1(t *testing.T) {
	low, high := 30.0, 400.4
	p := &report.Privacy{
		Preprocessing: []report.Preprocessing{
			{Column: "admitted", Operation: "days since", Parameters: map[string]any{"date": "2015-01-01"}},
			{Column: "logged", Operation: "days since", Parameters: map[string]any{"date": "2015-01-01"}}, {Column: "logged", Operation: "transform"},
		},
		Table1: []table1.Row{
			{Statistic: table1.Units, Value: 260, NoiseSD: 36},
			{Column: "admitted", Statistic: table1.Mean, Value: 364.6, Low: &low, High: &high}, {Column: "admitted", Statistic: table1.SD, Value: 936, NoiseSD: 2},
			{Column: "logged", Statistic: table1.Mean, Value: 4.5, NoiseSD: 0.1},
		},
	}
	wanted := map[string][]string{
		"table1.csv": {"admitted,mean,,364.6,0,30,400.4,"},
		"table1.md":  {"| units with a usable row | 260 | 36 |", "| admitted | mean | 2016-01-01 | 2015-01-31 to 2016-02-05 |", "| admitted | sd in days | 936 | 2 |", "| logged | mean | 4.5 | 0.1 |"},
	}
	for _, f := range report.Table1Files(p) {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range wanted[f.Name] {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s has no %q:\n%s", f.Name, want, b.String())
			}
		}
	}
}
