// Package wholefile writes a file whole or not at all.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write makes content the content of the file at path, mode perm whatever the
// umask says. Readers, and a machine that loses power, see the old file or the
// new one and never a part: content goes to a file beside it, which is brought to
// the disk and renamed. A symbolic link at path is replaced, not followed. An
// error leaves the old file as it was.
func Write(path string, content []byte, perm os.FileMode) (err error) {
	folder := filepath.Dir(path)
	f, err := os.CreateTemp(folder, "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(perm), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(folder)
}
