package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// Check is one thing that was verified about a release.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// Verify checks a release by itself: that its files are those of the manifest,
// byte by byte, and no others, and that the claim follows from the event. dir
// is the release folder or the run folder that holds it. The error is about
// reading; what does not hold is a Check that is not OK.
func Verify(dir string) ([]Check, error) {
	checks, err := verifyFiles(dir)
	if err != nil {
		return nil, err
	}
	return append(checks, verifyClaim(ReleaseFolder(dir))...), nil
}

// verifyFiles checks the manifest, every file in it, and that there is no other.
func verifyFiles(dir string) ([]Check, error) {
	dir = ReleaseFolder(dir)
	raw, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if err != nil {
		return nil, noRelease(dir, err)
	}
	var manifest Manifest
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, ManifestName), err)
	}
	checks := []Check{verifyManifest(raw, manifest)}
	for _, entry := range manifest.Files {
		checks = append(checks, verifyFile(dir, entry))
	}
	others, err := verifyNoOthers(dir, manifest)
	return append(checks, others), err
}

// ReleaseFolder is dir, or the release folder below it.
func ReleaseFolder(dir string) string {
	if below := filepath.Join(dir, "release"); isFolder(below) {
		return below
	}
	return dir
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// verifyManifest checks that the manifest is, byte by byte, what is written for
// its entries, and that it says of each file what the claim covers.
func verifyManifest(raw []byte, m Manifest) Check {
	c := Check{Name: ManifestName, Detail: "altered: it is not what d3p writes"}
	var written bytes.Buffer
	if err := WriteJSON(&written, m); err != nil || !bytes.Equal(raw, written.Bytes()) || m.SchemaVersion != schemaVersion {
		return c
	}
	for _, e := range m.Files {
		if e.Covered == isDeclaration(e.Path) {
			c.Detail = "altered: it says the wrong thing of what the claim covers: " + e.Path
			return c
		}
	}
	sum := sha256.Sum256(raw) // stands for all files: who made them can say whether theirs has the same
	c.OK, c.Detail = true, "names every file, and whether the claim covers it; its SHA-256 is "+hex.EncodeToString(sum[:])
	return c
}

// verifyFile compares a file with its entry.
func verifyFile(dir string, e Entry) Check {
	c := Check{Name: e.Path, Detail: "as in the manifest"}
	content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(e.Path)))
	sum := sha256.Sum256(content)
	switch {
	case !filepath.IsLocal(filepath.FromSlash(e.Path)):
		c.Detail = "the manifest names a file outside the release"
	case err != nil:
		c.Detail = "missing or not readable"
	case hex.EncodeToString(sum[:]) != e.SHA256 || int64(len(content)) != e.Bytes:
		c.Detail = "altered: its SHA-256 is not the manifest's"
	default:
		c.OK = true
	}
	return c
}

// verifyNoOthers finds files that the manifest does not list.
func verifyNoOthers(dir string, m Manifest) (Check, error) {
	c := Check{Name: "no other files", OK: true, Detail: fmt.Sprintf("%d files and the manifest", len(m.Files))}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(relative)
		listed := slices.ContainsFunc(m.Files, func(e Entry) bool {
			return e.Path == name && d.Type().IsRegular() || d.IsDir() && strings.HasPrefix(e.Path, name+"/")
		})
		if c.OK && !listed && name != ManifestName {
			c.OK, c.Detail = false, name+" is not in the manifest, so no claim covers it"
		}
		return nil
	})
	return c, err
}

// verifyClaim computes the claim of privacy.json again from the event alone.
func verifyClaim(dir string) []Check {
	claim := Check{Name: "the claim follows from the event"}
	raw, err := os.ReadFile(filepath.Join(dir, "privacy.json"))
	var p Privacy
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		claim.Detail = "privacy.json is missing or not readable"
		return []Check{claim}
	}
	if p.Guarantee == nil {
		claim.OK, claim.Detail = p.Banner == NotPrivate, "there is no claim: the run is "+NotPrivate
		return []Check{claim}
	}
	raw, err = os.ReadFile(filepath.Join(dir, "dp_event.json"))
	if err != nil {
		claim.Detail = "dp_event.json is missing or not readable"
		return []Check{claim}
	}
	same := Check{Name: "one event", OK: sameJSON(raw, p.Accounting.Event), Detail: "dp_event.json is the event of privacy.json"}
	if !same.OK {
		same.Detail = "dp_event.json is not the event of privacy.json"
	}
	if p.Banner != "" {
		claim.Detail = "privacy.json claims something of a run that is " + p.Banner
		return []Check{same, claim}
	}
	claim.OK, claim.Detail = recompute(raw, &p)
	return []Check{same, claim, verifyPrice(raw, &p)}
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// recompute compares the accountant's answer with the claim.
func recompute(raw []byte, p *Privacy) (ok bool, detail string) {
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
