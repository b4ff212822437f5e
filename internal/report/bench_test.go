package report

import (
	"fmt"
	"io"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/release"
	"d3p/internal/settings"
)

// tall are 4000 draws of 200 variables.
func tall() *Sample {
	names := make([]string, 200)
	for v := range names {
		names[v] = fmt.Sprintf("b[x%d]", v+1)
	}
	d := grid(names, 4000)
	d.Names, d.Free, d.Center = names, d.Values, make([]float64, len(names))
	d.Groups = []Group{{Name: "b", Dims: []Dim{{"coef", names}}, Size: len(names)}}
	return &Sample{Run: "0", Model: "tall", Claim: "none", Draws: d}
}

// Writing 4000 draws of 200 parameters takes less than 0.3 s in any format.
func BenchmarkDraws(b *testing.B) {
	sample := tall()
	for _, format := range settings.FormatNames() {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				for _, f := range sample.Files([]string{format}) {
					if err := f.Write(io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	b.Run("summary", func(b *testing.B) {
		for b.Loop() {
			sample.Draws.Summarise()
		}
	})
}

// A report, from the event to the page, takes less than 0.5 s.
func BenchmarkReport(b *testing.B) {
	for name, cfg := range map[string]plan.Config{"full": {Epsilon: 1}, "poisson": {Epsilon: 1, SamplingRate: 0.1, Steps: 1000}} {
		run := example(b, cfg)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p, err := run.Privacy()
				if err != nil {
					b.Fatal(err)
				}
				findings := Findings{Rows: run.Draws.Summarise(), Trace: run.Trace, Overlays: Overlays(run.Draws, run.Prior, Panels)}
				for _, f := range []File{HTMLFile(p, findings), MarkdownFile(p, findings), release.JSONFile("privacy.json", true, p)} {
					if err := f.Write(io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
