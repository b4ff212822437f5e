package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"d3p/internal/atomicfile"
	"d3p/internal/export"
	"d3p/internal/models/simulate"
	"d3p/internal/release"
)

// writeOut writes a file that the user named; see replaceFile.
func writeOut(path string, content []byte) error {
	return replaceFile(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// replaceFile writes a file that the user named, whole or not at all. A file of
// this user is replaced; a link, a pipe, a device or a file of another user that
// somebody put there is refused. The streams of this process, such as /dev/stdout,
// are written to.
func replaceFile(path string, write func(io.Writer) error) error {
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

// isStream tells whether a path names what this process holds open, or nothing.
func isStream(path string) bool {
	switch folder, name := filepath.Split(filepath.Clean(path)); folder {
	case "/dev/":
		return name == "stdout" || name == "stderr" || name == "null" || name == "tty"
	case "/dev/fd/", "/proc/self/fd/":
		return true
	}
	return false
}

// writeInto writes to what exists.
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

// checkPrivateOut refuses a name for a private file that is there already and is a
// device, a pipe or a link, which a whole file would replace and others may read, or
// one of the files that are read.
func checkPrivateOut(out string, read ...string) error {
	info, err := os.Lstat(out)
	if err != nil {
		return nil // a new file
	}
	if !info.Mode().IsRegular() {
		return usagef("--out: %s is no regular file; name one that is its owner's alone", out)
	}
	for _, path := range read {
		if other, err := os.Stat(path); err == nil && os.SameFile(info, other) {
			return usagef("--out: %s is what is read; name another file", out)
		}
	}
	return nil
}

// tablePaths are the names of n files of tables: out itself when n is 1, else
// out with -1 to -n before its extension. An out without extension gets that of
// the format. It reports an extension that is no format.
func tablePaths(out, format string, n int) ([]string, error) {
	if out == "" {
		return nil, nil
	}
	if filepath.Ext(out) == "" && format != "" {
		out += "." + format
	}
	if _, err := export.FormatOf(out); err != nil {
		return nil, usagef("--out: %w", err)
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

// writeTable writes a table to a path of tablePaths, whole or not at all.
func writeTable(path string, t simulate.Table, privacy string, metadata map[string]string) error {
	format, err := export.FormatOf(path)
	if err != nil {
		return usagef("--out: %w", err)
	}
	var b bytes.Buffer
	if err := export.Write(&b, format, t, export.Options{Privacy: privacy, Metadata: metadata}); err != nil {
		return failWith(statusNumeric, err)
	}
	if err := writeOut(path, b.Bytes()); err != nil {
		return failWith(statusNumeric, fmt.Errorf("--out: %w", err))
	}
	return nil
}

// written is the JSON form of a command that wrote files.
type written struct {
	Out   string   `json:"out"`
	Files []string `json:"files"` // in the folder out; empty when out is a file
}

// writeFiles writes one file to stdout, or to out; several into the folder out,
// which must not exist.
func (a *app) writeFiles(files []release.File, folder bool, out string) error {
	result := written{Out: out, Files: []string{}}
	switch {
	case out == "" && a.json && !strings.HasSuffix(files[0].Name, ".json"):
		return usagef("--json needs --out: %s is no JSON", files[0].Name)
	case folder:
		if err := release.WriteFiles(out, files); err != nil {
			return failWith(statusNumeric, fmt.Errorf("--out: %w", err))
		}
		for _, f := range files {
			result.Files = append(result.Files, f.Name)
		}
	case out == "":
		return failWith(statusNumeric, files[0].Write(a.out))
	default:
		if err := replaceFile(out, files[0].Write); err != nil {
			return failWith(statusNumeric, fmt.Errorf("--out: %w", err))
		}
	}
	a.notef("%s: written", out)
	return a.result(result, func(io.Writer) {})
}
