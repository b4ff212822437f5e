package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// runFolder is OUT: release/ may be published, private/ must not be.
type runFolder struct{ path string }

// newRunFolder creates OUT with an empty private/ (mode 0700). path must not
// exist; "" takes the first free d3p-run-NAME-1, -2, ... in the working
// directory. Creating it is the reservation: two fits never share a folder.
func newRunFolder(path, model string) (runFolder, error) {
	if path != "" {
		err := os.Mkdir(path, 0o755)
		switch {
		case errors.Is(err, fs.ErrExist):
			return runFolder{}, usagef("--out: %s exists; results are never overwritten, name a new folder", path)
		case errors.Is(err, fs.ErrNotExist):
			return runFolder{}, usagef("--out: no folder %s to create %s in", filepath.Dir(path), filepath.Base(path))
		case err != nil:
			return runFolder{}, failWith(statusNumeric, fmt.Errorf("--out: %w", err))
		}
		return privateFolder(path)
	}
	for n := 1; ; n++ {
		path := fmt.Sprintf("d3p-run-%s-%d", model, n)
		switch err := os.Mkdir(path, 0o755); {
		case err == nil:
			return privateFolder(path)
		case !errors.Is(err, fs.ErrExist):
			return runFolder{}, failWith(statusNumeric, fmt.Errorf("no folder for the results: %w", err))
		}
	}
}

func privateFolder(path string) (runFolder, error) {
	r := runFolder{path}
	if err := os.Mkdir(r.private(), 0o700); err != nil {
		os.Remove(path)
		return runFolder{}, failWith(statusNumeric, fmt.Errorf("no folder for private files: %w", err))
	}
	return r, nil
}

func (r runFolder) release() string { return filepath.Join(r.path, "release") }
func (r runFolder) private() string { return filepath.Join(r.path, "private") }

// discard removes a run folder in which nothing was spent yet.
func (r runFolder) discard() { os.RemoveAll(r.path) }
