// Package atomicfile writes a file whole or not at all, and only into the given folder: it
// neither follows nor writes to planted links and files.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Write makes content the content of the file at path; see WriteWith.
func Write(path string, content []byte, perm os.FileMode) error {
	return WriteWith(path, perm, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteWith is WriteIn in the folder of path.
func WriteWith(path string, perm os.FileMode, write func(io.Writer) error) error {
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return named(path, err)
	}
	defer folder.Close()
	return WriteIn(folder, filepath.Base(path), perm, write)
}

// WriteIn makes the output of write the content of a file in folder, with mode perm under
// any umask. Readers see the old file or the new one and never a part, also after a loss of
// power: the content goes to a new file beside it, which is synced and renamed. WriteIn
// replaces a link or a pipe of that name and does not follow it. An error leaves the old
// file as it was.
func WriteIn(folder *os.Root, name string, perm os.FileMode, write func(io.Writer) error) (err error) {
	within, base := path.Split(name)
	temporary := within + "." + base + "-" + rand.Text()
	f, err := folder.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil { // the error names a temporary file
		return named(filepath.Join(folder.Name(), name), err)
	}
	defer func() {
		if err != nil {
			folder.Remove(temporary)
		}
	}()
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(perm), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := folder.Rename(temporary, name); err != nil {
		return named(filepath.Join(folder.Name(), name), err)
	}
	return SyncFolder(folder, path.Clean(within))
}

// CleanUp removes what calls of WriteIn for this file left when they were killed. The caller has
// locked the file: no other program writes it.
func CleanUp(folder *os.Root, name string) {
	within, base := path.Split(name)
	entries, _ := fs.ReadDir(folder.FS(), path.Clean("./"+within))
	for _, e := range entries {
		if left, ok := strings.CutPrefix(e.Name(), "."+base+"-"); ok && len(left) == len(rand.Text()) && e.Type().IsRegular() {
			folder.Remove(within + e.Name())
		}
	}
}

// named replaces the file name in an error by the caller's name.
func named(path string, err error) error {
	var failed *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &failed):
		return &fs.PathError{Op: failed.Op, Path: path, Err: failed.Err}
	case errors.As(err, &link):
		return &fs.PathError{Op: link.Op, Path: path, Err: link.Err}
	}
	return err
}
