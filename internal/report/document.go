package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"html/template"
	"io"
	texttemplate "text/template"
	"time"

	"d3p/internal/jsonfile"
	"d3p/internal/outputs"
	"d3p/internal/release"
	"d3p/internal/settings"
)

//go:embed templates
var templates embed.FS

// Findings are the results of a release, for the readable reports.
type Findings struct {
	Rows     []outputs.Summary // of all parameters
	Trace    *outputs.Trace    // nil when it was not kept
	Overlays []Overlay         // prior and posterior of some parameters
	Guide    string            // family of the posterior; "" in reports that do not name it
	Fitted   string            // the guide that the fit moved; the posterior's family may be another

	// For the report of a plan, which has no posterior.
	Expected []Expected // noise of the parameters
	Work     string     // the work of the fit
}

// Expected is the privacy noise's expected share of a parameter's posterior.
type Expected struct {
	Parameter string  `json:"parameter"`
	Least     float64 `json:"least_noise_share"` // of its numbers' posterior variances
	Most      float64 `json:"most_noise_share"`
}

// document is the content of the readable reports.
type document struct {
	*Privacy
	Planned  bool
	Expected []Expected
	Work     string
	Rows     []outputs.Summary // of the parameters
	Hidden   int               // rows that are left out
	Noisy    int               // number of parameters whose variance is mostly privacy noise
	Badge    string            // PASS, WARN or FAIL
	Reason   string            // of the badge
	Columns  []columnRow
	Sizes    []levelSize
	Beliefs  beliefTable
	Figures  figures
}

// documentRows bounds the table of parameters; summary.csv has every row.
const documentRows = 60

// newDocument makes the readable report from a release.
func newDocument(p *Privacy, f Findings) *document {
	d := &document{Privacy: p, Planned: p.Status == Planned, Expected: f.Expected, Work: f.Work, Rows: outputs.WithoutRepetitions(f.Rows), Columns: columnRows(p.Preprocessing), Sizes: levelSizes(p), Beliefs: beliefs(p)}
	d.Rows = d.Rows[:min(len(d.Rows), documentRows)]
	d.Hidden = len(f.Rows) - len(d.Rows)
	for _, r := range d.Rows {
		if r.NoiseShare != nil && *r.NoiseShare > 0.5 {
			d.Noisy++
		}
	}
	d.Badge, d.Reason = badge(p)
	d.Figures = figuresOf(p, f)
	return d
}

// badge judges the claim against its target and the warnings.
func badge(p *Privacy) (badge, reason string) {
	switch {
	case p.Guarantee == nil:
		return "FAIL", settings.NotPrivate + ": nothing is claimed"
	case p.Guarantee.Epsilon > p.Guarantee.Target.Epsilon:
		return "FAIL", "the price exceeds the target"
	case p.Status == Planned && len(p.Warnings) == 0:
		return "PLAN", "no record was read and nothing is spent; the fit will satisfy this"
	case len(p.Warnings) > 0:
		return "WARN", "the claim holds; see the warnings in section 9"
	}
	return "PASS", "the claim holds and is within its target"
}

// MarkdownFile is privacy.md.
func MarkdownFile(p *Privacy, f Findings) release.File {
	return release.File{Name: "privacy.md", Covered: true, Write: func(w io.Writer) error {
		t, err := texttemplate.New("privacy.md").Funcs(functions()).ParseFS(templates, "templates/privacy.md")
		if err != nil {
			return err
		}
		escapeMarkdown(t)
		return t.Execute(w, newDocument(p, f))
	}}
}

// HTMLFile is privacy.html: one file, no script, figures inside.
func HTMLFile(p *Privacy, f Findings) release.File {
	return release.File{Name: "privacy.html", Covered: true, Write: func(w io.Writer) error {
		t, err := template.New("privacy.html").Funcs(functions()).ParseFS(templates, "templates/*.html", "templates/page.css")
		if err != nil {
			return err
		}
		return t.Execute(w, newDocument(p, f))
	}}
}

// Describe fills in the report's part in the files of a sample.
func (p *Privacy) Describe(s *outputs.Sample) error {
	created, err := time.Parse(time.RFC3339, p.CreatedAt)
	if err != nil {
		return err
	}
	s.Run, s.Created, s.Version, s.Claim, s.Banner = p.ReportID, created, p.Tool.Version, p.Statements.OneLine, p.Banner
	short := shortClaim{Privacy: p.Banner, Unit: p.Unit.Entity, Relation: p.Neighbours.Relation}
	if p.Guarantee != nil {
		short.Epsilon, short.Delta = &p.Guarantee.Epsilon, &p.Guarantee.Delta
	}
	text, err := json.Marshal(short)
	if err != nil {
		return err
	}
	var report bytes.Buffer
	if err := jsonfile.Write(&report, p); err != nil {
		return err
	}
	sum := sha256.Sum256(report.Bytes())
	s.Privacy, s.Report = string(text), hex.EncodeToString(sum[:])
	return nil
}

// shortClaim is the claim for files of other tools.
type shortClaim struct {
	Privacy  string   `json:"privacy,omitempty"` // NotPrivate, or left out
	Epsilon  *float64 `json:"epsilon"`           // null without a claim
	Delta    *float64 `json:"delta"`
	Unit     string   `json:"unit"`
	Relation string   `json:"neighbours"`
}
