package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// ErrLocked: another process has the lock.
var ErrLocked = errors.New("another process has the lock")

// Lock locks the file name of folder, which it makes, mode 0600, until unlock or any end
// of the process. Without wait, a lock that another process has is ErrLocked. A link, or
// another thing that is no file of this user, is an error. On a file system without
// locks: errors.ErrUnsupported.
func Lock(folder *os.Root, name string, wait bool) (unlock func(), err error) {
	for {
		f, err := folder.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			if f, _, err = openOnce(folder, name, os.O_RDWR); errors.Is(err, os.ErrNotExist) || errors.Is(err, errReplaced) {
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
