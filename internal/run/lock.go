package run

import (
	"errors"
	"time"

	"d3p/internal/atomicfile"
	"d3p/internal/status"
)

// lockPatience is the time to wait for another d3p to leave a run's folder.
const lockPatience = time.Second

// lock makes this process the only one that works in the folder, until unlock or the end of
// the process, even if killed. It locks a new folder at the first try, however busy the
// machine is. On a file system without locks it does nothing.
func (r folder) lock() (unlock func(), err error) {
	for started := time.Now(); ; time.Sleep(lockPatience / 50) {
		unlock, err := atomicfile.Lock(r.root, inPrivate(lockFile), false)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return func() {}, nil
		case !errors.Is(err, atomicfile.ErrLocked):
			return unlock, status.With(status.Usage, err)
		case time.Since(started) > lockPatience:
			return nil, status.Usagef("%s: another d3p works in it; wait until that has ended", r.path)
		}
	}
}
