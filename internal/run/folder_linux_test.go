package run

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"d3p/internal/privacy"
)

const otherUser = 1234

// plants are traps at the path of a run's folder.
var plants = map[string]struct {
	prepare func(parent, out string) error
	ok      bool
}{
	"nothing":                {func(_, _ string) error { return nil }, true},
	"an empty folder":        {func(_, out string) error { return os.Mkdir(out, 0o755) }, true},
	"an empty closed folder": {func(_, out string) error { return os.Mkdir(out, 0o700) }, true},
	"a file":                 {func(_, out string) error { return os.WriteFile(out, nil, 0o600) }, false},
	"a pipe":                 {func(_, out string) error { return syscall.Mkfifo(out, 0o600) }, false},
	"a folder for a group":   {func(_, out string) error { return errors.Join(os.Mkdir(out, 0o755), os.Chmod(out, 0o775)) }, false},
	"a folder for all":       {func(_, out string) error { return errors.Join(os.Mkdir(out, 0o755), os.Chmod(out, 0o777)) }, false},
	"a sticky folder for all": {func(_, out string) error {
		return errors.Join(os.Mkdir(out, 0o755), os.Chmod(out, 0o777|fs.ModeSticky))
	}, false},
	"a folder of another user": {func(_, out string) error {
		return errors.Join(os.Mkdir(out, 0o755), os.Chown(out, otherUser, otherUser))
	}, false},
	"a folder with a file": {func(_, out string) error {
		return errors.Join(os.Mkdir(out, 0o755), os.WriteFile(filepath.Join(out, "notes"), nil, 0o600))
	}, false},
	"a link to an empty folder": {func(parent, out string) error {
		return errors.Join(os.Mkdir(filepath.Join(parent, "target"), 0o755), os.Symlink("target", out))
	}, false},
	"a link to nothing": {func(_, out string) error { return os.Symlink("nothing", out) }, false},
	"private/ as a link": {func(parent, out string) error {
		return errors.Join(os.Mkdir(out, 0o755), os.Mkdir(filepath.Join(parent, "target"), 0o755), os.Symlink("../target", filepath.Join(out, "private")))
	}, false},
	"private/ for all": {func(_, out string) error {
		return errors.Join(os.MkdirAll(filepath.Join(out, "private"), 0o755), os.Chmod(filepath.Join(out, "private"), 0o777))
	}, false},
	"private/ that is empty": {func(_, out string) error { return os.MkdirAll(filepath.Join(out, "private"), 0o700) }, false},
	"a data check":           {func(_, out string) error { return dataCheck(out, 0o700, 0o600) }, true},
	"an open data check":     {func(_, out string) error { return dataCheck(out, 0o700, 0o666) }, false},
	"a data check in an open private/": {func(_, out string) error {
		return errors.Join(dataCheck(out, 0o700, 0o600), os.Chmod(filepath.Join(out, "private"), 0o755))
	}, false},
	"a data check of another user": {func(_, out string) error {
		return errors.Join(dataCheck(out, 0o700, 0o600), os.Chown(filepath.Join(out, "private", "datacheck.json"), otherUser, otherUser))
	}, false},
	"a data check as a link": {func(parent, out string) error {
		return errors.Join(os.MkdirAll(filepath.Join(out, "private"), 0o700), os.WriteFile(filepath.Join(parent, "target"), nil, 0o600),
			os.Symlink("../../target", filepath.Join(out, "private", "datacheck.json")))
	}, false},
	"a data check as a pipe": {func(_, out string) error {
		return errors.Join(os.MkdirAll(filepath.Join(out, "private"), 0o700), syscall.Mkfifo(filepath.Join(out, "private", "datacheck.json"), 0o600))
	}, false},
	"a parent for all":        {func(parent, _ string) error { return os.Chmod(parent, 0o777) }, false},
	"a sticky parent for all": {func(parent, _ string) error { return os.Chmod(parent, 0o777|fs.ModeSticky) }, true},
	"a parent for a group":    {func(parent, _ string) error { return os.Chmod(parent, 0o775) }, true},
}

func dataCheck(out string, folder, file fs.FileMode) error {
	path := filepath.Join(out, "private", privacy.DataCheckName)
	return errors.Join(os.MkdirAll(out, 0o755), os.MkdirAll(filepath.Join(out, "private"), folder), os.WriteFile(path, nil, file), os.Chmod(path, file))
}

// A run takes only a folder of its own user, and does not change one that it refuses.
func TestOutIsOnesOwn(t *testing.T) {
	for name, plant := range plants {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "another user") && os.Geteuid() != 0 {
				t.Skip("only the superuser can give files away")
			}
			parent := t.TempDir()
			out := filepath.Join(parent, "out")
			if err := plant.prepare(parent, out); err != nil {
				t.Fatal(err)
			}
			r, err := newFolder(out, "model")
			if (err == nil) != plant.ok {
				t.Fatalf("error %v, want one: %v", err, !plant.ok)
			}
			target := filepath.Join(parent, "target")
			if entries, err := os.ReadDir(target); err == nil && len(entries) > 0 {
				t.Errorf("the link's target holds %v", entries)
			}
			if err != nil {
				return
			}
			defer r.close()
			if info, err := os.Lstat(r.private()); err != nil || info.Mode() != fs.ModeDir|0o700 {
				t.Errorf("private/ is %v (%v), want a folder of mode 0700", info.Mode(), err)
			}
		})
	}
}

// discard removes the run's files; an empty folder that existed before the run stays.
func TestDiscardKeepsWhatWasThere(t *testing.T) {
	for _, existed := range []bool{false, true} {
		out := filepath.Join(t.TempDir(), "out")
		if existed {
			if err := os.Mkdir(out, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		r, err := newFolder(out, "model")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.write(jobFile, 1); err != nil {
			t.Fatal(err)
		}
		r.discard()
		if entries, err := os.ReadDir(out); (err == nil) != existed || len(entries) != 0 {
			t.Errorf("existed %v: afterwards %v, %v", existed, entries, err)
		}
	}
}

// A run is continued only in a folder of its owner alone.
func TestRunIsOnesOwn(t *testing.T) {
	for name, spoil := range map[string]func(parent, out string) error{
		"":              func(_, _ string) error { return nil },
		"open private/": func(_, out string) error { return os.Chmod(filepath.Join(out, "private"), 0o750) },
		"open folder":   func(_, out string) error { return os.Chmod(out, 0o777) },
		"linked private/": func(parent, out string) error {
			return errors.Join(os.Rename(filepath.Join(out, "private"), filepath.Join(parent, "target")), os.Symlink("../target", filepath.Join(out, "private")))
		},
		"link": func(parent, out string) error {
			return errors.Join(os.Rename(out, filepath.Join(parent, "target")), os.Symlink("target", out))
		},
		"no private/":       func(_, out string) error { return os.Remove(filepath.Join(out, "private")) },
		"foreign private/":  func(_, out string) error { return os.Chown(filepath.Join(out, "private"), otherUser, otherUser) },
		"folder of another": func(_, out string) error { return os.Chown(out, otherUser, otherUser) },
		"private/ is a file": func(_, out string) error {
			return errors.Join(os.Remove(filepath.Join(out, "private")), os.WriteFile(filepath.Join(out, "private"), nil, 0o600))
		},
	} {
		parent := t.TempDir()
		out := filepath.Join(parent, "out")
		if err := os.MkdirAll(filepath.Join(out, "private"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := spoil(parent, out); err != nil {
			t.Logf("%s is not tried: %v", name, err)
			continue
		}
		r, err := openFolder(out)
		if (err == nil) != (name == "") {
			t.Errorf("%q: error %v", name, err)
		}
		if err == nil {
			r.close()
		}
	}
}

// While another process swaps the folder for a link, nothing is written behind the link:
// a file goes into the run's own folder, wherever it was moved, or nowhere.
func TestSwappedFolderIsNotFollowed(t *testing.T) {
	parent := t.TempDir()
	out, away, target := filepath.Join(parent, "out"), filepath.Join(parent, "away"), filepath.Join(parent, "target")
	if err := errors.Join(os.MkdirAll(filepath.Join(target, "private"), 0o777), os.Chmod(target, 0o777)); err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	done := make(chan bool)
	go func() {
		for !stop.Load() {
			if os.Rename(out, away) == nil {
				os.Symlink("target", out)
				os.Remove(out)
				os.Rename(away, out)
			}
		}
		close(done)
	}()
	made := 0
	for range 300 {
		r, err := newFolder(out, "model")
		if err == nil {
			made++
			r.write(jobFile, "secret")
			r.write(jobFile, "secret again")
			r.discard()
		}
		os.RemoveAll(away)
		os.RemoveAll(out)
	}
	stop.Store(true)
	<-done
	if made == 0 {
		t.Error("no folder was made at all")
	}
	err := filepath.WalkDir(target, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != target && path != filepath.Join(target, "private") {
			t.Errorf("%s was written behind the link", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
