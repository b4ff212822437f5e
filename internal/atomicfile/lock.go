package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// ErrLocked means that another process has the lock.
var ErrLocked = errors.New("another process has the lock")

// Lock creates the file name in folder, with mode 0600, and locks it until unlock or the
// end of the process. Without wait it returns ErrLocked if another process has the lock. It
// refuses a link and anything but a file of this user. On a file system without locks it
// returns errors.ErrUnsupported.
func Lock(folder *os.Root, name string, wait bool) (unlock func(), err error) {
	for {
		f, err := folder.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			if f, _, err = openOnce(folder, name, os.O_RDWR); errors.Is(err, os.ErrNotExist) || errors.Is(err, errReplaced) {
				continue // another process removed it in between
			}
		}
		if err != nil {
			return nil, named(filepath.Join(folder.Name(), name), err)
		}
		if err := lockFile(f, wait); err != nil {
			f.Close()
			return nil, err
		}
		// the process that had the lock may have removed the file: then this lock protects
		// nothing
		locked, err := f.Stat()
		there, gone := folder.Lstat(name)
		if err == nil && gone == nil && os.SameFile(locked, there) {
			return func() { f.Close() }, nil
		}
		f.Close()
	}
}
