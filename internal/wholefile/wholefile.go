// Package wholefile writes a file whole or not at all.
package wholefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes content the content of the file at path; see WriteWith.
func Write(path string, content []byte, perm os.FileMode) error {
	return WriteWith(path, perm, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteWith makes what write writes the content of the file at path, mode perm
// whatever the umask says. Readers, and a machine that loses power, see the old
// file or the new one and never a part: the content goes to a file beside it,
// which is brought to the disk and renamed. A symbolic link at path is replaced,
// not followed. An error leaves the old file as it was.
func WriteWith(path string, perm os.FileMode, write func(io.Writer) error) (err error) {
	folder := filepath.Dir(path)
	f, err := os.CreateTemp(folder, "."+filepath.Base(path)+"-*")
	var failed *fs.PathError
	if errors.As(err, &failed) { // of a name that nobody has heard of
		failed.Path = path
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(perm), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(folder)
}
