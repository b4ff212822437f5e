package gpu

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"unsafe"
)

// A jointLaunch takes the steps of several workers, of fits side by side, in one launch.
// The launch waits for every worker that last called Prepare or Steps: its next call will
// be Steps, a single step or Close.
type jointLaunch struct {
	runs    address // room for MostTogether of struct run, while there are workers
	workers int     // that are prepared for steps

	mu       sync.Mutex
	expected int // workers that the launch waits for
	waiting  []*launch
	full     chan struct{} // closed when all have come
}

// MostTogether is the most fits whose steps are taken in one launch.
const MostTogether = 256

// A launch is one worker's part in one.
type launch struct {
	w    *worker
	done chan error
}

// join adds a worker that is prepared for steps. The engine's turn is held.
func (e *Engine) join(w *worker) error {
	g := &e.joint
	if g.workers == 0 {
		at, err := e.driver.alloc(MostTogether * int64(unsafe.Sizeof(run{})))
		if err != nil {
			return err
		}
		g.runs = at
	}
	g.workers++
	g.expect(w, true)
	return nil
}

// leave removes it when it is closed.
func (e *Engine) leave(w *worker) error {
	g := &e.joint
	g.expect(w, false)
	if g.workers--; g.workers > 0 {
		return nil
	}
	return e.driver.release(g.runs)
}

// expect sets whether the launch waits for a worker.
func (g *jointLaunch) expect(w *worker, yes bool) {
	if w.expected == yes {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	w.expected = yes
	if yes {
		g.expected++
		return
	}
	g.expected--
	g.tell()
}

// tell closes full when all have come.
func (g *jointLaunch) tell() {
	if len(g.waiting) > 0 && len(g.waiting) >= g.expected {
		select {
		case g.full <- struct{}{}:
		default: // it is closed already
		}
	}
}

// launchSteps runs the steps of w together with those of others, and returns when they
// are done.
func (e *Engine) launchSteps(w *worker) <-chan error {
	g := &e.joint
	l := &launch{w, make(chan error, 1)}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, l)
	if len(g.waiting) == 1 {
		g.full = make(chan struct{}, 1)
		go e.lead(g.full)
	}
	g.tell()
	return l.done
}

// lead launches what waits when all have come.
func (e *Engine) lead(full <-chan struct{}) {
	<-full
	e.turn.Lock()
	defer e.turn.Unlock()
	g := &e.joint
	g.mu.Lock()
	all := g.waiting
	g.waiting = nil
	g.mu.Unlock()
	err := e.driver.enter()
	if err == nil {
		for some := range slices.Chunk(all, MostTogether) {
			err = cmp.Or(err, e.launchTogether(some))
		}
		e.driver.leave()
	}
	for _, l := range all {
		l.done <- err
	}
}

// launchTogether sends the inputs, runs the steps and fetches the results.
func (e *Engine) launchTogether(all []*launch) error {
	d, list, slots := e.driver, make([]run, len(all)), 1
	most := all[0].w.stepping.blocks
	for i, l := range all {
		st := l.w.stepping
		if err := st.send(d); err != nil {
			return err
		}
		to := &st.run.tape // memory of slots: filling the next inputs may have made it larger
		to.lanes, to.partial, to.counts = l.w.args.lanes, l.w.args.partial, l.w.args.counts
		list[i] = st.run
		slots = max(slots, int(st.run.tape.slots)+1) // a block for what is not about records
		if st.run.tape.wide > 0 {
			slots = most
		}
	}
	if err := d.upload(e.joint.runs, unsafe.Pointer(&list[0]), int64(len(list))*int64(unsafe.Sizeof(run{}))); err != nil {
		return err
	}
	args := &runs{runs: e.joint.runs, blocks: int32(min(slots, max(1, most/len(all))))}
	launch, blocks := d.launch, int(args.blocks)*len(all)
	if args.blocks > 1 { // blocks wait for others
		launch = d.launchTogether
	}
	if err := launch(stepsKernel, blocks, unsafe.Pointer(args)); err != nil {
		return err
	}
	for _, l := range all {
		if err := l.w.stepping.fetch(d); err != nil {
			return err
		}
	}
	err := d.wait()
	runtime.KeepAlive(list)
	return err
}
