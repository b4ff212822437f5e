//go:build unix

package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"d3p/internal/jsonfile"
)

// honest writes a small release.
func honest(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "release")
	if err := writeIn(t, dir, []File{text("privacy.json", "{}\n"), text("groups/a", "alpha"), text("groups/A", "beta")}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// remake writes a changed manifest, in the form that d3p writes.
func remake(t *testing.T, dir string, change func(*Manifest)) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	m, err := jsonfile.Read[Manifest](raw)
	if err != nil {
		t.Fatal(err)
	}
	change(&m)
	var b bytes.Buffer
	if err := jsonfile.Write(&b, m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestName), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// forgeries are hostile releases. None may be read, and none may keep the reader
// busy: a device without end, a pipe without other end, a file of a terabyte.
var forgeries = map[string]func(t *testing.T, dir string) error{
	"a file outside":     naming("../outside", 8),
	"a file deep inside": naming("groups/../../outside", 8),
	"a path from root":   naming("/dev/zero", 8),
	"a device by a link": func(t *testing.T, dir string) error {
		naming("zero", 8)(t, dir)
		return os.Symlink("/dev/zero", filepath.Join(dir, "zero"))
	},
	"a device": func(t *testing.T, dir string) error {
		naming("zero", 8)(t, dir)
		if err := syscall.Mknod(filepath.Join(dir, "zero"), syscall.S_IFCHR|0o666, 1<<8|5); err != nil {
			t.Skip(err)
		}
		return nil
	},
	"a pipe": func(t *testing.T, dir string) error {
		naming("pipe", 8)(t, dir)
		return syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644)
	},
	"a pipe that is not listed": func(_ *testing.T, dir string) error { return syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644) },
	"the manifest as a pipe": func(_ *testing.T, dir string) error {
		return errors.Join(os.Remove(filepath.Join(dir, ManifestName)), syscall.Mkfifo(filepath.Join(dir, ManifestName), 0o644))
	},
	"the manifest as a link": func(_ *testing.T, dir string) error {
		return errors.Join(os.Rename(filepath.Join(dir, ManifestName), filepath.Join(dir, "..", "m")), os.Symlink("../m", filepath.Join(dir, ManifestName)))
	},
	"the manifest as a device": func(_ *testing.T, dir string) error {
		return errors.Join(os.Remove(filepath.Join(dir, ManifestName)), os.Symlink("/dev/zero", filepath.Join(dir, ManifestName)))
	},
	"a huge manifest": func(_ *testing.T, dir string) error { return os.Truncate(filepath.Join(dir, ManifestName), 1<<40) },
	"a file by a link": func(_ *testing.T, dir string) error {
		return errors.Join(os.Rename(filepath.Join(dir, "privacy.json"), filepath.Join(dir, "..", "p")), os.Symlink("../p", filepath.Join(dir, "privacy.json")))
	},
	"a folder by a link": func(_ *testing.T, dir string) error {
		return errors.Join(os.Rename(filepath.Join(dir, "groups"), filepath.Join(dir, "..", "g")), os.Symlink("../g", filepath.Join(dir, "groups")))
	},
	"a folder by a link inside": func(t *testing.T, dir string) error {
		remake(t, dir, func(m *Manifest) {
			for _, e := range m.Files[1:] {
				m.Files = append(m.Files, Entry{"same" + strings.TrimPrefix(e.Path, "groups"), e.Bytes, e.SHA256, true})
			}
		})
		return os.Symlink("groups", filepath.Join(dir, "same"))
	},
	"a huge file": func(t *testing.T, dir string) error {
		naming("huge", 1<<40)(t, dir)
		return errors.Join(os.WriteFile(filepath.Join(dir, "huge"), nil, 0o644), os.Truncate(filepath.Join(dir, "huge"), 1<<40))
	},
	"a file that is longer":  func(_ *testing.T, dir string) error { return os.Truncate(filepath.Join(dir, "privacy.json"), 1<<40) },
	"a file that is shorter": func(_ *testing.T, dir string) error { return os.Truncate(filepath.Join(dir, "privacy.json"), 1) },
	"a file that is altered": func(_ *testing.T, dir string) error {
		return os.WriteFile(filepath.Join(dir, "privacy.json"), []byte("[]\n"), 0o644)
	},
	"a file that is missing": func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, "privacy.json")) },
	"a file in a file's name": func(_ *testing.T, dir string) error {
		return errors.Join(os.Remove(filepath.Join(dir, "privacy.json")), os.Mkdir(filepath.Join(dir, "privacy.json"), 0o755))
	},
	"a file that is not listed":   func(_ *testing.T, dir string) error { return os.WriteFile(filepath.Join(dir, "more"), nil, 0o644) },
	"a hidden file":               func(_ *testing.T, dir string) error { return os.WriteFile(filepath.Join(dir, ".more"), nil, 0o644) },
	"a folder that is not listed": func(_ *testing.T, dir string) error { return os.Mkdir(filepath.Join(dir, "more"), 0o755) },
	"negative bytes":              naming("negative", -1),
	"a name twice": func(t *testing.T, dir string) error {
		remake(t, dir, func(m *Manifest) { m.Files = append(m.Files, m.Files[0]) })
		return nil
	},
	"names that differ in case": func(t *testing.T, dir string) error {
		remake(t, dir, func(m *Manifest) { m.Files = append(m.Files, Entry{"Privacy.JSON", 3, m.Files[0].SHA256, true}) })
		return os.WriteFile(filepath.Join(dir, "Privacy.JSON"), []byte("{}\n"), 0o644)
	},
	"folders that differ in case": func(t *testing.T, dir string) error {
		remake(t, dir, func(m *Manifest) { m.Files = append(m.Files, Entry{"Groups/b", 3, m.Files[0].SHA256, true}) })
		return errors.Join(os.Mkdir(filepath.Join(dir, "Groups"), 0o755), os.WriteFile(filepath.Join(dir, "Groups", "b"), []byte("{}\n"), 0o644))
	},
	"the manifest in the manifest":  naming("manifest.json", 8),
	"the signature in the manifest": naming(SignatureName, 8),
	"a control character":           naming("privacy\x1b[2J", 8),
	"a backslash":                   naming(`groups\b`, 8),
	"a short hash": func(t *testing.T, dir string) error {
		remake(t, dir, func(m *Manifest) { m.Files[0].SHA256 = m.Files[0].SHA256[:62] })
		return nil
	},
	"a hash in capitals": func(t *testing.T, dir string) error {
		remake(t, dir, func(m *Manifest) { m.Files[0].SHA256 = strings.ToUpper(m.Files[0].SHA256) })
		return nil
	},
	"another version": func(t *testing.T, dir string) error {
		remake(t, dir, func(m *Manifest) { m.SchemaVersion = 2 })
		return nil
	},
	"a second spelling": func(_ *testing.T, dir string) error {
		return edit(filepath.Join(dir, ManifestName), `"bytes": 3`, `"bytes": 3, "Bytes": 3`)
	},
	"a field twice": func(_ *testing.T, dir string) error {
		return edit(filepath.Join(dir, ManifestName), `"bytes": 3`, `"bytes": 4, "bytes": 3`)
	},
	"a field too much": func(_ *testing.T, dir string) error {
		return edit(filepath.Join(dir, ManifestName), `"bytes": 3`, `"bytes": 3, "note": ""`)
	},
	"something after it": func(_ *testing.T, dir string) error {
		return edit(filepath.Join(dir, ManifestName), "\n}\n", "\n}\n{}\n")
	},
	"another layout":        func(_ *testing.T, dir string) error { return edit(filepath.Join(dir, ManifestName), "  ", "\t") },
	"no end of line at end": func(_ *testing.T, dir string) error { return edit(filepath.Join(dir, ManifestName), "\n}\n", "\n}") },
}

// naming adds an entry for a file that is not there.
func naming(name string, bytes int64) func(*testing.T, string) error {
	return func(t *testing.T, dir string) error {
		remake(t, dir, func(m *Manifest) { m.Files = append(m.Files, Entry{name, bytes, m.Files[0].SHA256, true}) })
		return os.WriteFile(filepath.Join(dir, "..", "outside"), make([]byte, 8), 0o644)
	}
}

func edit(path, old, altered string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed := strings.Replace(string(raw), old, altered, 1)
	if changed == string(raw) {
		return fmt.Errorf("%s does not hold %q", path, old)
	}
	return os.WriteFile(path, []byte(changed), 0o644)
}

func verified(ctx context.Context, dir string) error {
	f, err := Open(dir, false)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Verify(ctx)
}

// No forgery is read, and each is found within a second.
func TestHostileReleases(t *testing.T) {
	if err := verified(t.Context(), honest(t)); err != nil {
		t.Fatalf("an honest release: %v", err)
	}
	for name, forge := range forgeries {
		t.Run(name, func(t *testing.T) {
			dir := honest(t)
			if err := forge(t, dir); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- verified(t.Context(), dir) }()
			select {
			case err := <-ended:
				if err == nil {
					t.Error("it was taken for honest")
				}
			case <-time.After(2 * time.Minute):
				t.Fatal("it was read for more than two minutes")
			}
		})
	}
}

// ReadFile returns only the hashed bytes: it refuses a file that changed after it was
// verified.
func TestReadFileIsVerified(t *testing.T) {
	dir := honest(t)
	f, err := Open(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := f.ReadFile("groups/a"); err != nil || string(got) != "alpha" {
		t.Fatalf("%q, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "groups", "a"), []byte("alphb"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := f.ReadFile("groups/a"); err == nil {
		t.Errorf("read %q", got)
	}
	if _, err := f.ReadFile("nosuch"); err == nil {
		t.Error("a file that the manifest does not list was read")
	}
}

// A signal ends the reading of a long file.
func TestVerifyStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := verified(ctx, honest(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
