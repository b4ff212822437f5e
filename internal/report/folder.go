// Package report writes what a fit leaves behind: the files of release/, which
// are covered by the privacy claim, and those of private/, which are not.
package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// File is one file of a release, written by its own function.
type File struct {
	Name    string // relative, with forward slashes
	Covered bool   // by the privacy claim: computed from released values only, not a declaration
	Write   func(io.Writer) error
}

// Entry is what MANIFEST.json says of a file.
type Entry struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Covered bool   `json:"covered_by_claim"`
}

// Manifest lists every other file of a release.
type Manifest struct {
	SchemaVersion int     `json:"schema_version"`
	Privacy       string  `json:"privacy,omitempty"` // NotPrivate, when it is not
	Files         []Entry `json:"files"`
}

// isDeclaration tells whether a file of a release is a declaration, which the
// claim is about and does not cover.
func isDeclaration(name string) bool {
	return name == lockName || strings.HasPrefix(name, publicFolder+"/")
}

// ManifestName is the file that lists the others.
const ManifestName = "MANIFEST.json"

// WriteFolder writes files and their manifest into the new folder dir, whole or
// not at all: everything goes to a temporary sibling, is synced, and renamed.
// dir must not exist. banner is the manifest's privacy field.
func WriteFolder(dir, banner string, files []File) error {
	return newFolder(dir, func(temporary string) error {
		manifest := Manifest{SchemaVersion: schemaVersion, Privacy: banner}
		for _, f := range files {
			entry, err := writeFile(temporary, f)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			manifest.Files = append(manifest.Files, entry)
		}
		if _, err := writeFile(temporary, JSONFile(ManifestName, true, manifest)); err != nil {
			return fmt.Errorf("%s: %w", ManifestName, err)
		}
		return nil
	})
}

// newFolder makes dir from what fill writes into a temporary sibling of it.
func newFolder(dir string, fill func(temporary string) error) (err error) {
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s exists", dir)
	}
	temporary, err := os.MkdirTemp(filepath.Dir(dir), ".release-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(temporary)
		}
	}()
	if err := fill(temporary); err != nil {
		return err
	}
	if err := os.Chmod(temporary, 0o755); err != nil {
		return err
	}
	return os.Rename(temporary, dir)
}

// writeFile writes f below dir and returns its manifest entry.
func writeFile(dir string, f File) (Entry, error) {
	path := filepath.Join(dir, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return Entry{}, err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
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

// counter hashes and counts what is written to it.
type counter struct {
	sum hash.Hash
	n   int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.sum.Write(p)
}

// JSONFile is a file that holds v as indented JSON.
func JSONFile(name string, covered bool, v any) File {
	return File{name, covered, func(w io.Writer) error { return WriteJSON(w, v) }}
}

// WriteJSON writes v as indented JSON with a final newline.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// WriteFiles writes files into the new folder dir, whole or not at all, without
// a manifest: a copy of something released, not a release.
func WriteFiles(dir string, files []File) error {
	return newFolder(dir, func(temporary string) error {
		for _, f := range files {
			if _, err := writeFile(temporary, f); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		return nil
	})
}
