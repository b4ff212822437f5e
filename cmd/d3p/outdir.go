package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"d3p/internal/fit"
	"d3p/internal/report"
	"d3p/internal/wholefile"
)

// runFolder is OUT: release/ may be published, private/ must not be.
type runFolder struct{ path string }

// newRunFolder creates OUT with an empty private/ (mode 0700). path must not
// exist, or hold no more than the data check of a run that spent nothing; ""
// takes the first free d3p-run-NAME-1, -2, ... in the working directory.
// Creating the folder is the reservation: two fits never share one.
func newRunFolder(path, model string) (runFolder, error) {
	if path != "" {
		err := os.Mkdir(path, 0o755)
		switch {
		case errors.Is(err, fs.ErrExist) && spentNothing(path):
			return runFolder{path}, nil
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
			return runFolder{}, failWith(statusNumeric, fmt.Errorf("no folder for the results: %w (--out FOLDER names one elsewhere)", err))
		}
	}
}

// spentNothing tells whether a folder was left by a run that failed while
// reading the data, before any mechanism ran.
func spentNothing(path string) bool {
	outer, err := os.ReadDir(path)
	if err != nil || len(outer) != 1 || outer[0].Name() != "private" {
		return false
	}
	inner, err := os.ReadDir(filepath.Join(path, "private"))
	return err == nil && len(inner) == 1 && inner[0].Name() == "datacheck.json"
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

// name is the folder's name, without where it is.
func (r runFolder) name() string { return filepath.Base(r.path) }

// discard removes a run folder in which nothing was spent yet.
func (r runFolder) discard() { os.RemoveAll(r.path) }

// The private files, besides datacheck.json of the curator.
const (
	jobFile        = "run.json"
	ledgerFile     = "ledger.json"
	checkpointFile = "checkpoint.json"
	spaceFile      = "space" // keeps room for the release while the fit runs
	lockFile       = "lock"  // locked by the d3p that works in the folder
)

// prepare writes the job and takes the disk space that the release will need,
// so that a full disk is found before privacy is spent.
func (r runFolder) prepare(j job, bytes int64) error {
	if err := r.write(jobFile, j); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(r.private(), spaceFile), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return failWith(statusNumeric, err)
	}
	block := make([]byte, 1<<16)
	for at := int64(0); at < bytes && err == nil; at += int64(len(block)) {
		_, err = f.Write(block)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return failWith(statusNumeric, fmt.Errorf("no room for the results, %d MiB: %w (nothing was spent)", bytes>>20+1, fileError(r.path, err)))
	}
	return nil
}

// giveSpaceBack frees what prepare took.
func (r runFolder) giveSpaceBack() { os.Remove(filepath.Join(r.private(), spaceFile)) }

// keepDataCheck leaves of a run that failed while reading the data what its
// message points to.
func (r runFolder) keepDataCheck() {
	r.giveSpaceBack()
	os.Remove(filepath.Join(r.private(), jobFile))
	os.Remove(filepath.Join(r.private(), lockFile))
	if err := os.Remove(r.private()); err == nil { // there was no data check
		os.Remove(r.path)
	}
}

// privateJSON is a JSON file of private/.
type privateJSON struct {
	Privacy string `json:"privacy"` // always NOT_PROTECTED
	Content any    `json:"content"`
}

// write writes v as JSON into private/, whole or not at all, mode 0600.
func (r runFolder) write(name string, v any) error {
	var b bytes.Buffer
	encode := report.WriteJSON
	if name == checkpointFile { // of a network millions of numbers, which nobody reads
		encode = func(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
	}
	if err := encode(&b, privateJSON{report.NotProtected, v}); err != nil {
		return failWith(statusNumeric, fmt.Errorf("%s: %w", name, err))
	}
	if err := wholefile.Write(filepath.Join(r.private(), name), b.Bytes(), 0o600); err != nil {
		return failWith(statusNumeric, fmt.Errorf("private/%s: %w", name, err))
	}
	return nil
}

// stoppedFit reads the job and the checkpoint of a fit that was stopped.
func (r runFolder) stoppedFit() (j job, checkpoint fit.Checkpoint, err error) {
	if err := r.read(jobFile, &j); err != nil {
		return j, checkpoint, err
	}
	var raw json.RawMessage
	if err := r.read(checkpointFile, &raw); err != nil {
		return j, checkpoint, err
	}
	checkpoint, err = fit.ReadCheckpoint(bytes.NewReader(raw))
	return j, checkpoint, err
}

// read reads what write wrote.
func (r runFolder) read(name string, v any) error {
	raw, err := os.ReadFile(filepath.Join(r.private(), name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &privateJSON{Content: v}); err != nil {
		return fmt.Errorf("private/%s: %w", name, err)
	}
	return nil
}
