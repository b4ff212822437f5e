package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrLocked says that another process has a lock.
var ErrLocked = errors.New("another process has the lock")

// Lock locks the file name of folder, which it makes, mode 0600, until unlock or
// the end of the process, however that comes. Without wait, a lock that another
// process has is ErrLocked. What is there and is no file of its own, such as a
// link, is an error. On a file system without locks: errors.ErrUnsupported.
func Lock(folder *os.Root, name string, wait bool) (unlock func(), err error) {
	for {
		f, err := folder.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			if f, err = openPlain(folder, name); errors.Is(err, os.ErrNotExist) {
				continue // it was removed in between
			}
		}
		if err != nil {
			return nil, named(filepath.Join(folder.Name(), name), err)
		}
		if err := lockFile(f, wait); err != nil {
			f.Close()
			return nil, err
		}
		// Who had the lock may have removed the file: then this is a lock on nothing.
		locked, err := f.Stat()
		there, gone := folder.Lstat(name)
		if err == nil && gone == nil && os.SameFile(locked, there) {
			return func() { f.Close() }, nil
		}
		f.Close()
	}
}

// openPlain opens a regular file that is there.
func openPlain(folder *os.Root, name string) (*os.File, error) {
	before, err := folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, &os.PathError{Op: "open", Path: name, Err: errors.New("is no regular file (remove it)")}
	}
	f, err := folder.OpenFile(name, os.O_RDWR|NonBlocking, 0)
	if err != nil {
		return nil, err
	}
	if after, err := f.Stat(); err != nil || !os.SameFile(before, after) {
		f.Close()
		return nil, errors.Join(err, fmt.Errorf("%s was replaced while it was opened (try again)", name))
	}
	return f, nil
}
