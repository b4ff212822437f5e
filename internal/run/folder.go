package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"d3p/internal/atomicfile"
	"d3p/internal/fit"
	"d3p/internal/jsonfile"
	"d3p/internal/privacy"
	"d3p/internal/report"
	"d3p/internal/status"
)

// folder is OUT: release/ may be published, private/ must not be. root is a handle on the
// folder, whatever path means later: all writing goes through it.
type folder struct {
	path string
	root *os.Root
	made bool // by this process
}

// newFolder creates OUT with an empty private/ (mode 0700). path must be free, or an empty
// folder of this user's alone, or hold nothing but the data check of a run that spent
// nothing. "" takes the first free d3p-run-NAME-1, -2, ... in the working directory.
// Creating private/ is the reservation: two fits never share one.
func newFolder(path, model string) (folder, error) {
	if path != "" {
		if err := atomicfile.CheckParents(path); err != nil {
			return folder{}, status.Usagef("--out: %w", err)
		}
		err := os.Mkdir(path, 0o755)
		switch {
		case errors.Is(err, fs.ErrExist):
			return takeFolder(path)
		case errors.Is(err, fs.ErrNotExist):
			return folder{}, status.Usagef("--out: no folder %s to create %s in (mkdir -p %[1]s makes it)", filepath.Dir(path), filepath.Base(path))
		case err != nil:
			return folder{}, status.With(status.Numeric, fmt.Errorf("--out: %w", err))
		}
		return madeFolder(path)
	}
	if err := atomicfile.CheckParents("d3p-run"); err != nil {
		return folder{}, status.Usagef("no folder for the results: %w", err)
	}
	for n := 1; ; n++ {
		path := fmt.Sprintf("d3p-run-%s-%d", model, n)
		switch err := os.Mkdir(path, 0o755); {
		case err == nil:
			return madeFolder(path)
		case !errors.Is(err, fs.ErrExist):
			return folder{}, status.With(status.Numeric, fmt.Errorf("no folder for the results: %w (--out FOLDER names one elsewhere)", err))
		}
	}
}

// madeFolder is the folder that was just made at path, unless another has replaced it.
func madeFolder(path string) (folder, error) {
	r, err := openOwn(path)
	if err != nil {
		return folder{}, status.Usagef("--out: %s %w", path, err)
	}
	r.made = true
	if left := r.entries("."); len(left) > 0 {
		r.close()
		return folder{}, status.Usagef("--out: %s was filled by another program (name a new folder)", path)
	}
	return r.withPrivate()
}

// takeFolder is a folder that exists.
func takeFolder(path string) (folder, error) {
	if info, err := os.Lstat(path); err != nil || !info.IsDir() && info.Mode()&fs.ModeSymlink == 0 {
		return folder{}, status.Usagef("--out: %s exists; results are never overwritten, name a new folder", path)
	}
	r, err := openOwn(path)
	if err != nil {
		return folder{}, status.Usagef("--out: %s exists and %w; name a new folder", path, err)
	}
	switch outer := r.entries("."); {
	case len(outer) == 0:
		return r.withPrivate()
	case r.spentNothing(outer):
		return r, nil
	}
	r.close()
	return folder{}, status.Usagef("--out: %s exists; results are never overwritten, name a new folder", path)
}

// openOwn opens a folder that only this user may change: no link, no other owner, not
// writable by others.
func openOwn(path string) (folder, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return folder{}, errors.Unwrap(err)
	}
	if err := atomicfile.CheckOwn(before, 0o022); err != nil {
		return folder{}, err
	}
	if !before.IsDir() {
		return folder{}, errors.New("is no folder")
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return folder{}, errors.Unwrap(err)
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(before, opened) || atomicfile.CheckOwn(opened, 0o022) != nil {
		root.Close()
		return folder{}, errors.New("was replaced while it was opened")
	}
	return folder{path: path, root: root}, nil
}

// openFolder opens the folder of a run that exists, to write there. Its private/ must
// be for this user's eyes alone.
func openFolder(path string) (folder, error) {
	r, err := openOwn(path)
	if errors.Is(err, fs.ErrNotExist) {
		return folder{}, status.Usagef("%s holds no fit: there is no such folder", path)
	}
	if err != nil {
		return folder{}, status.Usagef("%s %w; a run is continued in its own folder, by its owner", path, err)
	}
	info, err := r.root.Lstat(privateName)
	if err != nil {
		r.close()
		return folder{}, status.Usagef("%s holds no fit", path)
	}
	if err := atomicfile.CheckOwn(info, 0o077); err != nil || !info.IsDir() {
		r.close()
		return folder{}, status.Usagef("%s %w; it must be a folder of its owner alone (chmod 700 %[1]s)", r.private(), err)
	}
	return r, nil
}

// entries are the names in a folder of r.
func (r folder) entries(name string) []fs.DirEntry {
	entries, err := fs.ReadDir(r.root.FS(), name)
	if err != nil {
		return []fs.DirEntry{nil} // not known to be empty
	}
	return entries
}

// spentNothing reports whether a folder with these entries is from a run that failed
// while reading the data, before any mechanism ran.
func (r folder) spentNothing(outer []fs.DirEntry) bool {
	if len(outer) != 1 || outer[0] == nil || outer[0].Name() != privateName {
		return false
	}
	folder, err := r.root.Lstat(privateName)
	if err != nil || !folder.IsDir() || atomicfile.CheckOwn(folder, 0o077) != nil {
		return false
	}
	inner := r.entries(privateName)
	if len(inner) != 1 || inner[0] == nil || inner[0].Name() != privacy.DataCheckName {
		return false
	}
	check, err := inner[0].Info()
	return err == nil && check.Mode().IsRegular() && atomicfile.CheckOwn(check, 0o077) == nil
}

// withPrivate makes private/.
func (r folder) withPrivate() (folder, error) {
	if err := r.root.Mkdir(privateName, 0o700); err != nil {
		r.discard()
		return folder{}, status.With(status.Numeric, fmt.Errorf("no folder for private files: %w", err))
	}
	return r, nil
}

func (r folder) release() string { return filepath.Join(r.path, releaseName) }
func (r folder) private() string { return filepath.Join(r.path, privateName) }

// released reports whether there is a release.
func (r folder) released() bool {
	_, err := r.root.Lstat(releaseName)
	return err == nil
}

// name is the last element of the folder's path.
func (r folder) name() string { return filepath.Base(r.path) }

// close gives the handle on the folder back.
func (r folder) close() { r.root.Close() }

// discard removes the files of this run, which has spent nothing.
func (r folder) discard() {
	r.root.RemoveAll(privateName)
	r.removeIfMade()
}

// removeIfMade removes the empty folder that newFolder made.
func (r folder) removeIfMade() {
	own, err := r.root.Stat(".")
	r.close()
	if there, gone := os.Lstat(r.path); r.made && err == nil && gone == nil && os.SameFile(own, there) {
		os.Remove(r.path) // fails unless it is empty
	}
}

// The folders and the private files, besides the data check of the curator.
const (
	releaseName    = "release"
	privateName    = "private"
	jobFile        = "run.json"
	ledgerFile     = "ledger.json"
	checkpointFile = "checkpoint.json"
	spaceFile      = "space" // keeps room for the release while the fit runs
	lockFile       = "lock"  // locked by the d3p that works in the folder
)

// Names of files in the folder of a run.
const (
	JobName    = privateName + "/" + jobFile
	LedgerName = privateName + "/" + ledgerFile
)

// inPrivate is the name of a private file below root.
func inPrivate(name string) string { return privateName + "/" + name }

// remove removes a private file.
func (r folder) remove(name string) { r.root.Remove(inPrivate(name)) }

// prepare writes the job and takes the disk space that the release will need,
// so that a full disk is found before privacy is spent.
func (r folder) prepare(j Job, bytes int64) error {
	if err := r.write(jobFile, j); err != nil {
		return err
	}
	r.remove(spaceFile) // of a fit that was killed
	f, err := r.root.OpenFile(inPrivate(spaceFile), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return status.With(status.Numeric, err)
	}
	block := make([]byte, 1<<16)
	for at := int64(0); at < bytes && err == nil; at += int64(len(block)) {
		_, err = f.Write(block)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return status.With(status.Numeric, fmt.Errorf("no room for the results, %d MiB: %w (nothing was spent)", bytes>>20+1, atomicfile.Named(r.path, err)))
	}
	return nil
}

// giveSpaceBack frees the space that prepare took.
func (r folder) giveSpaceBack() { r.remove(spaceFile) }

// keepDataCheck keeps, of a run that failed while reading the data, the file that its
// message points to.
func (r folder) keepDataCheck() {
	r.giveSpaceBack()
	r.remove(jobFile)
	r.remove(lockFile)
	if err := r.root.Remove(privateName); err == nil { // there was no data check
		r.removeIfMade()
	}
}

// privateJSON is a JSON file of private/.
type privateJSON struct {
	Privacy string `json:"privacy"` // always NOT_PROTECTED
	Content any    `json:"content"`
}

// write writes v as JSON into private/, whole or not at all, mode 0600.
func (r folder) write(name string, v any) error {
	var b bytes.Buffer
	encode := jsonfile.Write
	if name == checkpointFile { // for a network it has millions of numbers, for no reader
		encode = func(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
	}
	if err := encode(&b, privateJSON{report.NotProtected, v}); err != nil {
		return status.With(status.Numeric, fmt.Errorf("%s: %w", name, err))
	}
	err := atomicfile.WriteIn(r.root, inPrivate(name), 0o600, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
	if err != nil {
		return status.With(status.Numeric, fmt.Errorf("private/%s: %w", name, err))
	}
	return nil
}

// stoppedFit reads the job and the checkpoint of a fit that was stopped.
func (r folder) stoppedFit() (j Job, checkpoint fit.Checkpoint, err error) {
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

// read reads the output of write.
func (r folder) read(name string, v any) error {
	raw, err := atomicfile.Read(r.root, inPrivate(name), mostPrivate)
	if err != nil {
		return err
	}
	decode := jsonfile.Strict
	if name == checkpointFile { // this user wrote the file, however long it is
		decode = json.Unmarshal
	}
	if err := decode(raw, &privateJSON{Content: v}); err != nil {
		return fmt.Errorf("private/%s: %w", name, err)
	}
	return nil
}

// mostPrivate bounds a private file that is read, in bytes.
const mostPrivate = 1 << 36
