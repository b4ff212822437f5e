package outputs

import "time"

// Sample is draws from a released posterior and where they come from: what the
// files of every format are written from.
type Sample struct {
	Model string
	Steps int
	Draws Draws
	Prior *Draws // nil when the prior was not drawn from
	// Simulated are tables from the prior; nil when there are none.
	Simulated *Tables

	// The report that the files stand under.
	Run     string // its id
	Created time.Time
	Version string // of the program
	Claim   string // in one line, or why there is none
	Privacy string // the same for programs, as JSON
	Report  string // SHA-256 of privacy.json
	Banner  string // NotPrivate, or ""
}

// Metadata are the key/values of Parquet files.
func (s *Sample) Metadata() map[string]string {
	return map[string]string{
		"d3p.schema_version": "1", "d3p.run_id": s.Run, "d3p.claim": s.Claim, "d3p.privacy": s.Privacy, "d3p.report_sha256": s.Report,
	}
}
