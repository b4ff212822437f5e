package report

import (
	"time"

	"d3p/internal/fit"
	"d3p/internal/models/spec"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// The values of Run.Status.
const (
	Complete     = "complete"
	StoppedEarly = "stopped_early"
)

// Run is what a release is written from. Everything in it is public, or left
// the curator through a mechanism that Event names.
type Run struct {
	ID         string
	Created    time.Time
	Status     string
	Tool       Tool
	Name       string
	Spec       *spec.Spec
	SpecSHA256 string // of the model file as given
	Settings   []Applied
	Command    []string // flags, without the names of files
	Accepted   []string // risks accepted by name
	Formats    []string // of the draws; none: the default ones

	Plan      *fit.Plan
	Posterior *fit.Posterior
	Params    []Parameter
	Draws     Draws
	Trace     *Trace // nil when no iterates were kept

	Event    event.Event // what the ledger says was done
	Spent    accountant.Answer
	Insecure bool // the noise was fixed by a seed
}

// Banner is NotPrivate for a run that gives no guarantee, else "".
func (r *Run) Banner() string {
	if r.Insecure || !r.Plan.Private {
		return NotPrivate
	}
	return ""
}

// Release returns the files of release/, without the manifest.
func (r *Run) Release() ([]File, error) {
	rendered := r.Spec.Render()
	privacy, err := r.Privacy()
	if err != nil {
		return nil, err
	}
	findings := Findings{Rows: r.Draws.Summarise(), Trace: r.Trace}
	files := []File{
		JSONFile("params.json", true, r.Parameters()),
		SummaryFile(findings.Rows, r.Banner()),
		JSONFile("privacy.json", true, privacy), MarkdownFile(privacy, findings), HTMLFile(privacy, findings),
		LockFile(rendered, r.Settings, r.Banner()),
	}
	if r.Banner() == "" { // the file has no place for a banner
		files = append(files, JSONFile("dp_event.json", true, privacy.Accounting.Event))
	}
	files = append(files, PublicFiles(r.Spec.Public)...)
	if r.Trace != nil {
		files = append(files, traceFile(r.Trace, r.metadata()))
	}
	return append(files, r.drawsFiles()...), nil
}

// Parameters is the content of params.json.
func (r *Run) Parameters() Parameters {
	p := r.Posterior
	return Parameters{
		SchemaVersion: 1, Privacy: r.Banner(), Model: r.Name, Steps: p.Steps,
		Guide:      Guide{Family: p.Guide.Name(), Rank: r.Plan.Rank, Lambda: p.Lambda, VarDP: p.VarDP},
		Parameters: r.Params,
	}
}

// metadata are the key/values of draws.parquet.
func (r *Run) metadata() map[string]string {
	claim := r.Banner()
	if claim == "" {
		claim = r.claim()
	}
	return map[string]string{"d3p.schema_version": "1", "d3p.run_id": r.ID, "d3p.privacy": claim}
}
