package planned

import (
	"fmt"
	"io"

	"d3p/cmd/d3p/internal/terminal"
	"d3p/cmd/d3p/internal/workload"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/rehearsal"
	"d3p/internal/report"
)

// Swept is one plan of a sweep; Error is the reason if the settings give no plan.
type Swept struct {
	Settings        map[string]string  `json:"settings"`
	Epsilon         float64            `json:"epsilon,omitempty"`
	NoiseMultiplier float64            `json:"noise_multiplier,omitempty"`
	Steps           int                `json:"steps,omitempty"`
	Expected        []report.Expected  `json:"expected_noise,omitempty"`
	Statistics      string             `json:"statistics,omitempty"`
	Estimate        *workload.Estimate `json:"estimate,omitempty"`
	Rehearsal       []rehearsal.Row    `json:"rehearsal,omitempty"`
	Error           string             `json:"error,omitempty"`
}

// Sweep is the line of a plan of m.
func Sweep(values map[string]string, m *models.Model, p *plan.Plan) Swept {
	expected := expectedNoise(m, p)
	return Swept{
		Settings: values, Epsilon: p.Epsilon, NoiseMultiplier: p.NoiseMultiplier, Steps: p.Steps,
		Expected: expected, Statistics: expectedWords(m, p, expected), Estimate: workload.Of(m, p),
	}
}

// rehearsedWords are the share of a rehearsal's intervals that hold, and their mean width
// relative to the prior's.
func rehearsedWords(rows []rehearsal.Row) (hold, width string) {
	var n, held, wide float64
	for _, r := range rows {
		k := float64(r.Intervals)
		n, held, wide = n+k, held+k*r.Hold, wide+k*r.Width
	}
	if n == 0 {
		return "-", "-"
	}
	return fmt.Sprintf("%.0f %% of %.0f", 100*held/n, n), fmt.Sprintf("%.2g", wide/n)
}

// PrintSweep prints a line for each plan: its settings, its noise, the parameters that
// noise will leave unresolved, and its time.
func PrintSweep(w io.Writer, names []string, list []Swept, rehearsed bool) {
	t := terminal.Columns{W: w}
	var head terminal.Cells
	for _, name := range names {
		head = append(head, name)
	}
	head = append(head, "noise multiplier", "steps", "seconds", "most noise in the posterior")
	if rehearsed {
		head = append(head, "intervals that hold", "width by the prior's")
	}
	t.Line(append(head, "statistics"))
	for _, row := range list {
		var line terminal.Cells
		for _, name := range names {
			line = append(line, row.Settings[name])
		}
		if row.Error != "" {
			line = append(line, "-", "-", "-", "-")
			if rehearsed {
				line = append(line, "-", "-")
			}
			t.Line(append(line, row.Error))
			continue
		}
		seconds, noisiest := "-", report.Expected{}
		if row.Estimate != nil {
			seconds = fmt.Sprintf("%.2g", row.Estimate.Seconds)
		}
		most := "-"
		for _, e := range row.Expected {
			if e.Most >= noisiest.Most {
				noisiest = e
				most = fmt.Sprintf("%.0f %% of %s", 100*e.Most, e.Parameter)
			}
		}
		line = append(line, fmt.Sprintf("%.4g", row.NoiseMultiplier), fmt.Sprint(row.Steps), seconds, most)
		if rehearsed {
			hold, width := rehearsedWords(row.Rehearsal)
			line = append(line, hold, width)
		}
		t.Line(append(line, row.Statistics))
	}
	t.Print()
}
