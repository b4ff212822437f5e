package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeOut writes a file that the user named; see replaceFile.
func writeOut(path string, content []byte) error {
	return replaceFile(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// replaceFile writes a file that the user named, whole or not at all: to a
// temporary sibling, which is renamed. What exists and is no regular file, such
// as /dev/null or a pipe, is written to and stays what it is.
func replaceFile(path string, write func(io.Writer) error) error {
	switch info, err := os.Stat(path); {
	case err != nil || info.Mode().IsRegular():
	case info.IsDir():
		return fmt.Errorf("%s is a folder; name a file", path)
	default:
		return writeInto(path, write)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".d3p-")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no folder %s to write %s in", filepath.Dir(path), filepath.Base(path))
	}
	if err != nil {
		return fileError(path, err)
	}
	defer os.Remove(f.Name()) // gone already when all went well
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync()); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
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
