package report_test

import (
	"io"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
)

// A report, from the event to the page, takes less than 0.5 s.
func BenchmarkReport(b *testing.B) {
	for name, cfg := range map[string]plan.Config{"full": {Epsilon: 1}, "poisson": {Epsilon: 1, SamplingRate: 0.1, Steps: 1000}} {
		run := reporttest.Example(b, cfg)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p, err := run.Privacy()
				if err != nil {
					b.Fatal(err)
				}
				findings := report.Findings{Rows: run.Draws.Summarise(), Trace: run.Trace, Overlays: report.Overlays(run.Draws, run.Draws.Summarise(), run.Prior, report.Panels)}
				for _, f := range []release.File{report.HTMLFile(p, findings), report.MarkdownFile(p, findings), release.JSONFile("privacy.json", true, p)} {
					if err := f.Write(io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
