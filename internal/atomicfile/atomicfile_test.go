package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"d3p/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger")
	for _, content := range []string{"first, the longer one", "second"} {
		if err := atomicfile.Write(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("the file holds %q (%v), want %q", got, err, content)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode %v (%v), want 0600", info.Mode(), err)
	}
	alone(t, dir, "ledger")
}

// A failed write leaves no file behind.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "taken", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if atomicfile.Write(filepath.Join(dir, "taken"), []byte("x"), 0o600) == nil {
		t.Error("a folder was replaced by a file")
	}
	missing := filepath.Join(dir, "nosuch", "file")
	if err := atomicfile.Write(missing, []byte("x"), 0o600); err == nil || !strings.Contains(err.Error(), missing+":") {
		t.Errorf("into a folder that is not there: %v, want an error about %s", err, missing)
	}
	alone(t, dir, "taken")
}

// alone checks that a folder holds one entry.
func alone(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("the folder holds %v (%v), want %s alone", entries, err, name)
	}
}

// CleanUp removes what a killed WriteIn left of a file, and nothing else.
func TestCleanUp(t *testing.T) {
	dir := t.TempDir()
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	const key = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, name := range []string{"a", ".a", ".a-notes", ".b-" + key, ".a.b-" + key, "a-" + key, ".a-" + key} {
		for _, within := range []string{"", "in/"} {
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, "in"), 0o700), os.WriteFile(filepath.Join(dir, within+name), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	left := func(within string) (n int) {
		entries, err := os.ReadDir(filepath.Join(dir, within))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	atomicfile.CleanUp(folder, "a")
	if _, err := folder.Lstat(".a-" + key); err == nil || left("") != 7 || left("in") != 7 {
		t.Errorf("%d and %d entries are left", left(""), left("in"))
	}
	atomicfile.CleanUp(folder, "in/a")
	if _, err := folder.Lstat("in/.a-" + key); err == nil || left("in") != 6 {
		t.Errorf("%d entries are left in a folder", left("in"))
	}
}
