package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckParents refuses a path when anybody may rename a folder on the way to it:
// one that is writable by all and lacks the sticky bit. The folders are those
// that the path names and those that its links lead to.
func CheckParents(path string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	named := filepath.Dir(absolute)
	if err := checkWay(named); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(named); err == nil && real != named {
		return checkWay(real)
	}
	return nil
}

// checkWay looks at a folder and all that it is in.
func checkWay(folder string) error {
	for {
		info, err := os.Stat(folder)
		if err != nil {
			return nil // the next use of the path reports it
		}
		if OpenTo(info, 0o002) && info.Mode()&fs.ModeSticky == 0 {
			return fmt.Errorf("everybody may rename what is in %s (chmod o-w or chmod +t it, or name another folder)", folder)
		}
		above := filepath.Dir(folder)
		if above == folder {
			return nil
		}
		folder = above
	}
}

// CheckOwn refuses a file or folder that is not this user's alone to change: of
// another owner, or with any permission of mask.
func CheckOwn(info fs.FileInfo, mask fs.FileMode) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("is a link")
	case !Mine(info):
		return fmt.Errorf("belongs to another user")
	case OpenTo(info, mask):
		return fmt.Errorf("is open to others (mode %04o)", info.Mode().Perm())
	}
	return nil
}
