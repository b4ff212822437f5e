package report

import (
	"os"
	"path/filepath"
	"testing"

	"d3p/internal/release"
)

// written writes a release into a new folder below dir.
func written(t *testing.T, dir, banner string, files []File) (path string) {
	t.Helper()
	parent, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	if err := release.Write(parent, "release", files, release.Options{Banner: banner}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "release")
}

// opened opens a release as it is, or as its manifest says.
func opened(t *testing.T, dir string, unverified bool) *release.Folder {
	t.Helper()
	f, err := release.Open(dir, unverified)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
