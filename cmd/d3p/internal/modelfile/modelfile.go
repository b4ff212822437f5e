// Package modelfile finds and reads model files.
package modelfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"d3p/internal/atomicfile"
	"d3p/internal/models"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
	"d3p/internal/models/spec"
	"d3p/internal/privacy"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/spell"
	"d3p/internal/status"
)

// Find returns the model file for a data file: the explicit one, else DATA.yaml beside the
// data, else d3p.yaml in the working directory.
func Find(explicit, data string) (string, error) {
	if data == "-" {
		return "", status.Usagef("-: standard input cannot be read again by d3p resume; write it to a file first")
	}
	if isModel(data) {
		return "", status.Usagef("%s is a model file by its name, and the data belong here: --model %[1]s DATA", data)
	}
	if explicit != "" {
		return explicit, nil
	}
	beside := modelBeside(data)
	for _, path := range []string{beside, "d3p.yaml"} {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	files, err := DataFiles(data)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(files[0]); err != nil {
		return "", status.With(status.Data, atomicfile.Named(data, err))
	}
	return "", status.With(status.Spec, fmt.Errorf("no model file: neither --model, nor %s, nor d3p.yaml here; d3p init %s > %s writes a skeleton from the header line alone", beside, spell.Word(files[0]), spell.Word(beside)))
}

// isModel reports whether a path has the name of a model file.
func isModel(path string) bool { return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) }

// isData reports whether a path has the name of a table.
func isData(path string) bool {
	return slices.Contains([]string{".csv", ".tsv", ".parquet", ".npy", ".gz", ".xlsx"}, strings.ToLower(filepath.Ext(path)))
}

// DataFiles are the files of a table.
func DataFiles(data string) ([]string, error) {
	files, err := privacy.DataFiles(data)
	return files, status.With(status.Data, err)
}

// modelBeside is the default model file of a table. It has the table's name and stands
// beside the file, folder or list; for a pattern, beside the folder in which the pattern
// starts.
func modelBeside(data string) string {
	table := strings.TrimPrefix(data, "@")
	if i := strings.IndexAny(table, "*?["); i >= 0 {
		table = filepath.Dir(table[:i] + "x")
	}
	table = strings.TrimSuffix(filepath.Clean(table), ".gz")
	return strings.TrimSuffix(table, filepath.Ext(table)) + ".yaml"
}

// CheckPublic refuses a model at path that names a file of records as a public table or
// list: the model would learn its levels from the records, and the release would contain
// them.
func CheckPublic(m *models.Model, path string, tables ...string) error {
	var private []os.FileInfo
	for _, table := range tables {
		files, err := DataFiles(table)
		if err != nil {
			return err
		}
		for _, file := range files {
			info, err := os.Stat(file)
			switch {
			case err == nil:
				private = append(private, info)
			case table != "-":
				return status.With(status.Data, atomicfile.Named(file, err))
			}
		}
	}
	for name := range m.Spec.Public {
		public, err := os.Stat(besideModel(path, name))
		if err == nil && slices.ContainsFunc(private, func(f os.FileInfo) bool { return os.SameFile(public, f) }) {
			return status.With(status.Spec, fmt.Errorf("%s: %s is named as public, but it is the data file; its levels must not be learnt from the records, and a release contains the public files (write a separate public list)", path, name))
		}
	}
	return nil
}

// besideModel is the path of a file that the model file at path names.
func besideModel(path, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(path), name)
}

// ReadWith is Read for a fit of the records in these tables (see CheckPublic).
func ReadWith(path string, tables ...string) (m *models.Model, hash string, err error) {
	if m, hash, err = Read(path); err == nil {
		err = CheckPublic(m, path, tables...)
	}
	return m, hash, err
}

// readPublic reads a file that a model file names. A release has a copy of it, so its size
// is bounded.
func readPublic(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("is no regular file")}
	case info.Size() > release.MostInMemory:
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("has more than %d MiB", int64(release.MostInMemory)>>20)}
	}
	return os.ReadFile(path)
}

// Load is Read without the hash.
func Load(path string) (*models.Model, error) {
	m, _, err := Read(path)
	return m, err
}

// Read reads, checks and compiles a model file, or the spec.lock.yaml of a release with the
// release's copies of public files. The error holds all mistakes, those of expressions too.
// hash is the file's SHA-256.
func Read(path string) (m *models.Model, hash string, err error) {
	if isData(path) { // a mistake in it would quote a record
		return nil, "", status.Usagef("%s is data by its name, and a model file belongs here (d3p init %s > %s writes one)", path, spell.Word(path), spell.Word(modelBeside(path)))
	}
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", status.With(status.Spec, fmt.Errorf("no model file %s", path))
	}
	if err != nil {
		return nil, "", status.With(status.Spec, fmt.Errorf("model file: %w", err))
	}
	sum := sha256.Sum256(src)
	model, locked := report.LockedModel(src)
	var files *release.Folder
	if locked {
		if model, files, err = releasedModel(path, model); err != nil {
			return nil, "", err
		}
		defer files.Close()
		src = model
	}
	m, err = models.Read(path, src, func(name string) ([]byte, error) {
		if locked {
			return report.ReadPublic(files, name)
		}
		return readPublic(besideModel(path, name))
	})
	if err != nil {
		return nil, "", status.With(status.Spec, err)
	}
	if name := &m.Spec.Name; !name.IsSet() { // a default that a rendered file states
		*name = source.Value[string]{V: Name(m.Spec), At: expr.Position{File: path, Line: 1, Column: 1}}
	}
	return m, hex.EncodeToString(sum[:]), nil
}

// releasedModel is the model of a spec.lock.yaml and the folder with its public files. If
// the release's manifest is beside the file, both must agree with it.
func releasedModel(path string, model []byte) ([]byte, *release.Folder, error) {
	dir := filepath.Dir(path)
	_, err := os.Lstat(filepath.Join(dir, release.ManifestName))
	verified := err == nil && filepath.Base(path) == report.LockName
	files, err := release.Open(dir, !verified)
	if err != nil {
		return nil, nil, status.With(status.Spec, err)
	}
	if !verified {
		return model, files, nil
	}
	lock, err := files.ReadFile(report.LockName)
	if err != nil {
		files.Close()
		return nil, nil, status.With(status.Spec, fmt.Errorf("%s: %w (to change the model of a release, copy it out of the folder)", dir, err))
	}
	model, _ = report.LockedModel(lock)
	return model, files, nil
}

// ParseSpec parses the text of a model file; load reads the public files that
// it names.
func ParseSpec(path string, src []byte, load spec.Loader) (*spec.Spec, error) {
	s, errs := spec.Parse(path, src, load)
	return s, status.With(status.Spec, errs.Err())
}

// Name is the declared name of the model, else the file's.
func Name(s *spec.Spec) string {
	base := filepath.Base(s.File)
	return s.Name.Or(strings.TrimSuffix(base, filepath.Ext(base)))
}
