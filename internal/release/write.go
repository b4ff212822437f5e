package release

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"d3p/internal/atomicfile"
	"d3p/internal/jsonfile"
)

// Options of writing a release.
type Options struct {
	Banner string                                // the manifest's privacy field
	Sign   func(manifest []byte) ([]byte, error) // nil: it is not signed
}

// Write writes files and their manifest into the new folder name of parent, whole or not at
// all: it writes to a temporary sibling, syncs it, and renames it. The name must be free.
func Write(parent *os.Root, name string, files []File, o Options) error {
	return newFolder(parent, name, func(temporary *os.Root) error {
		manifest := Manifest{SchemaVersion: SchemaVersion, Privacy: o.Banner}
		for _, f := range files {
			entry, err := writeFile(temporary, f)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			manifest.Files = append(manifest.Files, entry)
		}
		var text bytes.Buffer
		if err := jsonfile.Write(&text, manifest); err != nil {
			return fmt.Errorf("%s: %w", ManifestName, err)
		}
		last := []File{constant(ManifestName, text.Bytes())}
		if o.Sign != nil {
			signature, err := o.Sign(text.Bytes())
			if err != nil {
				return fmt.Errorf("%s: %w", SignatureName, err)
			}
			last = append(last, constant(SignatureName, signature))
		}
		for _, f := range last {
			if _, err := writeFile(temporary, f); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		return nil
	})
}

// constant is a file of known content.
func constant(name string, content []byte) File {
	return File{name, true, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}}
}

// Try returns the error that Write would have, except for lack of space: it encodes all files,
// and makes empty ones of their names below parent, which it removes.
func Try(parent *os.Root, files []File) (err error) {
	temporary := ".release-" + rand.Text()
	if err := parent.Mkdir(temporary, 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, parent.RemoveAll(temporary)) }()
	folder, err := parent.OpenRoot(temporary)
	if err != nil {
		return err
	}
	defer folder.Close()
	for _, f := range files {
		out, err := makeFile(folder, f.Name)
		if err == nil {
			err = errors.Join(f.Write(io.Discard), out.Close())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// WriteFiles writes files into the new folder dir, whole or not at all, without
// a manifest: a copy of something released, not a release.
func WriteFiles(dir string, files []File) error {
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer parent.Close()
	return newFolder(parent, filepath.Base(dir), func(temporary *os.Root) error {
		for _, f := range files {
			if _, err := writeFile(temporary, f); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		return nil
	})
}

// existsError is the path of a folder that should be new; it is fs.ErrExist.
type existsError string

func (e existsError) Error() string {
	return string(e) + " exists; results are never overwritten, name a new folder"
}

func (existsError) Is(target error) bool { return target == fs.ErrExist }

// newFolder makes the folder name of parent: fill writes into a temporary sibling of it.
func newFolder(parent *os.Root, name string, fill func(temporary *os.Root) error) (err error) {
	if _, err := parent.Lstat(name); err == nil {
		return existsError(filepath.Join(parent.Name(), name))
	}
	temporary := ".release-" + rand.Text()
	if err := parent.Mkdir(temporary, 0o700); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			parent.RemoveAll(temporary)
		}
	}()
	folder, err := parent.OpenRoot(temporary)
	if err != nil {
		return err
	}
	defer folder.Close()
	if info, err := folder.Stat("."); err != nil || atomicfile.CheckOwn(info, 0o077) != nil {
		return fmt.Errorf("%s was replaced by another program", filepath.Join(parent.Name(), temporary))
	}
	if err := fill(folder); err != nil {
		return err
	}
	if err := folder.Chmod(".", 0o755); err != nil {
		return err
	}
	if err := parent.Rename(temporary, name); err != nil {
		return err
	}
	return atomicfile.SyncFolder(parent, ".")
}

// writeFile writes f below folder and returns its manifest entry.
func writeFile(folder *os.Root, f File) (Entry, error) {
	out, err := makeFile(folder, f.Name)
	if err != nil {
		return Entry{}, err
	}
	defer out.Close()
	sum := &counter{sum: sha256.New()}
	buffered := bufio.NewWriterSize(io.MultiWriter(out, sum), 1<<16)
	if err := f.Write(buffered); err != nil {
		return Entry{}, err
	}
	if err := buffered.Flush(); err != nil {
		return Entry{}, err
	}
	if err := out.Sync(); err != nil {
		return Entry{}, err
	}
	if err := out.Close(); err != nil {
		return Entry{}, err
	}
	return Entry{f.Name, sum.n, hex.EncodeToString(sum.sum.Sum(nil)), f.Covered}, nil
}

// makeFile makes a new file below folder, and the folders of its name.
func makeFile(folder *os.Root, name string) (*os.File, error) {
	if within := path.Dir(name); within != "." {
		if err := folder.MkdirAll(within, 0o755); err != nil {
			return nil, err
		}
	}
	return folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// counter hashes and counts the bytes written to it.
type counter struct {
	sum hash.Hash
	n   int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.sum.Write(p)
}
