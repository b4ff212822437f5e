package report_test

import (
	"bytes"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models/source"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
)

// Names of a model file are plain text in every report, neither HTML nor Markdown.
func TestNamesAreNoMarkup(t *testing.T) {
	const hostile = "<script>alert(1)</script> **[safe](http://evil)** `x` | cell |\n# heading\n\n<img src=x onerror=alert(2)> &lt; _em_ ![i](j) ~~s~~ \u202e"
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	run.Name = hostile
	set := func(v *source.Value[string]) { v.V = hostile }
	set(&run.Spec.Description)
	set(&run.Spec.Privacy.Justification)
	set(&run.Spec.Data.Unit.Entity)
	run.Booked = reporttest.Booked()
	run.Booked.Dataset, run.Booked.LedgerID = hostile, hostile
	run.Accepted, run.Command = []string{hostile}, []string{"d3p fit", "--x=" + hostile}
	run.Tool.Device = hostile
	for i := range run.Draws.Variables {
		run.Draws.Variables[i].Name = "b[" + hostile + "]"
	}
	for _, c := range run.Spec.Data.AllColumns() {
		set(&c.Source)
	}
	p, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	findings := report.Findings{Rows: run.Rows(), Trace: run.Trace, Overlays: report.Overlays(run.Draws, run.Rows(), run.Prior, 6)}
	for _, file := range []release.File{report.MarkdownFile(p, findings), report.HTMLFile(p, findings)} {
		var out bytes.Buffer
		if err := file.Write(&out); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, line := range strings.SplitAfter(out.String(), "\n") {
			if !strings.HasPrefix(line, "    ") || file.Name != "privacy.md" { // but for blocks of code
				text.WriteString(line)
			}
		}
		bad := []string{"<script>alert", "<img", "\u202e"}
		if file.Name == "privacy.md" {
			bad = append(bad, "](http", "**[safe", "`x`", "\n# heading", "| cell |", "~~s", " _em_", "![i](", "<")
		}
		for _, markup := range bad {
			if markup == "\u202e" && file.Name != "privacy.md" {
				continue
			}
			if at := strings.Index(text.String(), markup); at >= 0 {
				t.Errorf("%s holds %q: %q", file.Name, markup, text.String()[max(0, at-60):at+40])
			}
		}
		if file.Name == "privacy.md" && strings.Contains(out.String(), "\n# heading") {
			t.Error("a name begins a line")
		}
	}
}

// Ordinary names stay as they are.
func TestPlainMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"b_raw[age]": "b_raw[age]", "sqrt(P)/(mu N)": "sqrt(P)/(mu N)", "private/datacheck.json": "private/datacheck.json", "-0.3": "-0.3",
		"a < b & c": "a &lt; b &amp; c", "_x_": `\_x\_`, "# h": `\# h`, "a\nb": "a b", "[a](b)": `[a]\(b)`, "- item": `\- item`,
	} {
		if got := report.PlainMarkdown(text); got != want {
			t.Errorf("%q is written as %q, want %q", text, got, want)
		}
	}
}
