package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func text(name, content string) File { return constant(name, []byte(content)) }

// writeIn writes a release into the new folder dir.
func writeIn(t *testing.T, dir string, files []File) error {
	t.Helper()
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	return Write(parent, filepath.Base(dir), files, Options{})
}

func TestWriteFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "release")
	files := []File{text("a.txt", "alpha"), text("groups/b.txt", "beta")}
	if err := writeIn(t, dir, files); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	var m Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Files) != 2 {
		t.Fatalf("%d files in the manifest, want 2", len(m.Files))
	}
	for _, e := range m.Files {
		content, err := os.ReadFile(filepath.Join(dir, e.Path))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		if e.SHA256 != hex.EncodeToString(sum[:]) || e.Bytes != int64(len(content)) {
			t.Errorf("%s: manifest %s, %d bytes; file %x, %d bytes", e.Path, e.SHA256, e.Bytes, sum, len(content))
		}
	}
}

// A full disk, at any file, leaves neither a release nor a temporary folder.
func TestWriteFolderIsWholeOrNothing(t *testing.T) {
	full := File{"full", true, func(w io.Writer) error {
		w.Write(bytes.Repeat([]byte{'x'}, 1<<17)) // beyond any buffer
		return syscall.ENOSPC
	}}
	for _, files := range [][]File{{full}, {text("a", "a"), full}, {full, text("a", "a")}} {
		parent := t.TempDir()
		err := writeIn(t, filepath.Join(parent, "release"), files)
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("error %v, want no space left", err)
		}
		left, err := os.ReadDir(parent)
		if err != nil || len(left) != 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

func TestWriteFolderRefusesToOverwrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "release")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeIn(t, dir, nil); err == nil {
		t.Error("an existing folder was replaced")
	}
}

// Try finds what Write would find, and leaves nothing.
func TestTry(t *testing.T) {
	parent, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	good := File{Name: "a/b", Write: func(w io.Writer) error { _, err := w.Write([]byte("x")); return err }}
	for name, c := range map[string]struct {
		files []File
		want  bool
	}{
		"good": {[]File{good}, true}, "twice": {[]File{good, good}, false}, "a file as a folder": {[]File{good, {Name: "a/b/c", Write: good.Write}}, false},
		"a long name": {[]File{{Name: strings.Repeat("n", 300), Write: good.Write}}, false},
		"no encoding": {[]File{JSONFile("c", true, make(chan int))}, false},
	} {
		if err := Try(parent, c.files); (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := fs.ReadDir(parent.FS(), "."); len(left) > 0 || err != nil {
			t.Errorf("%s leaves %v (%v)", name, left, err)
		}
	}
}
