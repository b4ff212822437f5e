// Package cpu is the engine that runs tapes on the processor: a chunk of records at a time,
// one tight loop over the chunk per operation, without per-record gradients in memory. Data
// are float32 or float64 as the table stores them; results are float64.
//
// Letters: B records in a batch, n records in a chunk, P scalars in θ.
package cpu

import (
	"runtime"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// Options of the engine.
type Options struct {
	// Threads is the largest number of threads of a step; 0 is GOMAXPROCS. Small
	// steps use one thread. Results do not depend on it.
	Threads int
}

// Engine is the CPU engine.
type Engine struct{ threads int }

// New returns the CPU engine.
func New(opt Options) *Engine {
	threads := opt.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return &Engine{threads: threads}
}

// Name implements privacy.Engine.
func (e *Engine) Name() string { return "cpu" }

// Open implements privacy.Engine.
func (e *Engine) Open(t *graph.Tape, rows *privacy.Rows) (privacy.Worker, error) {
	p, err := compile(t)
	if err != nil {
		return nil, err
	}
	return newWorker(p, rows, e.threads), nil
}

var _ privacy.Engine = (*Engine)(nil)
