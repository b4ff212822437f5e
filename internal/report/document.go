package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	texttemplate "text/template"
)

//go:embed templates
var templates embed.FS

// document is what the readable reports show.
type document struct {
	*Privacy
	Rows    []Summary // of the parameters
	Hidden  int       // rows that are left out
	Badge   string    // PASS, WARN or FAIL
	Reason  string    // of the badge
	Figures figures
}

// figures are inline SVG: no script, no file of their own.
type figures struct{ Tradeoff, Curve, Forest template.HTML }

// documentRows bounds the table of parameters; summary.csv has every row.
const documentRows = 60

// document puts the readable report together.
func (r *Run) document(p *Privacy) *document {
	d := &document{Privacy: p, Rows: r.Draws.Summarise()}
	if len(d.Rows) > documentRows {
		d.Rows, d.Hidden = d.Rows[:documentRows], len(d.Rows)-documentRows
	}
	d.Badge, d.Reason = badge(p)
	d.Figures.Forest = forest(d.Rows)
	if p.curve != nil {
		claim := Point{p.Guarantee.Epsilon, p.Guarantee.Delta}
		d.Figures.Tradeoff = tradeoff(claim, p.curve)
		d.Figures.Curve = curveFigure(claim, p.Guarantee.Curve, p.Neighbours.NPublic)
	}
	return d
}

// badge judges the claim against its target and the warnings.
func badge(p *Privacy) (badge, reason string) {
	switch {
	case p.Guarantee == nil:
		return "FAIL", NotPrivate + ": nothing is claimed"
	case p.Guarantee.Epsilon > p.Guarantee.Target.Epsilon:
		return "FAIL", "the price exceeds the target"
	case len(p.Warnings) > 0:
		return "WARN", "the claim holds; see the warnings"
	}
	return "PASS", "the claim holds and is within its target"
}

// markdownFile is privacy.md.
func (r *Run) markdownFile(p *Privacy) File {
	return File{"privacy.md", true, func(w io.Writer) error {
		t, err := texttemplate.New("privacy.md").Funcs(functions()).ParseFS(templates, "templates/privacy.md")
		if err != nil {
			return err
		}
		return t.Execute(w, r.document(p))
	}}
}

// htmlFile is privacy.html: one file, no script.
func (r *Run) htmlFile(p *Privacy) File {
	return File{"privacy.html", true, func(w io.Writer) error {
		t, err := template.New("privacy.html").Funcs(functions()).ParseFS(templates, "templates/privacy.html")
		if err != nil {
			return err
		}
		return t.Execute(w, r.document(p))
	}}
}

// functions are what the templates can call.
func functions() map[string]any {
	return map[string]any{
		"g":       func(x float64) string { return fmt.Sprintf("%.4g", x) },
		"up":      upward,
		"percent": func(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) },
		"f3":      func(x float64) string { return fmt.Sprintf("%.3f", x) },
		"share": func(x *float64) string {
			if x == nil {
				return ""
			}
			return fmt.Sprintf("%.0f %%", 100**x)
		},
		"join": strings.Join,
		"constants": func(m map[string]any) string {
			var parts []string
			for k, v := range m {
				parts = append(parts, fmt.Sprintf("%s %v", k, v))
			}
			slices.Sort(parts)
			return strings.Join(parts, ", ")
		},
	}
}
