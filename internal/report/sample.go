package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"d3p/internal/jsonfile"
)

// Sample is draws from a released posterior and where they come from: what the
// files of every format are written from.
type Sample struct {
	Model string
	Steps int
	Draws Draws
	Prior *Draws // nil when the prior was not drawn from
	// Simulated are tables from the prior; nil when there are none.
	Simulated *Tables

	// What Under sets.
	Run     string // its id
	Created time.Time
	Version string // of the program
	Claim   string // in one line, or why there is none
	Privacy string // the same for programs, as JSON
	Report  string // SHA-256 of privacy.json
	Banner  string // NotPrivate, or ""
}

// Under fills in what the files say of the report that they stand under.
func (s *Sample) Under(p *Privacy) error {
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

// shortClaim is the claim as it stands in files of other tools.
type shortClaim struct {
	Privacy  string   `json:"privacy,omitempty"` // NotPrivate, or left out
	Epsilon  *float64 `json:"epsilon"`           // null when nothing is claimed
	Delta    *float64 `json:"delta"`
	Unit     string   `json:"unit"`
	Relation string   `json:"neighbours"`
}

// metadata are the key/values of Parquet files.
func (s *Sample) metadata() map[string]string {
	return map[string]string{
		"d3p.schema_version": "1", "d3p.run_id": s.Run, "d3p.claim": s.Claim, "d3p.privacy": s.Privacy, "d3p.report_sha256": s.Report,
	}
}
