//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package atomicfile

import (
	"errors"
	"os"
)

func lockFile(*os.File, bool) error { return errors.ErrUnsupported }
