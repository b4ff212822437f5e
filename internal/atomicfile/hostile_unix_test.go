//go:build unix

package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"d3p/internal/atomicfile"
)

func root(t *testing.T) (folder *os.Root, at func(string) string) {
	t.Helper()
	folder, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	return folder, func(name string) string { return filepath.Join(folder.Name(), name) }
}

// Write replaces a link; the link's target keeps its content.
func TestWriteFollowsNothing(t *testing.T) {
	folder, at := root(t)
	if err := errors.Join(
		os.WriteFile(at("target"), []byte("untouched"), 0o600), os.Symlink("target", at("link")), os.Link(at("target"), at("same")), syscall.Mkfifo(at("pipe"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "same", "pipe"} {
		if err := atomicfile.WriteIn(folder, name, 0o600, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Lstat(at(name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s is %v (%v), want a regular file", name, info.Mode(), err)
		}
	}
	if got, err := os.ReadFile(at("target")); err != nil || string(got) != "untouched" {
		t.Errorf("the target holds %q (%v)", got, err)
	}
	out := filepath.Join(t.TempDir(), "out")
	if err := errors.Join(os.Mkdir(out, 0o777), os.Symlink(out, at("away"))); err != nil {
		t.Fatal(err)
	}
	if atomicfile.WriteIn(folder, "away/file", 0o600, func(io.Writer) error { return nil }) == nil {
		t.Error("a file was written outside the folder")
	}
}

// Only regular files inside the folder are read, and only up to a size.
func TestReadRegularFilesAlone(t *testing.T) {
	folder, at := root(t)
	if err := errors.Join(
		os.WriteFile(at("file"), []byte("content"), 0o600), os.Mkdir(at("sub"), 0o700), os.WriteFile(at("sub/file"), []byte("below"), 0o600),
		os.Symlink("file", at("link")), os.Symlink("sub", at("linked")), os.Symlink("/dev/zero", at("zero")), syscall.Mkfifo(at("pipe"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"file": "content", "sub/file": "below"} {
		if got, err := atomicfile.Read(folder, name, 7); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	bad := []string{"link", "linked/file", "zero", "pipe", "sub", ".", "", "../file", "sub/../file", "sub//file", at("file"), "missing", "file/below"}
	if syscall.Mknod(at("device"), syscall.S_IFCHR|0o666, 1<<8|5) == nil {
		bad = append(bad, "device")
	}
	for _, name := range bad {
		if got, err := atomicfile.Read(folder, name, 7); err == nil {
			t.Errorf("%q was read: %q", name, got)
		}
	}
	if _, err := atomicfile.Read(folder, "file", 6); err == nil || !strings.Contains(err.Error(), "7 bytes") {
		t.Errorf("a file that is too long: %v", err)
	}
}

// A lock is one process's at a time, also when who had it removes its file, and a
// planted file is no lock.
func TestLock(t *testing.T) {
	folder, at := root(t)
	unlock, err := atomicfile.Lock(folder, "lock", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := atomicfile.Lock(folder, "lock", false); !errors.Is(err, atomicfile.ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	got := make(chan error)
	go func() {
		unlock, err := atomicfile.Lock(folder, "lock", true)
		if err == nil {
			_, err = os.Lstat(at("lock")) // of the file that is there, not of the one that was removed
			defer unlock()
		}
		got <- err
	}()
	if err := os.Remove(at("lock")); err != nil {
		t.Fatal(err)
	}
	unlock()
	if err := <-got; err != nil {
		t.Errorf("after it was given back: %v", err)
	}
	if err := errors.Join(os.WriteFile(at("target"), nil, 0o600), os.Symlink("target", at("link")), syscall.Mkfifo(at("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "pipe", "missing/lock"} {
		if _, err := atomicfile.Lock(folder, name, false); err == nil || errors.Is(err, atomicfile.ErrLocked) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A folder that everybody may rename is refused, anywhere on the way.
func TestCheckParents(t *testing.T) {
	_, at := root(t)
	if err := errors.Join(os.MkdirAll(at("open/below"), 0o755), os.MkdirAll(at("sticky/below"), 0o755), os.Mkdir(at("way"), 0o755),
		os.Chmod(at("open"), 0o777), os.Chmod(at("sticky"), 0o777|os.ModeSticky), os.Symlink(at("open/below"), at("way/in")), os.Symlink(at("sticky"), at("open/out"))); err != nil {
		t.Fatal(err)
	}
	for path, ok := range map[string]bool{
		"out": true, "open/out": false, "open/below/out": false, "sticky/out": true, "sticky/below/out": true, "way/in/out": false, "open/out/file": false, "nosuch/out": true,
	} {
		if err := atomicfile.CheckParents(at(path)); (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
	}
}
