package privacy

import (
	"sync"

	"d3p/internal/privacy/noise"
)

// manyNumbers is the least sum, in numbers, whose noise is worth a second
// thread: it takes two nanoseconds a number.
const manyNumbers = 1 << 16

// gaussian adds the noise of a step to sums, on as many threads as the engine
// uses. A stream's noise depends on the place in the sum alone, so that the
// number of threads changes no bit.
type gaussian struct {
	stream *noise.Stream
	parts  []*gaussianPart // of the other threads
	group  sync.WaitGroup
}

// A gaussianPart is what one other thread does, made once so that a step
// allocates nothing.
type gaussianPart struct {
	stream      *noise.Stream // a clone
	x           []float64
	step, block uint64
	sigma       float64
	run         func()
}

// newGaussian uses the threads of an engine that says how many it has, else one.
func newGaussian(stream *noise.Stream, e Engine) *gaussian {
	g := &gaussian{stream: stream}
	threads := 1
	if e, ok := e.(interface{ Threads() int }); ok {
		threads = e.Threads()
	}
	for range threads - 1 {
		p := &gaussianPart{stream: stream.Clone()}
		p.run = func() {
			p.stream.SeekBlock(p.step, p.block)
			p.stream.AddGaussian(p.x, p.sigma)
			g.group.Done()
		}
		g.parts = append(g.parts, p)
	}
	return g
}

// add sets x to the lattice points nearest to x + sigma·N(0, I).
func (g *gaussian) add(x []float64, step uint64, sigma float64) {
	own := x
	if pieces := 1 + len(g.parts); pieces > 1 && len(x) >= manyNumbers {
		start := func(k int) int { return len(x) * k / pieces &^ 15 }
		own = x[:start(1)]
		for k, p := range g.parts {
			low, high := start(k+1), len(x)
			if k+2 < pieces {
				high = start(k + 2)
			}
			// sixteen normals take eight blocks of the stream
			p.x, p.step, p.block, p.sigma = x[low:high], step, uint64(low/2), sigma
			g.group.Add(1)
			go p.run()
		}
	}
	g.stream.Seek(step)
	g.stream.AddGaussian(own, sigma)
	g.group.Wait()
}

// wipe overwrites the keys.
func (g *gaussian) wipe() {
	g.stream.Wipe()
	for _, p := range g.parts {
		p.stream.Wipe()
	}
}
