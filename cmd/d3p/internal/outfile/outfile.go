// Package outfile writes files to paths that a user gives.
package outfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"d3p/internal/atomicfile"
	"d3p/internal/export"
	"d3p/internal/models/simulate"
	"d3p/internal/status"
)

// Write writes a file at a path that the user gave; see Replace.
func Write(path string, content []byte) error {
	return Replace(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Replace writes a file at the user's path, whole or not at all. It replaces a file of this
// user, and refuses a link, a pipe, a device or another user's file. It writes to streams
// of this process, such as /dev/stdout.
func Replace(path string, write func(io.Writer) error) error {
	if isStream(path) {
		return writeInto(path, write)
	}
	switch info, err := os.Lstat(path); {
	case err != nil:
	case info.IsDir():
		return fmt.Errorf("%s is a folder; name a file", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is a link, a pipe or a device, which is neither followed nor replaced; name a new file, or /dev/stdout and redirect it", path)
	case !atomicfile.Mine(info):
		return fmt.Errorf("%s belongs to another user; name a new file", path)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("no folder %s to write %s in (mkdir -p %[1]s makes it)", filepath.Dir(path), filepath.Base(path))
	}
	return atomicfile.WriteWith(path, 0o644, write)
}

// isStream reports whether a path names an open file of this process or discards the
// output.
func isStream(path string) bool {
	switch folder, name := filepath.Split(filepath.Clean(path)); folder {
	case "/dev/":
		return name == "stdout" || name == "stderr" || name == "null" || name == "tty"
	case "/dev/fd/", "/proc/self/fd/":
		return true
	}
	return false
}

// writeInto writes to an existing file.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// CheckPrivate refuses a path for a private file if a device, a pipe or a link is there,
// which others may read and a new file would replace, or if it is one of the input files.
func CheckPrivate(out string, read ...string) error {
	info, err := os.Lstat(out)
	if err != nil {
		return nil // a new file
	}
	if !info.Mode().IsRegular() {
		return status.Usagef("--out: %s is no regular file; name one that is its owner's alone", out)
	}
	for _, path := range read {
		if other, err := os.Stat(path); err == nil && os.SameFile(info, other) {
			return status.Usagef("--out: %s is the input; name another file", out)
		}
	}
	return nil
}

// ends are the extensions by which programs know the format of a file.
var ends = []string{".csv", ".tsv", ".json", ".html", ".parquet", ".zarr", ".npy", ".onnx", ".png", ".svg", ".pdf", ".docx",
	".xlsx", ".xls", ".ods", ".rds", ".rdata", ".sav", ".dta", ".sas7bdat", ".arrow", ".feather"}

// CheckEnd refuses an out with the extension of another format than end, that of the file.
func CheckEnd(out, end string) error {
	if named := strings.ToLower(filepath.Ext(out)); named != end && slices.Contains(ends, named) {
		return status.Usagef("--out: %s: it would hold what a %s file holds (name a file that ends in %[2]s)", out, end)
	}
	return nil
}

// Format is the one of formats that the end of out names; otherwise, if it names none.
func Format(out, otherwise string, formats []string) string {
	if named := strings.TrimPrefix(filepath.Ext(out), "."); slices.Contains(formats, named) {
		return named
	}
	return otherwise
}

// TablePaths are the paths of n files of tables: out itself if n is 1, else out with -1 to
// -n before its extension. An out without extension gets that of the format. An extension
// of no format is an error.
func TablePaths(out, format string, n int) ([]string, error) {
	if out == "" {
		return nil, nil
	}
	if filepath.Ext(out) == "" && format != "" {
		out += "." + format
	}
	if _, err := export.FormatOf(out); err != nil {
		return nil, status.Usagef("--out: %w", err)
	}
	if n == 1 {
		return []string{out}, nil
	}
	ext := filepath.Ext(out)
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(out, ext), i+1, ext)
	}
	return paths, nil
}

// WriteTable writes a table to a path of TablePaths, whole or not at all.
func WriteTable(path string, t simulate.Table, privacy string, metadata map[string]string) error {
	format, err := export.FormatOf(path)
	if err != nil {
		return status.Usagef("--out: %w", err)
	}
	var b bytes.Buffer
	if err := export.Write(&b, format, t, export.Options{Privacy: privacy, Metadata: metadata}); err != nil {
		return status.With(status.Numeric, err)
	}
	if err := Write(path, b.Bytes()); err != nil {
		return status.With(status.Numeric, fmt.Errorf("--out: %w", err))
	}
	return nil
}
