package report_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models/data"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
)

// The page must be one file without script, well formed as XML where SVG is
// concerned, and say what the machine-readable report says.
func TestDocuments(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	files := reporttest.Contents(t, run)
	html, markdown := withoutTokens(string(files["privacy.html"])), withoutTokens(string(files["privacy.md"]))
	p, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{p.Statements.OneLine, p.Statements.Odds, "log", "codebook", "b[x]"} {
		if !strings.Contains(strings.ReplaceAll(html, "<wbr>", ""), want) {
			t.Errorf("privacy.html does not say %q", want)
		}
		if !strings.Contains(markdown, want) {
			t.Errorf("privacy.md does not say %q", want)
		}
	}
	for _, no := range []string{"<script", "http://www.w3.org/1999", "src=", "@import", "<no value>", "%!", "NaN", "ZgotmplZ"} {
		if strings.Contains(html, no) || strings.Contains(markdown, no) {
			t.Errorf("a report holds %q", no)
		}
	}
	if n := strings.Count(html, "<svg"); n != 18 {
		t.Errorf("%d figures, want 18: trade-off, curve, spending, budget, pipeline, intervals, 6 traces, 6 overlays", n)
	}
	for n := 1; n <= 11; n++ {
		if !strings.Contains(html, fmt.Sprintf(`id="s%d">%d `, n, n)) || !strings.Contains(markdown, fmt.Sprintf("\n## %d. ", n)) {
			t.Errorf("section %d is missing", n)
		}
	}
	for rest := html; ; {
		_, after, ok := strings.Cut(rest, "<svg")
		if !ok {
			break
		}
		svg, tail, _ := strings.Cut(after, "</svg>")
		rest = tail
		decoder := xml.NewDecoder(strings.NewReader("<svg" + svg + "</svg>"))
		for {
			if _, err := decoder.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("figure: %v", err)
			}
		}
	}
}

func TestBadge(t *testing.T) {
	for _, c := range []struct {
		p    report.Privacy
		want string
	}{
		{report.Privacy{}, "FAIL"},
		{report.Privacy{Guarantee: &report.Guarantee{Epsilon: 1.1, Target: report.Target{Epsilon: 1}}}, "FAIL"},
		{report.Privacy{Guarantee: &report.Guarantee{Epsilon: 1, Target: report.Target{Epsilon: 1}}, Warnings: []string{"w"}}, "WARN"},
		{report.Privacy{Guarantee: &report.Guarantee{Epsilon: 1, Target: report.Target{Epsilon: 1}}}, "PASS"},
	} {
		if got, _ := report.Badge(&c.p); got != c.want {
			t.Errorf("badge of %+v is %s, want %s", c.p.Guarantee, got, c.want)
		}
	}
}

// Names come from the model file: they are escaped in the page.
func TestBreakableEscapes(t *testing.T) {
	if got := string(report.Breakable("b[<i>]")); got != "b<wbr>[&lt;i&gt;]" {
		t.Error(got)
	}
}

// withoutTokens is a report without the usual codes of missing values, one of which is NaN.
func withoutTokens(text string) string {
	return strings.Replace(text, strings.Join(data.UsualMissingTokens(), ", "), "", 1)
}
