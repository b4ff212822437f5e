package gpu

import (
	"errors"
	"unsafe"

	"d3p/internal/privacy"
)

// prepareSteps makes room for n steps and lays out the box.
func (w *worker) prepareSteps(in privacy.StepsInput) error {
	st := w.stepping
	r := &st.run
	slots := 0
	for k := range in.N {
		size := w.table.rows.N
		if in.Offsets != nil {
			size = int(in.Offsets[k+1] - in.Offsets[k])
		} else if k > 0 {
			break
		}
		if err := w.prepare(size, in.Clip); err != nil {
			return err
		}
		slots = max(slots, int(w.args.slots))
	}
	w.args.slots = int32(slots)
	r.tape = *w.args
	r.tape.table, r.tape.valid, r.tape.first = w.table.numbers, w.table.valid, 0
	r.gradientNoise, r.countNoise, r.countTarget, r.widened = in.GradientNoise, in.CountNoise, in.CountTarget, in.Widened
	r.steps, r.firstStep = int32(in.N), int64(in.First)
	r.keptCount = int32(len(in.Kept) / in.N)
	sum, count := w.wordsPerStep(in)
	r.wordCount = int32(sum + count)
	records := in.N * w.table.rows.N
	if in.Offsets != nil {
		records = len(in.Places)
	}
	b := &st.box
	b.used = 0
	st.inputs = reserve[float64](b, len(in.Inputs))
	st.words = reserve[uint64](b, in.N*(sum+count))
	st.drawn = reserve[float64](b, records*w.p.tape.AuxRecord)
	st.offsets = reserve[int64](b, len(in.Offsets))
	st.places = reserve[uint32](b, len(in.Places))
	b.back = b.used
	st.status = reserve[status](b, 1)
	st.state = reserve[float64](b, len(in.State))
	b.sent = b.used
	st.kept = reserve[float64](b, len(in.Kept))
	if err := b.grow(w); err != nil {
		return err
	}
	r.inputs, r.words, r.drawn, r.places, r.kept = st.inputs.on(b), st.words.on(b), st.drawn.on(b), st.places.on(b), st.kept.on(b)
	if r.offsets = 0; in.Offsets != nil {
		r.offsets = st.offsets.on(b)
	}
	r.status, r.state = st.status.on(b), st.state.on(b)
	r.unresolved = r.status + 16
	r.tape.parameters = r.propose.globals
	return nil
}

// wordsPerStep is how many random words the noise of a step takes: of the sum,
// unless it is long, and of the count.
func (w *worker) wordsPerStep(in privacy.StepsInput) (sum, count int) {
	if P := w.p.tape.P; P <= w.engine.mostWords {
		sum = (P + normalGroup - 1) / normalGroup * normalGroup
	}
	if in.CountNoise != 0 {
		count = normalGroup
	}
	return sum, count
}

// fillBox copies to the box, or makes in it, what the steps depend on.
func (w *worker) fillBox(in privacy.StepsInput) {
	st := w.stepping
	b := &st.box
	copy(st.inputs.in(b), in.Inputs)
	copy(st.offsets.in(b), in.Offsets)
	copy(st.places.in(b), in.Places)
	copy(st.state.in(b), in.State)
	st.status.in(b)[0] = status{}
	w.drawWords(st.words.in(b), in)
	w.drawRecords(st.drawn.in(b), in)
}

// drawWords makes the random words of the noise of all steps.
func (w *worker) drawWords(words []uint64, in privacy.StepsInput) {
	sum, count := w.wordsPerStep(in)
	for k := range in.N {
		step := words[k*(sum+count):][:sum+count]
		if sum > 0 {
			in.Sum.Seek(uint64(in.First + k))
			in.Sum.Words64(step[:sum])
		}
		if count > 0 {
			in.Count.Seek(uint64(in.First + k))
			in.Count.Words64(step[sum:])
		}
	}
}

// drawRecords makes the noise of all batches' records.
func (w *worker) drawRecords(drawn []float64, in privacy.StepsInput) {
	k := w.p.tape.AuxRecord
	if k == 0 {
		return
	}
	if w.noise == nil {
		w.noise = in.RecordNoise.Clone()
	}
	for step := range in.N {
		n := k * w.table.rows.N
		if in.Offsets != nil {
			n = k * int(in.Offsets[step+1]-in.Offsets[step])
		}
		w.noise.Seek(uint64(in.First + step))
		w.noise.Normals(drawn[:n])
		drawn = drawn[n:]
	}
}

// setKey sends the key of the sum's noise, from which the device makes the words,
// if the sum is long.
func (w *worker) setKey(in privacy.StepsInput) error {
	r, d := &w.stepping.run, w.engine.driver
	if r.key = 0; w.p.tape.P <= w.engine.mostWords {
		return nil
	}
	r.key = w.stepping.key
	key := in.Sum.Key()
	err := errors.Join(d.upload(r.key, unsafe.Pointer(&key[0]), 32), d.wait())
	clear(key[:])
	return err
}

// forgetKey overwrites the key on the device, and what was made of it.
func (w *worker) forgetKey() error {
	r, d := &w.stepping.run, w.engine.driver
	if r.key == 0 {
		return nil
	}
	nothing := new([keyWords]uint32)
	return errors.Join(d.upload(r.key, unsafe.Pointer(nothing), 4*keyWords), d.wait())
}
