package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"d3p/internal/atomicfile"
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
		return fmt.Errorf("no folder %s to write %s in", filepath.Dir(path), filepath.Base(path))
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
