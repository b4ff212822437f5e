package gpu

import (
	"slices"
	"sync"

	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// stepInputs holds the inputs of some steps: public inputs, batches, and random words. Two
// of them take turns: several threads fill one while the device takes the steps of the
// other.
type stepInputs struct {
	stagingBuffer
	first, n int // steps of the call
	all      bool
	slots    int
	batches  [][]uint32 // of each thread's steps, one after the other
	starts   []int64    // of the steps' batches among all

	inputs  bufferPart[float64]
	words   bufferPart[uint64]
	offsets bufferPart[int64]
	places  bufferPart[uint32]
	tables  bufferPart[uint16] // of a network
}

// streams are one thread's copies of the streams of noise.
type streams struct{ sum, count *noise.Stream }

// stepInputs has at most inputSteps steps and about inputBytes bytes: enough steps that a
// launch is a small part of the time, and few enough that the device does not wait long
// for the first inputs.
const (
	inputSteps = 512
	inputBytes = 4 << 20
)

// stepsPerLaunch is how many steps of a call are sent and launched at a time.
func (w *worker) stepsPerLaunch(in privacy.StepsInput) int {
	sum, count := w.wordsPerStep(in)
	bytes := 8 * float64(len(in.Inputs)/in.N+len(in.Kept)/in.N+sum+count)
	if in.Networks == nil {
		if _, all := in.Draw(0, in.First, nil); !all {
			bytes += 4 * in.Rate * float64(w.table.rows.N)
		}
	}
	return max(1, min(in.N, w.engine.inputSteps, int(inputBytes/(1+bytes))))
}

// fill draws the batches of n steps from the first on, and fills f.
func (w *worker) fill(f *stepInputs, in privacy.StepsInput, first, n int) error {
	f.first, f.n = first, min(n, in.N-first)
	need := w.drawBatches(f, in)
	w.layOut(f, in)
	if !f.fits() || w.have.with(need) != w.have {
		err := w.engine.exclusively(func() error {
			if err := f.grow(w); err != nil {
				return err
			}
			return w.makeRoom(need, w.replace)
		})
		if err != nil {
			return err
		}
	}
	inputs := len(in.Inputs) / in.N
	copy(f.inputs.in(&f.stagingBuffer), in.Inputs[first*inputs:])
	copy(f.offsets.in(&f.stagingBuffer), f.starts)
	f.share(in.Threads, func(thread, low, high int) {
		if !f.all && in.Networks == nil {
			copy(f.places.in(&f.stagingBuffer)[f.starts[low]:], f.batches[thread])
		}
		w.fillWords(f, in, &w.stepping.streams[thread], low, high)
	})
	return nil
}

// share calls work for each thread's range of f's steps at the same time.
func (f *stepInputs) share(threads int, work func(thread, low, high int)) {
	var wait sync.WaitGroup
	for thread := range threads - 1 {
		wait.Go(func() { work(thread, thread*f.n/threads, (thread+1)*f.n/threads) })
	}
	work(threads-1, (threads-1)*f.n/threads, f.n)
	wait.Wait()
}

// drawBatches draws the batches and returns the memory of their slots.
func (w *worker) drawBatches(f *stepInputs, in privacy.StepsInput) (need slotMemory) {
	f.starts = slices.Grow(f.starts[:0], f.n+1)[:f.n+1]
	f.starts[0] = 0
	f.batches = slices.Grow(f.batches, in.Threads)[:in.Threads]
	every := make([]bool, in.Threads)
	f.share(in.Threads, func(thread, low, high int) {
		own := f.batches[thread][:0]
		for k := low; k < high; k++ {
			if in.Networks != nil {
				f.starts[k+1] = int64(in.Networks[thread].Size(in.First + f.first + k))
				continue
			}
			batch, all := in.Draw(thread, in.First+f.first+k, own[len(own):])
			every[thread] = all
			f.starts[k+1] = int64(len(batch))
			own = append(own, batch...) // most often to where it is
		}
		f.batches[thread] = own
	})
	f.all, f.slots = every[in.Threads-1], 0
	for k := range f.n {
		size := int(f.starts[k+1])
		if f.all {
			size = w.table.rows.N
		}
		f.starts[k+1] = f.starts[k] + int64(size)
		_, slots, memory := w.p.slotsOf(size)
		f.slots, need = max(f.slots, slots), need.with(memory)
	}
	return need
}

// layOut sets the places of f's parts in its staging buffer. Behind what is sent is room
// for a step's batch and tables, which the device makes.
func (w *worker) layOut(f *stepInputs, in privacy.StepsInput) {
	places, offsets := int(f.starts[f.n]), f.n+1
	if f.all {
		places, offsets = 0, 0
	}
	sum, count := w.wordsPerStep(in)
	b := &f.stagingBuffer
	b.used = 0
	f.inputs = reserve[float64](b, f.n*(len(in.Inputs)/in.N))
	f.words = reserve[uint64](b, f.n*(sum+count))
	f.offsets = reserve[int64](b, offsets)
	if in.Networks == nil {
		f.places = reserve[uint32](b, places)
		b.sent = b.used
		return
	}
	b.sent = b.used
	most := int64(0)
	for k := range f.n {
		most = max(most, f.starts[k+1]-f.starts[k])
	}
	f.places = reserve[uint32](b, int(most)) // of one step
	f.tables = reserve[uint16](b, in.Networks[0].Words)
}

// openStreams makes the threads' copies.
func (st *stepping) openStreams(in privacy.StepsInput) {
	for range in.Threads - len(st.streams) {
		st.streams = append(st.streams, streams{sum: in.Sum.Clone(), count: in.Count.Clone()})
	}
}

// wipe gives the copies up.
func (st *stepping) wipe() {
	for _, s := range st.streams {
		s.sum.Wipe()
		s.count.Wipe()
	}
}
