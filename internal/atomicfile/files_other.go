//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
)

// NonBlocking is nothing: there are no pipes among files here.
const NonBlocking = 0

// SyncFolder does nothing: folders cannot be opened here, and the file system
// keeps a journal of its names.
func SyncFolder(*os.Root, string) error { return nil }

// Mine is true: who owns a file is not asked for here.
func Mine(fs.FileInfo) bool { return true }

// OpenTo is false: modes mean nothing here.
func OpenTo(fs.FileInfo, fs.FileMode) bool { return false }
