package gpu

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"d3p/internal/privacy"
)

// worker runs one tape on one table.
type worker struct {
	engine *Engine
	p      *program
	memory memory
	table  table
	part   part

	args   *arguments // in shared memory, as all that is copied
	input  []float64  // parameters, then noise of the step
	output []float64  // sum, then count
	have   slotMemory

	keys     address                    // see setKey
	keyed    bool                       // there are keys on the device
	keysSent *[keyCount * keyBytes]byte // zero between calls; memory of its own, for cgo

	together int       // blocks that can work on a wide tape
	stepping *stepping // after Prepare
	expected bool      // expected to take further steps without a call: see jointLaunch
}

// slotMemory is the size in bytes of the slots, large enough for every batch so
// far.
type slotMemory struct{ lanes, partial, counts int64 }

// open allocates the memory that does not depend on the batch, and sends the program and,
// if it fits, the table.
func (w *worker) open() error {
	t := w.p.tape
	shared, err := w.memory.shared(int64(unsafe.Sizeof(arguments{})))
	if err != nil {
		return err
	}
	w.args = (*arguments)(shared)
	*w.args = arguments{}
	if w.input, err = sharedFloats(&w.memory, t.P+t.AuxGlobal); err != nil {
		return err
	}
	if w.output, err = sharedFloats(&w.memory, t.P+1); err != nil {
		return err
	}
	if err := w.p.send(&w.memory, w.args); err != nil {
		return err
	}
	at, err := w.memory.alloc(8 * int64(len(w.input)))
	if err != nil {
		return err
	}
	w.args.parameters, w.args.aux = at, at+address(8*t.P)
	if at, err = w.memory.alloc(8 * int64(len(w.output))); err != nil {
		return err
	}
	w.args.sum, w.args.count = at, at+address(8*t.P)
	if w.args.waiting, err = store(&w.memory, make([]uint32, 1)); err != nil {
		return err
	}
	if w.keys, err = store(&w.memory, make([]byte, keyCount*keyBytes)); err != nil {
		return err
	}
	if w.args.wide = int32(w.p.wide()); w.args.wide > 0 {
		if w.together, err = w.engine.driver.together(globalsKernel, recordsKernel); err != nil {
			return err
		}
	}
	return w.openTable()
}

func sharedFloats(m *memory, n int) ([]float64, error) {
	p, err := m.shared(8 * int64(n))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*float64)(p), n), nil
}

// ClippedSum implements privacy.Worker.
func (w *worker) ClippedSum(dst []float64, in privacy.StepInput, batch []uint32, all bool, clip privacy.Clip) (float64, error) {
	t := w.p.tape
	if len(dst) != t.P || len(in.Params) != t.P || len(in.Aux) != t.AuxGlobal {
		panic(fmt.Sprintf("gpu: sum, parameters and noise of length %d, %d, %d, want %d, %d, %d",
			len(dst), len(in.Params), len(in.Aux), t.P, t.P, t.AuxGlobal))
	}
	size := len(batch)
	if all {
		size = w.table.rows.N
	}
	if size == 0 {
		clear(dst)
		return 0, nil
	}
	if !all {
		if k := slices.Max(batch); int(k) >= w.table.rows.N { // kernels do not check
			panic("gpu: a batch has a record that the table has not")
		}
	}
	w.engine.turn.Lock()
	defer w.engine.turn.Unlock()
	if err := w.engine.driver.enter(); err != nil {
		return 0, err
	}
	defer w.engine.driver.leave()
	w.engine.joint.expect(w, false)
	if err := cmp.Or(w.run(in, batch, size, all, clip), w.forgetKeys()); err != nil {
		return 0, w.engine.explain(err, w)
	}
	copy(dst, w.output)
	return w.output[t.P], nil
}

// run leaves the sum and the count in w.output.
func (w *worker) run(in privacy.StepInput, batch []uint32, size int, all bool, clip privacy.Clip) error {
	a, d := w.args, w.engine.driver
	if err := w.prepare(size, clip); err != nil {
		return err
	}
	copy(w.input, in.Params)
	copy(w.input[w.p.tape.P:], in.Aux)
	if err := d.upload(a.parameters, unsafe.Pointer(&w.input[0]), 8*int64(len(w.input))); err != nil {
		return err
	}
	a.step = uint64(in.Step)
	if err := w.setRecordKey(in.RecordNoise); err != nil {
		return err
	}
	if len(w.p.global) > 0 || a.noiseKeys != 0 {
		if err := w.launch(globalsKernel, 1); err != nil {
			return err
		}
	}
	a.fresh = 1
	part := w.part.records / int(a.chunk) * int(a.chunk) // chunks are not cut
	for first := 0; first < size; first += part {
		n := min(part, size-first)
		if err := w.sendPart(batch, first, n, all); err != nil {
			return err
		}
		if err := w.launch(recordsKernel, int(a.slots)); err != nil {
			return err
		}
		a.fresh = 0
	}
	if err := d.launch(finishKernel, (len(w.output)+blockThreads-1)/blockThreads, unsafe.Pointer(a)); err != nil {
		return err
	}
	return read(d, unsafe.Pointer(&w.output[0]), a.sum, 8*int64(len(w.output)))
}

// launch runs a kernel on `blocks` blocks; for a wide tape on all blocks that can work
// together.
func (w *worker) launch(k kernel, blocks int) error {
	d := w.engine.driver
	if w.args.wide == 0 {
		return d.launch(k, blocks, unsafe.Pointer(w.args))
	}
	return d.launchTogether(k, w.together, unsafe.Pointer(w.args))
}

// prepare sets the arguments about the batch as a whole and makes room for its slots.
func (w *worker) prepare(size int, clip privacy.Clip) error {
	n, slots, need := w.p.slotsOf(size)
	w.args.chunk, w.args.slots = int32(n), int32(slots)
	w.args.setClip(clip)
	return w.makeRoom(need, w.grow)
}

func (a *arguments) setClip(clip privacy.Clip) {
	a.clipKind, a.clipNorm, a.clipGamma = clipKinds[clip.Kind], clip.Norm, clip.Gamma
}

// slotsOf is how a batch is cut, and the memory that it takes.
func (p *program) slotsOf(size int) (chunk, slots int, need slotMemory) {
	chunk = p.chunk(size)
	slots = p.slots(size, chunk)
	return chunk, slots, slotMemory{
		lanes:   8 * int64(slots) * int64(p.lanesPerRecord()) * int64(min(chunk, max(size, chunkUnit))),
		partial: 8 * int64(slots) * int64(p.tape.P),
		counts:  8 * int64(slots),
	}
}

// with is the memory that is enough for both.
func (m slotMemory) with(n slotMemory) slotMemory {
	return slotMemory{max(m.lanes, n.lanes), max(m.partial, n.partial), max(m.counts, n.counts)}
}

// makeRoom makes the memory of the slots at least as large, by grow or replace.
func (w *worker) makeRoom(need slotMemory, larger func(at *address, have *int64, need int64) error) error {
	a := w.args
	if err := larger(&a.lanes, &w.have.lanes, need.lanes); err != nil {
		return err
	}
	if err := larger(&a.partial, &w.have.partial, need.partial); err != nil {
		return err
	}
	return larger(&a.counts, &w.have.counts, need.counts)
}

var clipKinds = map[privacy.ClipKind]int32{privacy.Flat: clipFlat, privacy.Automatic: clipAutomatic, privacy.Unclipped: clipNone}

// replace is grow for memory that a waiting launch may use: it frees the old memory
// only after it has larger memory in its place.
func (w *worker) replace(at *address, have *int64, need int64) error {
	if need <= *have {
		return nil
	}
	larger, err := w.memory.alloc(need)
	if err != nil {
		return err
	}
	old, bytes := *at, *have
	*at, *have = larger, need
	if bytes == 0 {
		return nil
	}
	return w.memory.release(old, bytes)
}

// grow replaces memory of the device that is too small.
func (w *worker) grow(at *address, have *int64, need int64) error {
	if need <= *have {
		return nil
	}
	if *have > 0 {
		if err := w.memory.release(*at, *have); err != nil {
			return err
		}
		*have = 0
	}
	grown, err := w.memory.alloc(need)
	if err != nil {
		return err
	}
	*at, *have = grown, need
	return nil
}

// Close implements privacy.Worker.
func (w *worker) Close() error {
	return w.engine.exclusively(func() error {
		err := w.releaseAll()
		if w.stepping != nil {
			w.stepping.wipe()
			err = cmp.Or(w.stepping.broken, err, w.engine.leave(w))
		}
		return err
	})
}

// releaseAll frees the worker's memory on the device.
func (w *worker) releaseAll() error {
	err := w.memory.releaseAll()
	if w.table.resident {
		w.table.resident = false
		err = cmp.Or(err, w.engine.letGo(w.table.rows))
	}
	return err
}

var _ privacy.Worker = (*worker)(nil)
