package sampler

// Prefetch draws batches a step early and fetches their records, so that the disk reads them
// while the step before runs. One goroutine takes them.
type Prefetch struct {
	sampler Sampler
	fetch   func(batch []uint32)
	last    int        // step after the last one
	want    chan int   // steps whose batches are still to be drawn
	drawn   chan batch // the oldest of them
	ended   chan struct{}
	at      int // the step that drawn has or will have
	spare   []uint32
}

type batch struct {
	records []uint32
	all     bool
}

// NewPrefetch draws the batches of steps first to last-1.
func NewPrefetch(s Sampler, fetch func([]uint32), first, last int) *Prefetch {
	a := &Prefetch{sampler: s, fetch: fetch, last: last, at: first, want: make(chan int, 1), drawn: make(chan batch, 1), ended: make(chan struct{})}
	go a.run()
	if first < last {
		a.want <- first
	}
	return a
}

func (a *Prefetch) run() {
	defer close(a.ended)
	for step := range a.want {
		var b batch
		b.records, b.all = a.sampler.Draw(step, a.spare)
		a.drawn <- b
		if !b.all {
			a.fetch(b.records)
		}
	}
}

// Take returns the batch of the next step and starts drawing the one after. before is
// memory that the caller no longer reads.
func (a *Prefetch) Take(before []uint32) (records []uint32, all bool) {
	b := <-a.drawn
	a.spare = before // seen by run, which now waits for a step or fetches
	if a.at++; a.at < a.last {
		a.want <- a.at
	}
	return b.records, b.all
}

// Close ends the drawing. It does nothing for nil.
func (a *Prefetch) Close() {
	if a != nil {
		close(a.want)
		<-a.ended
	}
}
