//go:build unix

package wholefile

import (
	"errors"
	"os"
)

// syncFolder brings the names in a folder to the disk: a rename is not there for
// good before that.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
