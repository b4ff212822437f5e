//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// nonBlocking opens a pipe without waiting for its other end.
const nonBlocking = syscall.O_NONBLOCK

// SyncFolder syncs the names in a folder of root, without which a rename may not survive a
// loss of power.
func SyncFolder(root *os.Root, name string) error {
	folder, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Mine reports whether a file belongs to the user of this process.
func Mine(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(s.Uid) == os.Geteuid()
}

// openTo reports whether a file's mode has any of the bits of mask.
func openTo(info fs.FileInfo, mask fs.FileMode) bool { return info.Mode().Perm()&mask != 0 }
