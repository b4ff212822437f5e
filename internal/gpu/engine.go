// Package gpu is the engine that runs tapes on a CUDA device. The driver is
// loaded at run time, so that one binary serves machines with and without one;
// the kernels (kernel/, CUDA C++) are compiled to PTX beforehand and embedded.
// The same source compiles for one thread of plain C++, on which the tests run
// where there is no device. docs/design/gpu.md explains the design.
//
// Phases. A kernel is a sequence of phases. In a phase a team of threads shares out
// independent pieces of work; between phases it waits (team.h). A team is one thread, a
// block, or all blocks of a group. The shape of every sum depends on the data's shape only,
// so all teams compute the same bits, and the one-thread build is a bit-exact reference for
// the card (TestOnDeviceSameBits). device.h lists the dozen functions that stand for the
// machine. They exist for a card, for one thread (host.h), and for blocks of threads as
// fibers (fibers.h), whose order alternates, so a missing barrier changes bits. Package ptx
// translates the PTX to C++ for the same fibers.
//
// ClippedSum has at most four launches: parameters; chunks of the batch; the sum over
// chunks; the copy. For small models a block runs the tape on its chunks of 32 to 1,024
// records. For networks (16,384 products per record or more) all blocks share out each
// operation on one chunk of up to 4,096 records (cooperative launch). Barriers stand only
// before instructions that read or overwrite numbers of another thread. An element of a
// matrix product is the sum of 8 sums, one for each k mod 8, so its bits depend neither on
// the tile's size nor on the batch.
//
// Strands. The analyst's tapes for small models are long chains of instructions on few
// numbers, which most threads wait for. Parts of a chain that need nothing from each other
// run at the same time, each in warps of its own (strands.go). What needs no record, the
// prior's gradient, the noise's normals and a part of the analyst's work, is done by one
// block while others sum gradients (anticipate in kernel/step.h).
//
// Many steps in one launch. A launch or a copy takes longer than a step. So a session hands
// over many steps at once (privacy.Stepper): the batches, the streams of the noise, and the
// analyst's work between steps as three tapes, propose (state to θ), prior (θ to its
// gradient) and absorb (noisy sum to the next state). The kernel d3p_steps runs up to 512
// steps of up to MostTogether fits side by side; each fit has its own session, streams,
// ledger entry and end, and gets the same bits as alone (TestFitsSideBySide).
//
// Memory. The table goes to the card once if it fits beside the model's needs; otherwise
// the host sends the rows of each batch in parts, with the same results
// (TestPartsDoNotMatter). An error states the model's needs, never the table, whose size is
// secret. Without room for many steps in one launch, a fit takes them one at a time.
//
// Letters: B records in a batch, n records in a chunk, P scalars in θ.
package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// Options of an engine.
type Options struct {
	// MaxMemory bounds the device memory of one worker in bytes; 0 is nine tenths of the
	// free memory. A table that does not fit stays on the host, from where the records of
	// each batch are sent.
	MaxMemory int64
	// Turn is this process's place among those of the machine: they take turns with its
	// devices.
	Turn int
}

// device is the number of the device among `count`, Turn places behind n: the process that
// is r-th on its machine has the r-th device, and begins again where there are fewer.
func (o Options) device(n, count int) int {
	if count == 0 {
		return n
	}
	return n + o.Turn%count
}

// Engine runs tapes on one device. Workers of one engine may be used by several
// goroutines: they take turns, and steps that several of them take by themselves
// are taken at the same time.
type Engine struct {
	name       string
	driver     driver
	maxMemory  int64
	wideFrom   int64
	mostWords  int  // the length of a sum from which the device makes the words of its noise
	mostPart   int  // records in one launch
	inputSteps int  // steps in one launch
	saveEvery  int  // steps from one copy of a large state to the next
	keepsAll   bool // tables on the device, where there is room
	turn       sync.Mutex
	residents  map[*privacy.Rows]*resident
	joint      jointLaunch
}

func newEngine(name string, d driver, opt Options) *Engine {
	return &Engine{name: name, driver: d, maxMemory: opt.MaxMemory, wideFrom: wideProducts, mostWords: mostWords, mostPart: partRecords, inputSteps: inputSteps, saveEvery: saveEvery, keepsAll: true, residents: map[*privacy.Rows]*resident{}}
}

// Name implements privacy.Engine: "cuda:0".
func (e *Engine) Name() string { return e.name }

// Close gives the device up. Its workers are closed before.
func (e *Engine) Close() error { return e.driver.close() }

// Open implements privacy.Engine. An *UnsupportedError names the part of the tape that
// the kernels do not have; other errors are the device's, or state the memory that the
// model needs.
func (e *Engine) Open(t *graph.Tape, rows *privacy.Rows) (privacy.Worker, error) {
	p, err := compile(t, e.wideFrom)
	if err != nil {
		return nil, err
	}
	if int64(p.lanesPerRecord())*maxChunk > math.MaxInt32 {
		return nil, fmt.Errorf("gpu: %d numbers per record are more than the CUDA engine can keep (use --device cpu)", p.lanesPerRecord())
	}
	e.turn.Lock()
	defer e.turn.Unlock()
	if err := e.driver.enter(); err != nil {
		return nil, err
	}
	defer e.driver.leave()
	limit, err := e.limit()
	if err != nil {
		return nil, err
	}
	w := &worker{engine: e, p: p, table: table{rows: rows}, memory: memory{driver: e.driver, limit: limit}, keysSent: new([keyCount * keyBytes]byte)}
	if err := w.open(); err != nil {
		return nil, cmp.Or(e.explain(err, w), w.releaseAll())
	}
	return w, nil
}

// exclusively calls f while no other worker uses the device.
func (e *Engine) exclusively(f func() error) error {
	e.turn.Lock()
	defer e.turn.Unlock()
	if err := e.driver.enter(); err != nil {
		return err
	}
	defer e.driver.leave()
	return f()
}

// mostWords is the largest number of random words that the host sends to a device for one
// sum. For a longer sum the device gets the stream's key.
const mostWords = 1 << 14

// limit is the memory that a worker may use.
func (e *Engine) limit() (int64, error) {
	free, err := e.driver.free()
	if err != nil {
		return 0, err
	}
	limit := free / 10 * 9
	if e.maxMemory > 0 {
		limit = min(limit, e.maxMemory)
	}
	return limit, nil
}

// explain adds to a lack of memory the size that would fit. It names the model and the
// device only: the size of the table is secret, and a table that does not fit is no
// error.
func (e *Engine) explain(err error, w *worker) error {
	if !errors.Is(err, errNoMemory) {
		return err
	}
	row := int64(w.table.rows.Stride) * rowWidth(w.table.rows)
	return fmt.Errorf("%w on %s: %s may be used, and this model of %d parameters needs %s (raise --max-memory if it was set, or use --device cpu)",
		errNoMemory, e.name, megabytes(w.memory.limit), w.p.tape.P, megabytes(w.p.leastMemory(row)))
}

// megabytes prints bytes, rounded up.
func megabytes(bytes int64) string { return fmt.Sprintf("%d MB", (bytes+1<<20-1)>>20) }

var _ privacy.Engine = (*Engine)(nil)
