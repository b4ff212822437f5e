package report

import (
	"fmt"
	"io"
	"strings"

	"d3p/internal/outputs"
	"d3p/internal/release"
)

// textFile is the report in a few lines, for a terminal.
func textFile(p *Privacy) release.File {
	return release.File{Name: "privacy.txt", Covered: true, Write: func(w io.Writer) error {
		var b strings.Builder
		badge, reason := badge(p)
		fmt.Fprintf(&b, "%s: %s\n%s: %s\n", p.Subject.Name, p.Statements.OneLine, badge, reason)
		if v := p.Utility.Whole; v != nil && v.Value != "" {
			words := v.Value
			if v.Value != outputs.Resolved && v.Why != "" {
				words += " resolved"
			}
			if v.Why != "" {
				words += ": " + v.Why
			}
			fmt.Fprintf(&b, "Statistics: %s\n", words)
		}
		if p.Guarantee != nil {
			textRisk(&b, p)
		}
		if l := p.Budget; l != nil {
			fmt.Fprintf(&b, "\nLedger of %s: with %s epsilon at most %s of %g at delta %.3g.\n", l.Dataset, OtherRuns(l.Before.Runs), Upward(l.After), l.Limit.Epsilon, l.Limit.Delta)
		}
		for _, warning := range p.Warnings {
			fmt.Fprintf(&b, "\nWarning: %s\n", warning)
		}
		b.WriteString("\nAssumptions of the claim:\n")
		for _, a := range p.Assumptions {
			fmt.Fprintf(&b, "  %-9s %s\n", a.Status, a.Text)
		}
		b.WriteString("\nOpen hazards:\n")
		for _, h := range p.Hazards {
			if h.Status == "open" {
				fmt.Fprintf(&b, "  %-9s %s\n", h.Severity, h.Note)
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	}}
}

// textRisk writes the meaning of the guarantee.
func textRisk(b *strings.Builder, p *Privacy) {
	fmt.Fprintf(b, "\n%s\n\n", p.Statements.Odds)
	for _, t := range p.Risk.Tests() {
		fmt.Fprintf(b, "  wrongly accused %5.3g %%: found at most %s\n", 100*t.FPR, percentUp(t.TPR))
	}
	fmt.Fprintf(b, "  advantage at most %s; Gaussian differential privacy with mu %s\n\n", Upward(p.Risk.Advantage), Upward(p.Guarantee.GDP.Mu))
	for _, c := range decades(p.Guarantee.Curve) {
		fmt.Fprintf(b, "  delta %.0e: epsilon at most %s\n", c.Delta, Upward(c.Epsilon))
	}
}
