package main

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// lockPatience is how long to wait for another d3p to leave a run's folder.
const lockPatience = time.Second

// lock makes this process the only one that works in the folder, until unlock or
// its end, however that comes. On a file system without locks it does nothing.
func (r runFolder) lock() (unlock func(), err error) {
	type answer struct {
		unlock func()
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		unlock, err := lockedfile.MutexAt(filepath.Join(r.private(), lockFile)).Lock()
		answers <- answer{unlock, err}
	}()
	select {
	case got := <-answers:
		if errors.Is(got.err, errors.ErrUnsupported) {
			return func() {}, nil
		}
		return got.unlock, failWith(statusUsage, got.err)
	case <-time.After(lockPatience):
		return nil, usagef("%s: another d3p works in it; wait until that has ended", r.path)
	}
}
