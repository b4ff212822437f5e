package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// OpenRegular opens the regular file name below folder; its path may have no links. It
// refuses a device, which may have no end, and a pipe, which may have no other end.
func OpenRegular(folder *os.Root, name string) (*os.File, fs.FileInfo, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, nil, refused(name, "is no path below the folder")
	}
	for at := range name {
		if name[at] != '/' {
			continue
		}
		if info, err := folder.Lstat(name[:at]); err != nil {
			return nil, nil, err
		} else if !info.IsDir() {
			return nil, nil, refused(name[:at], "is no folder")
		}
	}
	for range mostReplaced {
		f, info, err := openOnce(folder, name, os.O_RDONLY)
		if !errors.Is(err, errReplaced) {
			return f, info, err
		}
	}
	return nil, nil, &fs.PathError{Op: "open", Path: name, Err: errReplaced}
}

// errReplaced means that another file has replaced the checked one. Every fit replaces its
// ledger, so the caller tries again.
var errReplaced = errors.New("was replaced while it was opened (try again)")

// mostReplaced bounds how often in a row another process may replace a file while it is
// opened.
const mostReplaced = 10000

// openOnce opens the regular file name of folder, and checks that it opened the file it
// looked at.
func openOnce(folder *os.Root, name string, flag int) (*os.File, fs.FileInfo, error) {
	before, err := folder.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, refused(name, "is no regular file")
	}
	f, err := folder.OpenFile(name, flag|nonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errReplaced
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, after, nil
}

// Read reads a file of at most most bytes through OpenRegular.
func Read(folder *os.Root, name string, most int64) ([]byte, error) {
	f, info, err := OpenRegular(folder, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > most {
		return nil, refused(name, fmt.Sprintf("has %d bytes, more than the %d that are read", info.Size(), most))
	}
	content := make([]byte, info.Size())
	if _, err := io.ReadFull(f, content); err != nil {
		return nil, refused(name, "became shorter while it was read")
	}
	return content, nil
}

// refused is an error about a file of a folder.
func refused(name, why string) error {
	return &fs.PathError{Op: "open", Path: name, Err: errors.New(why)}
}

// Named is err, about a file at path, with the path once in front.
func Named(path string, err error) error {
	if strings.HasPrefix(err.Error(), path+":") {
		return err
	}
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
