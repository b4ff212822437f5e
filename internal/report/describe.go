package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"d3p/internal/jsonfile"
	"d3p/internal/outputs"
)

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
