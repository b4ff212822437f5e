//go:build !unix

package wholefile

// syncFolder does nothing: folders cannot be opened here, and the file system
// keeps a journal of its names.
func syncFolder(string) error { return nil }
