// Package verify checks a release from its own files: manifest, claim, price, model, and
// files that it writes again.
package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"d3p/internal/jsonfile"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/settings"
)

// Check is one thing that was verified about a release.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// Release checks a release from its own files: the files are those of the manifest, byte by
// byte, and no others, and the claim follows from the event. f is nil if the manifest is
// invalid. The error is about reading; a failure is a Check that is not OK.
func Release(ctx context.Context, dir string) (f *release.Folder, checks []Check, err error) {
	f, err = release.Open(dir, false)
	if altered := new(release.Altered); errors.As(err, &altered) {
		return nil, []Check{{Name: altered.Name, Detail: altered.Why}}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if checks, err = verifyFiles(ctx, f); err != nil {
		return nil, nil, err
	}
	return f, append(checks, verifyClaim(f)...), nil
}

// verifyFiles checks the manifest, every file in it, and that there is no other.
func verifyFiles(ctx context.Context, f *release.Folder) ([]Check, error) {
	manifest, raw := f.Manifest()
	checks := []Check{verifyManifest(raw, manifest)}
	for _, entry := range manifest.Files {
		c := Check{Name: entry.Path, OK: true, Detail: "as in the manifest"}
		altered := new(release.Altered)
		switch err := f.Check(ctx, entry); {
		case errors.As(err, &altered):
			c.OK, c.Detail = false, altered.Why
		case err != nil:
			return nil, err
		}
		checks = append(checks, c)
	}
	others := Check{Name: "no other files", OK: true, Detail: fmt.Sprintf("%d files and the manifest", len(manifest.Files))}
	found, err := f.Others()
	switch len(found) {
	case 0:
	case 1:
		others.OK, others.Detail = false, found[0]+" is not in the manifest, so no claim covers it"
	default:
		others.OK, others.Detail = false, strings.Join(found, ", ")+" are not in the manifest, so no claim covers them"
	}
	return append(checks, others), err
}

// verifyManifest checks that the manifest names the files of a release and no others, and
// states for each whether the claim covers it.
func verifyManifest(raw []byte, m release.Manifest) Check {
	c := Check{Name: release.ManifestName}
	if err := report.CheckNames(m); err != nil {
		c.Detail = strings.TrimPrefix(err.Error(), c.Name+": ")
		return c
	}
	sum := sha256.Sum256(raw) // covers all files: their maker can compare it
	c.OK, c.Detail = true, "names every file, and whether the claim covers it; its SHA-256 is "+hex.EncodeToString(sum[:])
	return c
}

// verifyClaim computes the claim of privacy.json again from the event alone.
func verifyClaim(f *release.Folder) []Check {
	claim := Check{Name: "the claim follows from the event"}
	p, err := report.ReadPrivacy(f)
	if err != nil {
		claim.Detail = err.Error()
		return []Check{claim}
	}
	if m, _ := f.Manifest(); m.Privacy != p.Banner {
		claim.Detail = "MANIFEST.json and privacy.json differ in whether the run is private"
		return []Check{claim}
	}
	if p.Guarantee == nil {
		claim.OK, claim.Detail = p.Banner == settings.NotPrivate, "there is no claim: the run is "+settings.NotPrivate
		return []Check{claim}
	}
	raw, err := f.ReadFile(report.EventName)
	if err != nil {
		claim.Detail = err.Error()
		return []Check{claim}
	}
	same := Check{Name: "one event", OK: isEvent(raw, p.Accounting.Event), Detail: "dp_event.json is the event of privacy.json"}
	if !same.OK {
		same.Detail = "dp_event.json is not the event of privacy.json"
	}
	if p.Banner != "" {
		claim.Detail = "privacy.json claims something of a run that is " + p.Banner
		return []Check{same, claim}
	}
	claim.OK, claim.Detail = recompute(raw, p)
	return []Check{same, claim, verifyPrice(raw, p)}
}

// isEvent reports whether raw is the file of an event.
func isEvent(raw []byte, of []byte) bool {
	ev, err := event.UnmarshalDpEvent(of)
	if err != nil {
		return false
	}
	text, err := event.MarshalDpEvent(ev)
	var file bytes.Buffer
	return err == nil && jsonfile.Write(&file, json.RawMessage(text)) == nil && bytes.Equal(raw, file.Bytes())
}

// recompute compares the accountant's answer with the claim.
func recompute(raw []byte, p *report.Privacy) (ok bool, detail string) {
	ev, err := event.UnmarshalDpEvent(raw)
	if err != nil {
		return false, err.Error()
	}
	relation, err := event.ParseRelation(p.Neighbours.Relation)
	if err != nil {
		return false, err.Error()
	}
	answer, err := accountant.Epsilon(ev, relation, p.Guarantee.Delta)
	if err != nil {
		return false, err.Error()
	}
	detail = fmt.Sprintf("epsilon is between %.7g and %.7g at delta %.3g; claimed %.7g", answer.Lower, answer.Upper, p.Guarantee.Delta, p.Guarantee.Epsilon)
	return answer.Upper <= p.Guarantee.Epsilon && answer.Certified, detail
}
