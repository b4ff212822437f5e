package outfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"d3p/internal/status"
)

// A file of one's own is replaced. What somebody else may have put there is refused,
// and what it leads to keeps its content.
func TestWriteOutFollowsNothing(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, content := range []string{"longer content", "short"} {
		if err := Write(at("file"), []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(at("file")); err != nil || string(got) != content {
			t.Errorf("the file is %q, %v", got, err)
		}
	}
	if err := errors.Join(
		os.WriteFile(at("target"), []byte("untouched"), 0o600), os.Symlink("target", at("link")), os.Symlink("nothing", at("dangling")),
		syscall.Mkfifo(at("pipe"), 0o600), os.WriteFile(at("foreign"), []byte("untouched"), 0o666),
	); err != nil {
		t.Fatal(err)
	}
	planted := []string{"link", "dangling", "pipe", "."}
	if err := os.Chown(at("foreign"), 1234, 1234); err == nil {
		planted = append(planted, "foreign")
	} else {
		t.Logf("files of another user are not tried: %v", err)
	}
	if err := syscall.Mknod(at("device"), syscall.S_IFCHR|0o666, 1<<8|3); err == nil {
		planted = append(planted, "device")
	} else {
		t.Logf("devices are not tried: %v", err)
	}
	for _, name := range planted {
		if Write(at(name), []byte("written")) == nil {
			t.Errorf("%s was written to", name)
		}
	}
	for _, name := range []string{"target", "foreign"} {
		if got, err := os.ReadFile(at(name)); err != nil || string(got) != "untouched" {
			t.Errorf("%s holds %q (%v)", name, got, err)
		}
	}
	if _, err := os.Lstat(at("nothing")); err == nil {
		t.Error("a link to nothing was followed")
	}
}

// WriteOut writes to a stream that this process holds open.
func TestWriteOutToStreams(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(fmt.Sprintf("/dev/fd/%d", w.Fd()), []byte("row")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 3)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "row" {
		t.Errorf("the pipe got %q (%v)", got, err)
	}
	if err := Write("/dev/null", []byte("row")); err != nil {
		t.Error(err)
	}
	if isStream("/dev/shm/file") || isStream("/dev/stdout/..") {
		t.Error("a file is taken for a stream")
	}
}

// The private counts go to no device, pipe or link, which others may read and a
// whole file would replace, and not in the place of what is read.
func TestPrivateOut(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("data.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("data.csv", at("link")), os.Link(at("data.csv"), at("same"))); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"pipe", "link", "data.csv", "same", "."} {
		if err := CheckPrivate(at(out), at("model.yaml"), at("data.csv")); status.Of(err) != status.Usage || err == nil {
			t.Errorf("%s: %v", out, err)
		}
	}
	if err := os.WriteFile(at("old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"new", "old"} {
		if err := CheckPrivate(at(out), at("model.yaml"), at("data.csv")); err != nil {
			t.Error(err)
		}
	}
}
