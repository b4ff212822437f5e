package gpu

import (
	"errors"
	"slices"
	"unsafe"

	"d3p/internal/privacy"
)

// prepareSteps makes room for n steps and sends what they depend on.
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
	if err := w.grow(&st.kept.at, &st.kept.bytes, 8*int64(len(in.Kept))); err != nil {
		return err
	}
	w.drawWords(in)
	w.drawRecords(in)
	if err := w.sendSteps(in); err != nil {
		return err
	}
	r.inputs, r.words, r.drawn, r.places, r.offsets, r.kept = st.inputs.at, st.words.at, st.drawn.at, st.places.at, st.offsets.at, st.kept.at
	if in.Offsets == nil {
		r.offsets = 0
	}
	return nil
}

// drawWords makes the random words of the noise of all steps: for the sum unless
// it is long, then for the count.
func (w *worker) drawWords(in privacy.StepsInput) {
	st, sum, count := w.stepping, 0, 0
	if P := w.p.tape.P; P <= w.engine.mostWords {
		sum = (P + normalGroup - 1) / normalGroup * normalGroup
	}
	if in.CountNoise != 0 {
		count = normalGroup
	}
	st.run.wordCount = int32(sum + count)
	st.random = slices.Grow(st.random[:0], in.N*(sum+count))[:in.N*(sum+count)]
	for k := range in.N {
		words := st.random[k*(sum+count):][:sum+count]
		if sum > 0 {
			in.Sum.Seek(uint64(in.First + k))
			in.Sum.Words64(words[:sum])
		}
		if count > 0 {
			in.Count.Seek(uint64(in.First + k))
			in.Count.Words64(words[sum:])
		}
	}
}

// drawRecords makes the noise of all batches' records.
func (w *worker) drawRecords(in privacy.StepsInput) {
	st, k := w.stepping, w.p.tape.AuxRecord
	if k == 0 {
		return
	}
	if w.noise == nil {
		w.noise = in.RecordNoise.Clone()
	}
	st.noise = st.noise[:0]
	for step := range in.N {
		size := w.table.rows.N
		if in.Offsets != nil {
			size = int(in.Offsets[step+1] - in.Offsets[step])
		}
		at := len(st.noise)
		st.noise = slices.Grow(st.noise, size*k)[:at+size*k]
		w.noise.Seek(uint64(in.First + step))
		w.noise.Normals(st.noise[at:])
	}
}

// sendSteps copies what the steps depend on.
func (w *worker) sendSteps(in privacy.StepsInput) error {
	st, d := w.stepping, w.engine.driver
	r := &st.run
	err := errors.Join(
		sendBlock(w, &st.inputs, in.Inputs), sendBlock(w, &st.words, st.random), sendBlock(w, &st.drawn, st.noise),
		sendBlock(w, &st.offsets, in.Offsets), sendBlock(w, &st.places, in.Places),
		d.upload(r.state, unsafe.Pointer(&in.State[0]), 8*int64(len(in.State))),
	)
	var key [32]byte
	r.key = 0
	if w.p.tape.P > w.engine.mostWords {
		r.key, key = st.key, in.Sum.Key()
		err = errors.Join(err, d.upload(r.key, unsafe.Pointer(&key[0]), 32))
	}
	err = errors.Join(err, d.wait()) // until then the copies may be on their way
	clear(key[:])
	clear(st.random)
	return err
}

// sendBlock copies x to memory that it may have to grow.
func sendBlock[T any](w *worker, to *block, x []T) error {
	bytes := int64(len(x)) * int64(unsafe.Sizeof(*new(T)))
	if bytes == 0 {
		return nil
	}
	if err := w.grow(&to.at, &to.bytes, bytes); err != nil {
		return err
	}
	return w.engine.driver.upload(to.at, unsafe.Pointer(&x[0]), bytes)
}
