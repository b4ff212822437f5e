package privacy

import "d3p/internal/privacy/noise"

// gaussian adds the noise of a step to sums, on all threads that the worker lends. A
// stream's noise depends only on the place in the sum, so the number of threads changes no
// bit.
type gaussian struct {
	loops   *Loops
	streams []*noise.Stream             // of the threads: the first is the session's, the others clones
	piece   func(thread, low, high int) // addRange, made once

	x     []float64
	step  uint64
	clip  float64 // C
	sigma float64
}

func newGaussian(stream *noise.Stream, loops *Loops) *gaussian {
	g := &gaussian{loops: loops, streams: []*noise.Stream{stream}}
	for range loops.Threads() - 1 {
		g.streams = append(g.streams, stream.Clone())
	}
	g.piece = g.addRange
	return g
}

// add confines x, a sum of gradients clipped to C, and sets it to the lattice
// points nearest to x + sigma·N(0, I).
func (g *gaussian) add(x []float64, step uint64, clipNorm, sigma float64) {
	g.x, g.step, g.clip, g.sigma = x, step, clipNorm, sigma
	g.loops.Run(len(x), g.piece)
	g.x = nil
}

func (g *gaussian) addRange(thread, low, high int) {
	x, s := g.x[low:high], g.streams[thread]
	confine(x, g.clip)
	// sixteen normals take eight blocks of the stream
	s.SeekBlock(g.step, uint64(low/2))
	s.AddGaussian(x, g.sigma)
}

// wipe overwrites the keys.
func (g *gaussian) wipe() {
	for _, s := range g.streams {
		s.Wipe()
	}
}
