package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
	"d3p/internal/score"
)

// A release that another version of d3p wrote may mean something else by its
// numbers: it is read by none of its files.
func TestReleaseOfAnotherVersion(t *testing.T) {
	files, err := reporttest.Example(t, plan.Config{Epsilon: 1}).Release()
	if err != nil {
		t.Fatal(err)
	}
	dir := reporttest.Written(t, t.TempDir(), "", files)
	read := func() (release, privacy error) {
		_, _, release = report.ReadRelease(reporttest.Opened(t, dir, true))
		_, privacy = report.ReadPrivacy(reporttest.Opened(t, dir, true))
		return release, privacy
	}
	if release, privacy := read(); release != nil || privacy != nil {
		t.Fatalf("as written: %v, %v", release, privacy)
	}
	for _, name := range []string{"params.json", "privacy.json"} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		later := bytes.Replace(text, []byte(`"schema_version": 1`), []byte(`"schema_version": 2`), 1)
		if bytes.Equal(later, text) {
			t.Fatalf("%s has no schema_version 1", name)
		}
		if err := os.WriteFile(path, later, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	release, privacy := read()
	for _, err := range []error{release, privacy} {
		if err == nil || !strings.Contains(err.Error(), "schema_version 2, want 1") {
			t.Errorf("of version 2: %v", err)
		}
	}
}

// A forged trace with many tables is refused before they fill the memory.
func TestForgedTraceIsShort(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	for n, refused := range map[int]bool{3: false, 40: true} {
		run.Plan.SideQueries = &score.SideQueries{Quantities: slices.Repeat([]string{"loss"}, n), Steps: slices.Repeat([]int{1}, n), Noise: 1}
		files, err := run.Release()
		if err != nil {
			t.Fatal(err)
		}
		_, err = report.ReadPrivacy(reporttest.Opened(t, reporttest.Written(t, t.TempDir(), "", files), true))
		if refused != (err != nil) {
			t.Errorf("%d quantities: %v", n, err)
		}
	}
}
