package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckParents refuses a path if any user may rename a folder on the way to it: one that is
// writable by all and lacks the sticky bit. It checks the folders of the path and of the
// targets of links in it.
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

// checkWay checks a folder and all folders above it.
func checkWay(folder string) error {
	for {
		info, err := os.Stat(folder)
		if err != nil {
			return nil // the next user of the path reports it
		}
		if openTo(info, 0o002) && info.Mode()&fs.ModeSticky == 0 {
			return fmt.Errorf("every user may rename files in %s (chmod o-w or chmod +t it, or name another folder)", folder)
		}
		above := filepath.Dir(folder)
		if above == folder {
			return nil
		}
		folder = above
	}
}

// CheckOwn refuses a file or folder that other users can change: of another owner, or with
// any permission of mask.
func CheckOwn(info fs.FileInfo, mask fs.FileMode) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("is a link")
	case !Mine(info):
		return fmt.Errorf("belongs to another user")
	case openTo(info, mask):
		return fmt.Errorf("is open to others (mode %04o)", info.Mode().Perm())
	}
	return nil
}
