package outputs

import "time"

// Sample is draws from a released posterior and their source, for the files of every
// format.
type Sample struct {
	Model string
	Steps int
	Draws Draws
	Prior *Draws // nil when the prior was not drawn from
	// Simulated are tables from the prior, or nil.
	Simulated *Tables

	// The report about the files.
	Run     string // its id
	Created time.Time
	Version string // of the program
	Claim   string // in one line, or the reason for having none
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
