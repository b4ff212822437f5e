//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile

import (
	"os"
	"syscall"
)

func lockFile(f *os.File, wait bool) error {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), how); err {
		case nil:
			return nil
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return ErrLocked
		default:
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}
