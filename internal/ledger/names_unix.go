//go:build unix

package ledger

import (
	"os"
	"syscall"
)

// namesOf is the number of hard links of a file.
func namesOf(path string) (int, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink), nil
	}
	return 1, nil
}
