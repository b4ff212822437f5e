//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package wholefile

import (
	"errors"
	"os"
)

func lockFile(*os.File, bool) error { return errors.ErrUnsupported }
