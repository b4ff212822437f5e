package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"d3p/internal/atomicfile"
	"d3p/internal/jsonfile"
	"d3p/internal/spell"
)

// Folder is a release that is read. Every file of it is a regular file below it,
// reached through no link.
type Folder struct {
	path     string
	root     *os.Root
	raw      []byte // of the manifest
	manifest Manifest
	entries  map[string]Entry // nil: files are read unchecked
}

// Altered is the error for a file of a release that differs from its manifest.
type Altered struct{ Name, Why string }

func (e *Altered) Error() string { return e.Name + ": " + e.Why }

// folderOf is dir, or the release folder below it.
func folderOf(dir string) string {
	below := filepath.Join(dir, "release")
	if info, err := os.Lstat(below); err == nil && info.IsDir() {
		return below
	}
	return dir
}

// Open opens the release in dir, or in the release folder below it, and reads its manifest.
// Unverified opens a release without comparing its files with the manifest, which may be
// missing.
func Open(dir string, unverified bool) (*Folder, error) {
	f := &Folder{path: folderOf(dir)}
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, notRelease(f.path, err)
	}
	f.root = root
	if unverified {
		return f, nil
	}
	if err := f.readManifest(); err != nil {
		root.Close()
		return nil, err
	}
	return f, nil
}

// Path is the folder of the release.
func (f *Folder) Path() string { return f.path }

// Manifest is the manifest of a release, and its bytes.
func (f *Folder) Manifest() (Manifest, []byte) { return f.manifest, f.raw }

// Close gives the handle on the folder back.
func (f *Folder) Close() error { return f.root.Close() }

// readManifest reads the manifest, which must be as Write writes it and must name
// no file that could not be one of a release.
func (f *Folder) readManifest() error {
	raw, err := atomicfile.Read(f.root, ManifestName, mostManifest)
	if err != nil {
		return notRelease(f.path, err)
	}
	m, err := jsonfile.Read[Manifest](raw)
	switch {
	case err != nil:
		return &Altered{ManifestName, "altered: " + err.Error()}
	case m.SchemaVersion != SchemaVersion:
		return &Altered{ManifestName, fmt.Sprintf("schema_version %d, want %d (use the d3p that wrote it)", m.SchemaVersion, SchemaVersion)}
	}
	entries := map[string]Entry{}
	folded := map[string]string{} // names without case, as some file systems compare them
	for _, e := range m.Files {
		if why := e.wrong(); why != "" {
			return &Altered{ManifestName, fmt.Sprintf("%s %q", why, e.Path)}
		}
		if _, twice := entries[e.Path]; twice {
			return &Altered{ManifestName, fmt.Sprintf("it names %q twice", e.Path)}
		}
		entries[e.Path] = e
		top, _, _ := strings.Cut(e.Path, "/")
		fold := strings.ToLower(strings.ToUpper(top))
		if other, ok := folded[fold]; ok && other != top {
			return &Altered{ManifestName, fmt.Sprintf("it names %q and %q, which differ in case alone", other, top)}
		}
		folded[fold] = top
	}
	f.raw, f.manifest, f.entries = raw, m, entries
	return nil
}

// wrong is the reason why an entry cannot be one of a release, or "".
func (e *Entry) wrong() string {
	sum, err := hex.DecodeString(e.SHA256)
	switch {
	case !fs.ValidPath(e.Path) || e.Path == "." || !filepath.IsLocal(filepath.FromSlash(e.Path)) || strings.Contains(e.Path, "\\"):
		return "it names a file outside the release:"
	case strings.ContainsFunc(e.Path, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "it names a file with a control character:"
	case strings.EqualFold(e.Path, ManifestName) || strings.EqualFold(e.Path, SignatureName):
		return "it lists"
	case e.Bytes < 0 || e.Bytes > mostBytes:
		return fmt.Sprintf("it gives %d bytes to", e.Bytes)
	case err != nil || len(sum) != sha256.Size || strings.ToLower(e.SHA256) != e.SHA256:
		return "it has no SHA-256 of"
	}
	return ""
}

// Has reports whether the release has a file.
func (f *Folder) Has(name string) bool {
	if f.entries == nil {
		_, err := f.root.Lstat(name)
		return err == nil
	}
	_, ok := f.entries[name]
	return ok
}

// ReadFile returns the content of a file: the bytes whose hash the manifest has.
func (f *Folder) ReadFile(name string) ([]byte, error) {
	if f.entries == nil {
		content, err := atomicfile.Read(f.root, name, MostInMemory)
		return content, f.missing(name, err)
	}
	e, ok := f.entries[name]
	if !ok {
		return nil, f.missing(name, fs.ErrNotExist)
	}
	content, err := atomicfile.Read(f.root, name, min(e.Bytes, MostInMemory))
	if err != nil {
		return nil, e.altered(err)
	}
	if sum := sha256.Sum256(content); int64(len(content)) != e.Bytes || hex.EncodeToString(sum[:]) != e.SHA256 {
		return nil, e.altered(nil)
	}
	return content, nil
}

// ReadJSON reads a JSON file of a release, which must be as it was written. An
// unverified one may be laid out otherwise.
func ReadJSON[T any](f *Folder, name string) (v T, err error) {
	raw, err := f.ReadFile(name)
	if err != nil {
		return v, err
	}
	if f.entries == nil {
		err = jsonfile.Strict(raw, &v)
	} else {
		v, err = jsonfile.Read[T](raw)
	}
	if err != nil {
		return v, &Altered{name, err.Error()}
	}
	return v, nil
}

// Signature is the signature of the manifest; fs.ErrNotExist without one.
func (f *Folder) Signature() ([]byte, error) {
	return atomicfile.Read(f.root, SignatureName, mostManifest)
}

// missing is the error of a file that is not there.
func (f *Folder) missing(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return notRelease(f.path, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist})
	}
	return err
}

// altered is the error about the file of an entry.
func (e *Entry) altered(err error) *Altered {
	var failed *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Altered{e.Path, "missing"}
	case errors.As(err, &failed):
		return &Altered{e.Path, "altered: it " + failed.Err.Error()}
	case err != nil:
		return &Altered{e.Path, err.Error()}
	}
	return &Altered{e.Path, "altered: its SHA-256 is not the manifest's"}
}

// Check compares one file with its entry; nil if they agree.
func (f *Folder) Check(ctx context.Context, e Entry) error {
	file, info, err := atomicfile.OpenRegular(f.root, e.Path)
	if err != nil {
		return e.altered(err)
	}
	defer file.Close()
	if info.Size() != e.Bytes {
		return e.altered(nil)
	}
	sum := sha256.New()
	for block, left := make([]byte, min(e.Bytes, 1<<20)), e.Bytes; left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(file, block[:min(left, int64(len(block)))])
		if err != nil {
			return e.altered(nil)
		}
		sum.Write(block[:n])
		left -= int64(n)
	}
	if hex.EncodeToString(sum.Sum(nil)) != e.SHA256 {
		return e.altered(nil)
	}
	return nil
}

// mostOthers bounds the number of named files that the manifest lacks.
const mostOthers = 5

// Others are the first few files and folders that the manifest does not list, and
// links in the place of listed ones.
func (f *Folder) Others() (others []string, err error) {
	folders := map[string]bool{".": true}
	for name := range f.entries {
		for at := path.Dir(name); at != "."; at = path.Dir(at) {
			folders[at] = true
		}
	}
	err = fs.WalkDir(f.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		_, listed := f.entries[name]
		switch {
		case d.IsDir() && folders[name], d.Type().IsRegular() && listed, name == ManifestName, name == SignatureName && d.Type().IsRegular():
			return nil
		}
		if others = append(others, name); len(others) == mostOthers {
			return fs.SkipAll
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return others, err
}

// Verify checks every file against the manifest, and that there is no other. The
// first that does not hold is the error.
func (f *Folder) Verify(ctx context.Context) error {
	for _, e := range f.manifest.Files {
		if err := f.Check(ctx, e); err != nil {
			return err
		}
	}
	others, err := f.Others()
	if err == nil && len(others) > 0 {
		err = &Altered{others[0], "not in the manifest"}
	}
	return err
}

// notRelease explains why dir has no release, given the error of the wanted file.
func notRelease(dir string, err error) error {
	if info, wrong := os.Stat(dir); wrong == nil && !info.IsDir() {
		return fmt.Errorf("%s is no release, which is a folder (unpack it first, if it is an archive)", dir)
	}
	var file *fs.PathError
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &file) {
		return fmt.Errorf("%s is no release: %w", dir, err)
	}
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("%s is no release: there is no such folder", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "private")); err == nil {
		if _, err := os.Stat(filepath.Join(dir, "private", "run.json")); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s holds no release: its fit failed before it spent anything (d3p fit --out %s tries again)", dir, spell.Word(dir))
		}
		return fmt.Errorf("%s holds no release: its fit has not ended (d3p resume %s continues a stopped fit)", dir, spell.Word(dir))
	}
	return fmt.Errorf("%s is no release: it has no file %s", dir, filepath.Base(file.Path))
}
