package verify_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/jsonfile"
	"d3p/internal/models"
	"d3p/internal/outputs"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
	"d3p/internal/settings"
	"d3p/internal/verify"
)

// releaseWithEverything writes a release with every kind of file, and returns its
// folder and the names of the files.
func releaseWithEverything(t *testing.T) (dir string, names []string) {
	t.Helper()
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	m, err := models.Compile(run.Spec)
	if err != nil {
		t.Fatal(err)
	}
	run.Draws, run.Simulated.Columns = outputs.DrawPosterior(m, run.Posterior, 20, reporttest.Normals{Rand: rand.New(rand.NewPCG(1, 1))}), run.Simulated.Columns[:1]
	run.Formats = settings.FormatNames()
	run.Booked = reporttest.Booked()
	files, err := run.Release()
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, report.PublicFiles(map[string][]byte{"wards.csv": []byte("ward\nnorth\n")})...)
	dir = reporttest.Written(t, t.TempDir(), "", files)
	for _, f := range files {
		names = append(names, f.Name)
	}
	return dir, append(names, release.ManifestName)
}

// failures are the checks of a folder, all or those of its files, that do not hold.
func failures(t *testing.T, all bool, dir string) (failed []string) {
	t.Helper()
	var f *release.Folder
	var checks []verify.Check
	var err error
	if all {
		f, checks, err = verify.Release(t.Context(), dir)
	} else if f, err = release.Open(dir, false); err == nil {
		checks, err = verify.Files(t.Context(), f)
	}
	if err != nil {
		return []string{err.Error()}
	}
	if f != nil {
		f.Close()
	}
	for _, c := range checks {
		if !c.OK {
			failed = append(failed, c.Name+": "+c.Detail)
		}
	}
	return failed
}

// A release verifies by itself; with one altered byte in any of its files, or one
// file or folder more at any place, it does not.
func TestVerifyFindsEveryAlteration(t *testing.T) {
	dir, names := releaseWithEverything(t)
	if failed := failures(t, true, dir); failed != nil {
		t.Fatalf("an honest release: %v", failed)
	}
	folders := map[string]bool{".": true}
	for _, name := range names {
		path := filepath.Join(dir, name)
		folders[filepath.Dir(name)] = true
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		altered := append([]byte(nil), content...)
		altered[len(altered)/2] ^= 1
		alterations := [][]byte{altered}
		if name == release.ManifestName || name == "draws.parquet" {
			alterations = append(alterations, content[:len(content)-1], append(content[:len(content):len(content)], '\n'))
		}
		for _, bad := range alterations {
			if err := os.WriteFile(path, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			if len(failures(t, false, dir)) == 0 {
				t.Errorf("%s was altered, and nobody noticed", name)
			}
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if files := failures(t, false, dir); len(files) != 0 {
		t.Fatalf("after every file was restored: %v", files)
	}
	extras := []func(string) error{
		func(path string) error { return os.WriteFile(path, nil, 0o644) },
		func(path string) error { return os.Mkdir(path, 0o755) },
		func(path string) error { return os.Symlink("privacy.json", path) },
	}
	for folder := range folders {
		for i, add := range extras {
			if i > 0 && folder != "." {
				break // files alone, to save time
			}
			extra := filepath.Join(dir, folder, "extra")
			if err := add(extra); err != nil {
				t.Fatal(err)
			}
			if len(failures(t, false, dir)) == 0 {
				t.Errorf("%s: an extra file, folder or link (%d) was not noticed", folder, i)
			}
			if err := os.Remove(extra); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Who alters privacy.json and makes the manifest fit is found by the accounting;
// who says that the claim covers more than it does, by the manifest.
func TestVerifyFindsConsistentLies(t *testing.T) {
	dir, _ := releaseWithEverything(t)
	path := filepath.Join(dir, "privacy.json")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var p report.Privacy
	if err := json.Unmarshal(content, &p); err != nil {
		t.Fatal(err)
	}
	p.Guarantee.Epsilon /= 2
	rewrite(t, dir, release.JSONFile("privacy.json", true, p), "")
	if failed := strings.Join(failures(t, true, dir), "; "); !strings.Contains(failed, "the claim follows from the event") {
		t.Errorf("half the epsilon: %s", failed)
	}
	rewrite(t, dir, release.File{Name: "privacy.json", Covered: true, Write: func(w io.Writer) error { _, err := w.Write(content); return err }}, "spec.lock.yaml")
	if failed := failures(t, true, dir); len(failed) != 1 || !strings.HasPrefix(failed[0], release.ManifestName) {
		t.Errorf("a declaration that is said to be covered: %v", failed)
	}
}

// rewrite replaces a file and its entry in the manifest, which then lists the file named
// covered as covered by the claim.
func rewrite(t *testing.T, dir string, f release.File, covered string) {
	t.Helper()
	var content bytes.Buffer
	if err := f.Write(&content); err != nil {
		t.Fatal(err)
	}
	replace(t, dir, f.Name, content.Bytes(), func(m *release.Manifest) {
		for i := range m.Files {
			m.Files[i].Covered = m.Files[i].Covered || m.Files[i].Path == covered
		}
	})
}

// replace writes content into a file of a release, mends its entry, adding one where
// it is missing, and changes the manifest.
func replace(t *testing.T, dir, name string, content []byte, change func(*release.Manifest)) {
	t.Helper()
	path := filepath.Join(dir, release.ManifestName)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := jsonfile.Read[release.Manifest](raw)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	entry := release.Entry{Path: name, Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), Covered: !report.IsDeclaration(name)}
	if i := slices.IndexFunc(m.Files, func(e release.Entry) bool { return e.Path == name }); i >= 0 {
		m.Files[i] = entry
	} else {
		m.Files = append(m.Files, entry)
	}
	change(&m)
	var text bytes.Buffer
	if err := jsonfile.Write(&text, m); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), content, 0o644), os.WriteFile(path, text.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}
