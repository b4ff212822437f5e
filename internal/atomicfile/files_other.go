//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
)

// nonBlocking is 0: these systems have no pipes among files.
const nonBlocking = 0

// SyncFolder does nothing: these systems cannot open folders, and their file systems keep a
// journal of names.
func SyncFolder(*os.Root, string) error { return nil }

// Mine is true: the owner of a file is not checked on these systems.
func Mine(fs.FileInfo) bool { return true }

// openTo is false: modes have no meaning on these systems.
func openTo(fs.FileInfo, fs.FileMode) bool { return false }
