package gpu

import (
	"cmp"
	"errors"
	"unsafe"

	"d3p/internal/privacy"
)

// status is how a run ended, and in which quarters of the sum the host adds the
// noise: see kernel/run.h.
type status struct {
	done, why, unresolved, _ int32
	quarters                 [mostUnresolved]int32
}

// mostUnresolved is what kernel/run.h has; uncertainNoise one of its endings.
const (
	mostUnresolved = 64
	uncertainNoise = 1
)

// interrupted reports whether the host has to add noise before the steps continue. More
// numbers than the status can hold end the steps.
func (s *status) interrupted() bool {
	return s.why == uncertainNoise && s.unresolved <= mostUnresolved
}

// A block is memory that grows.
type block struct {
	at    address
	bytes int64
}

// Steps implements privacy.Stepper. The device takes some steps at a time, while the host
// makes the inputs of the next ones. If the memory beside the table is too small for
// that, Steps frees it and takes steps one at a time from then on: the size of the table
// depends on the records, so an error would reveal something about them. After an error
// in the middle Steps returns the steps before it, and the next call the error.
func (w *worker) Steps(in privacy.StepsInput) (int, error) {
	st := w.stepping
	if st.ended {
		return 0, privacy.ErrNotStepping
	}
	if st.broken != nil {
		return 0, st.broken
	}
	done, err := w.steps(in)
	if errors.Is(err, errNoMemory) {
		st.ended = true
		err = w.engine.exclusively(func() error {
			return cmp.Or(st.inputs[0].release(w), st.inputs[1].release(w), st.out.release(w))
		})
		if err == nil && done == 0 {
			return 0, privacy.ErrNotStepping
		}
	}
	if done > 0 {
		clear(in.Kept[done*(len(in.Kept)/in.N):]) // of steps that are given back
		st.broken, err = err, nil
	}
	return done, err
}

// steps is Steps where there is enough memory, but returns the error, too.
func (w *worker) steps(in privacy.StepsInput) (int, error) {
	err := w.engine.exclusively(func() error {
		w.engine.joint.expect(w, true)
		return cmp.Or(w.openCall(in), w.setKeys(in))
	})
	done := 0
	if err == nil {
		done, err = w.takeSteps(in)
	}
	return done, cmp.Or(err, w.engine.exclusively(w.forgetKeys))
}

// openCall lays out the results, and sends the state.
func (w *worker) openCall(in privacy.StepsInput) error {
	st := w.stepping
	b, r := &st.out, &st.run
	b.used = 0
	st.status = reserve[status](b, 1)
	st.inputSteps = w.stepsPerLaunch(in)
	st.kept = reserve[float64](b, len(in.Kept)/in.N*st.inputSteps)
	st.state = reserve[float64](b, len(in.State))
	if err := b.grow(w); err != nil {
		return err
	}
	copyNumbers(st.state.in(b), in.State)
	st.openStreams(in)
	r.status, r.kept, r.state = st.status.on(b), st.kept.on(b), st.state.on(b)
	r.unresolved = r.status + 16
	r.gradientNoise, r.countNoise, r.countTarget, r.widened = in.GradientNoise, in.CountNoise, in.CountTarget, in.Widened
	sum, count := w.wordsPerStep(in)
	r.wordCount, r.keptCount = int32(sum+count), int32(len(in.Kept)/in.N)
	return w.engine.driver.upload(r.state, unsafe.Pointer(&st.state.in(b)[0]), 8*int64(len(in.State)))
}

// takeSteps launches inputs after inputs, and each as often as the host has to add noise.
// After an error in.State is that after the `saved` first steps.
func (w *worker) takeSteps(in privacy.StepsInput) (saved int, err error) {
	st := w.stepping
	n, done := st.inputSteps, 0
	now, next := &st.inputs[0], &st.inputs[1]
	defer func() {
		now.forget()
		next.forget()
	}()
	if err := w.fill(now, in, 0, n); err != nil {
		return 0, err
	}
	for done < in.N {
		w.pointTo(now, in)
		taken := w.engine.launchSteps(w)
		more := done+now.n < in.N
		if more {
			err = w.fill(next, in, done+now.n, n)
		}
		err = cmp.Or(err, <-taken)
		if err == nil {
			err = w.resume(in, done)
		}
		if err != nil {
			return saved, err
		}
		steps, keptCount := int(st.status.in(&st.out)[0].done), int(st.run.keptCount)
		copy(in.Kept[done*keptCount:], st.kept.in(&st.out)[:steps*keptCount])
		done += steps
		if !more || steps < now.n {
			break
		}
		if st.fetchesState() || done-saved >= w.engine.saveEvery {
			if err := w.save(in); err != nil {
				return saved, err
			}
			saved = done
		}
		now, next = next, now
	}
	if done == 0 {
		return 0, nil
	}
	if err := w.save(in); err != nil {
		return saved, err
	}
	return done, nil
}

// resume continues a launch as often as it waits for noise of the host; `done` steps were
// taken before it.
func (w *worker) resume(in privacy.StepsInput, done int) error {
	st := w.stepping
	for s := &st.status.in(&st.out)[0]; s.interrupted(); {
		if err := w.engine.exclusively(func() error { return w.addExactNoise(in, s, done) }); err != nil {
			return err
		}
		st.run.first, st.run.resumes = s.done, 1
		if err := <-w.engine.launchSteps(w); err != nil {
			return err
		}
	}
	return nil
}

// saveEvery is after how many steps a call copies a state that not each launch returns:
// that of an autoencoder takes milliseconds.
const saveEvery = 256

// save copies the state to in.State.
func (w *worker) save(in privacy.StepsInput) error {
	st := w.stepping
	if !st.fetchesState() {
		err := w.engine.exclusively(func() error {
			return read(w.engine.driver, unsafe.Pointer(&st.state.in(&st.out)[0]), st.run.state, 8*int64(len(in.State)))
		})
		if err != nil {
			return err
		}
	}
	copyNumbers(in.State, st.state.in(&st.out))
	return nil
}

// pointTo points the run at step inputs.
func (w *worker) pointTo(f *stepInputs, in privacy.StepsInput) {
	r, b := &w.stepping.run, &f.stagingBuffer
	w.stepping.current = f
	r.tape = *w.args
	r.tape.setClip(in.Clip)
	r.tape.slots = int32(f.slots)
	r.tape.table, r.tape.valid, r.tape.first = w.table.numbers, w.table.valid, 0
	r.tape.parameters = r.propose.globals
	r.steps, r.firstStep = int32(f.n), int64(in.First+f.first)
	r.first, r.resumes = 0, 0
	r.inputs, r.words, r.places = f.inputs.on(b), f.words.on(b), f.places.on(b)
	if r.offsets = f.offsets.on(b); f.all {
		r.offsets = 0
	}
	if in.Networks != nil {
		r.network.tables = f.tables.on(b)
	}
}

// fetchesState reports whether each launch returns the state: a small state, in the same
// copy as the rest.
func (st *stepping) fetchesState() bool { return st.out.used <= 1<<16 }

// send sends the inputs of the steps, unless they resume.
func (st *stepping) send(d driver) error {
	if st.run.resumes != 0 {
		return nil
	}
	return st.current.send(d)
}

// fetch copies back the results of the steps.
func (st *stepping) fetch(d driver) error {
	if st.fetchesState() {
		return st.out.fetch(d, st.out.used)
	}
	return st.out.fetch(d, st.state.place)
}

// setKeys sends the keys from which the device makes words: of the sum's noise if the sum
// is long, of the records' noise, and of batches that a network draws.
func (w *worker) setKeys(in privacy.StepsInput) error {
	r := &w.stepping.run
	r.keys, r.network = 0, batchNetwork{}
	if w.p.tape.P > w.engine.mostWords {
		var err error
		if r.keys, err = w.setKey(sumKey, in.Sum); err != nil {
			return err
		}
	}
	if err := w.setRecordKey(in.RecordNoise); err != nil || in.Networks == nil {
		return err
	}
	n := in.Networks[0]
	if int(n.Records) != w.table.rows.N { // kernels do not check
		panic("gpu: a network is of another number of records")
	}
	keys, err := w.setKey(batchKey, n.Stream)
	r.network = batchNetwork{keys: keys, firstBlock: n.Block, left: uint16(n.Left), right: uint16(n.Right), blocks: int32(n.Words / 8)}
	return err
}
