package main

import (
	"sync/atomic"
	"time"

	"d3p/internal/fit"
)

const (
	defaultCheckpointEvery = 60 // s
	// keeperShare bounds the time that goes into checkpoints: 1 part in so many.
	keeperShare = 50
)

// keeper watches a fit: it shows the progress, and from time to time writes a
// checkpoint into private/, so that a fit that is killed can be resumed. What was
// computed after the last checkpoint is lost unseen: no number of it was released.
type keeper struct {
	*progress
	folder runFolder
	every  time.Duration
	notef  func(format string, args ...any)
	due    atomic.Bool
	timer  *time.Timer
}

// newKeeper starts the clock of the first checkpoint, due after so many seconds;
// 0 takes the default.
func (a *app) newKeeper(folder runFolder, seconds int) *keeper {
	if seconds == 0 {
		seconds = defaultCheckpointEvery
	}
	k := &keeper{progress: a.newProgress(), folder: folder, every: time.Duration(seconds) * time.Second, notef: a.notef}
	k.timer = time.AfterFunc(k.every, func() { k.due.Store(true) })
	return k
}

// Keep implements fit.Keeper. That a checkpoint cannot be written is no reason to
// end a fit that goes well.
func (k *keeper) Keep(checkpoint func() (fit.Checkpoint, error)) {
	if !k.due.Load() {
		return
	}
	started := time.Now()
	state, err := checkpoint()
	if err == nil {
		err = k.folder.write(checkpointFile, state)
	}
	if err != nil {
		k.notef("no checkpoint: %v (the fit goes on)", err)
	}
	k.due.Store(false)
	k.timer.Reset(max(k.every, keeperShare*time.Since(started)))
}

// stop ends the clock.
func (k *keeper) stop() { k.timer.Stop() }
