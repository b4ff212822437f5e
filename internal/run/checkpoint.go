package run

import (
	"cmp"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"d3p/internal/fit"
)

const (
	defaultCheckpointEvery = 60 // s
	// checkpointShare bounds the time for checkpoints: one part in checkpointShare.
	checkpointShare = 50
)

// observer reports the progress of a fit, and from time to time writes a checkpoint into
// private/, so that a killed fit can be resumed. The steps after the last checkpoint are
// lost; none of their numbers was released.
type observer struct {
	folder folder
	host   Host
	rate   float64 // of sampling
	every  time.Duration
	ended  func() // called after the last step; nil: not
	due    atomic.Bool
	timer  *time.Timer
}

// newObserver starts the clock of the first checkpoint.
func newObserver(r Run) *observer {
	seconds := cmp.Or(r.Job.CheckpointEvery, defaultCheckpointEvery)
	o := &observer{folder: r.folder, host: r.Host, rate: r.Plan.SamplingRate, every: time.Duration(seconds) * time.Second}
	if r.Ranks.Several() {
		o.ended = r.Ranks.inStep.ended
	}
	o.timer = time.AfterFunc(o.every, func() { o.due.Store(true) })
	return o
}

// Step implements fit.Observer.
func (o *observer) Step(t, steps int, epsilonSpent func() float64) {
	if o.host.Step != nil {
		o.host.Step(t, steps, o.rate, epsilonSpent)
	}
	if t == steps && o.ended != nil {
		o.ended()
	}
}

// Keep implements fit.Checkpointer. A fit continues if a checkpoint cannot be written.
func (o *observer) Keep(checkpoint func() (fit.Checkpoint, error), now bool) {
	if !o.due.Load() && !now {
		return
	}
	started := time.Now()
	state, err := checkpoint()
	if err == nil {
		err = o.folder.write(checkpointFile, state)
	}
	var infinite *json.UnsupportedValueError // by the iterates: a message would show it before the fit ends (claim 9)
	if err != nil && !errors.As(err, &infinite) {
		o.host.Notef("no checkpoint: %v (the fit continues)", err)
	}
	o.due.Store(false)
	o.timer.Reset(max(o.every, checkpointShare*time.Since(started)))
}

// stop ends the clock.
func (o *observer) stop() { o.timer.Stop() }
