package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// pool runs the pieces of one job on a fixed set of threads; the caller is one of them. A
// free thread claims the next piece, so a descheduled thread delays only its own piece.
// Waiting threads spin for a counted number of turns, then sleep. A time limit instead of
// the count would fail: a descheduled thread would find its time over whenever it woke.
type pool struct {
	work func(thread, piece int) // of the present job
	// claims packs the number of pieces (high 32 bits) and of claimed pieces (low 32 bits)
	// in one word, so that a claim belongs to its job.
	claims atomic.Uint64
	done   atomic.Int64 // pieces finished

	mu      sync.Mutex
	wake    *sync.Cond // claims or closing changed
	closing atomic.Bool
}

// spins is the number of times that a waiting worker looks for a job before it sleeps.
const spins = 1 << 16

func newPool(threads int) *pool {
	p := &pool{}
	p.wake = sync.NewCond(&p.mu)
	for t := 1; t < threads; t++ {
		go p.worker(t)
	}
	return p
}

// run does the pieces 0..n-1 of work and returns when all are finished. Calls must
// not overlap.
func (p *pool) run(n int, work func(thread, piece int)) {
	p.done.Store(0)
	p.mu.Lock()
	p.work = work // before the claims, which other threads see first
	p.claims.Store(uint64(n) << 32)
	p.mu.Unlock()
	p.wake.Broadcast()
	for p.claim(0) {
	}
	for p.done.Load() < int64(n) {
		runtime.Gosched()
	}
}

// claim does one piece, and returns false if none is left.
func (p *pool) claim(thread int) bool {
	for {
		c := p.claims.Load()
		if uint32(c) >= uint32(c>>32) {
			return false
		}
		if p.claims.CompareAndSwap(c, c+1) {
			p.work(thread, int(uint32(c)))
			p.done.Add(1)
			return true
		}
	}
}

// waiting reports whether no piece is left to claim.
func (p *pool) waiting() bool {
	c := p.claims.Load()
	return uint32(c) >= uint32(c>>32) && !p.closing.Load()
}

func (p *pool) worker(thread int) {
	for !p.closing.Load() {
		for p.claim(thread) {
		}
		for turn := 0; turn < spins && p.waiting(); turn++ {
		}
		p.mu.Lock()
		for p.waiting() {
			p.wake.Wait()
		}
		p.mu.Unlock()
	}
}

// close ends the workers.
func (p *pool) close() {
	p.mu.Lock()
	p.closing.Store(true)
	p.mu.Unlock()
	p.wake.Broadcast()
}
