package gpu

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"
)

// A gathering lets the steps of several workers, those of fits side by side, be
// taken in one launch. The first worker that has steps to take waits until all
// have some, but not for long, and launches those of all that came.
type gathering struct {
	mu       sync.Mutex
	expected int // workers that take steps by themselves
	waiting  []*launch
	full     chan struct{} // of the first one that waits
	took     time.Duration // the last launch
	runs     address       // room for MostTogether of struct run, while workers are expected
}

// MostTogether is the most fits whose steps are taken in one launch.
const MostTogether = 256

// A launch is one worker's part in one.
type launch struct {
	w    *worker
	done chan error // of those that are not the first
}

// leastPatience is how long a worker waits for others at least. It waits as long
// as the last launch took, so that waiting costs at most as much as that.
const leastPatience = 2 * time.Millisecond

// expect counts a worker that takes steps by itself. The engine's turn is held.
func (e *Engine) expect() error {
	g := &e.gathering
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.expected == 0 {
		at, err := e.driver.alloc(MostTogether * int64(unsafe.Sizeof(run{})))
		if err != nil {
			return err
		}
		g.runs = at
	}
	g.expected++
	return nil
}

// unexpect says that one of them is closed.
func (e *Engine) unexpect() error {
	g := &e.gathering
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expected--
	g.tell()
	if g.expected > 0 {
		return nil
	}
	return e.driver.release(g.runs)
}

// tell wakes the first one that waits when all have come.
func (g *gathering) tell() {
	if len(g.waiting) > 0 && len(g.waiting) >= g.expected {
		select {
		case g.full <- struct{}{}:
		default: // it knows
		}
	}
}

// launchSteps runs the steps in w's box together with those of others.
func (e *Engine) launchSteps(w *worker) error {
	g := &e.gathering
	l := &launch{w, make(chan error, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, l)
	first, patience := len(g.waiting) == 1, max(g.took, e.patience)
	if first {
		g.full = make(chan struct{}, 1)
	}
	full := g.full
	g.tell()
	g.mu.Unlock()
	if !first {
		return <-l.done
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-full:
	case <-timer.C:
	}
	e.turn.Lock()
	defer e.turn.Unlock()
	g.mu.Lock()
	all := g.waiting
	g.waiting = nil
	g.mu.Unlock()
	err := e.driver.enter()
	if err == nil {
		for some := range slices.Chunk(all, MostTogether) {
			err = errors.Join(err, e.launchTogether(some))
		}
		e.driver.leave()
	}
	for _, l := range all {
		l.done <- err
	}
	return err
}

// launchTogether sends the boxes, runs the steps and fetches the boxes.
func (e *Engine) launchTogether(all []*launch) error {
	start := time.Now()
	d, list, slots := e.driver, make([]run, len(all)), 1
	most := all[0].w.stepping.blocks
	for i, l := range all {
		st := l.w.stepping
		if err := st.send(d); err != nil {
			return err
		}
		list[i] = st.run
		slots = max(slots, int(st.run.tape.slots))
		if st.run.tape.wide > 0 {
			slots = most
		}
	}
	if err := d.upload(e.gathering.runs, unsafe.Pointer(&list[0]), int64(len(list))*int64(unsafe.Sizeof(run{}))); err != nil {
		return err
	}
	args := &runs{runs: e.gathering.runs, blocks: int32(min(slots, max(1, most/len(all))))}
	launch, blocks := d.launch, int(args.blocks)*len(all)
	if args.blocks > 1 { // blocks wait for others
		launch = d.launchTogether
	}
	if err := launch(stepsKernel, blocks, unsafe.Pointer(args)); err != nil {
		return err
	}
	for _, l := range all {
		if err := l.w.stepping.box.fetch(d); err != nil {
			return err
		}
	}
	runtime.KeepAlive(list)
	e.gathering.mu.Lock()
	e.gathering.took = time.Since(start)
	e.gathering.mu.Unlock()
	return nil
}
