package gpu

import (
	"errors"
	"slices"
	"unsafe"

	"d3p/internal/privacy"
)

// stepping is what a worker has on the device to take many steps in a launch.
type stepping struct {
	script *script
	run    run // but for what changes from call to call
	at     address

	inputs, words, drawn, offsets, places, kept block
	key                                         address // of the noise: 8 words, then the round keys
	noise                                       []float64
	blocks                                      int // that can wait for each other
}

// A block is memory that grows.
type block struct {
	at    address
	bytes int64
}

// Prepare implements privacy.Stepper. The table has to be on the device.
func (w *worker) Prepare(of privacy.Postprocessing) error {
	if !w.table.resident {
		return errors.New("gpu: the table stays on the host")
	}
	s, err := newScript(w.p.tape.P, w.p.wide() > 0, of)
	if err != nil {
		return err
	}
	w.engine.turn.Lock()
	defer w.engine.turn.Unlock()
	if err := w.engine.driver.enter(); err != nil {
		return err
	}
	defer w.engine.driver.leave()
	return w.openSteps(s)
}

// openSteps sends the script and makes room for the state.
func (w *worker) openSteps(s *script) error {
	m, P := &w.memory, w.p.tape.P
	st := &stepping{script: s}
	for _, g := range []*globalProgram{&s.propose, &s.prior, &s.absorb} {
		if err := g.send(m, &g.args); err != nil {
			return err
		}
	}
	numbers := []int{s.states, s.states, s.inputs + 2*P + 1} // state, next, aux
	total := 0
	for _, n := range numbers {
		total += n
	}
	at, err := m.alloc(8 * int64(total))
	if err != nil {
		return err
	}
	r := &st.run
	r.state, r.next, r.aux = at, at+address(8*s.states), at+address(16*s.states)
	s.propose.args.parameters, s.propose.args.aux = r.state, r.aux
	s.prior.args.parameters = w.args.parameters
	s.absorb.args.parameters, s.absorb.args.aux = r.state, r.aux
	r.propose, r.prior, r.absorb = s.propose.args, s.prior.args, s.absorb.args
	r.stateCount, r.inputCount, r.clipNormAt = int32(s.states), int32(s.inputs), int32(s.clipNorm)
	r.records = int64(w.table.rows.N)
	if r.proposed, err = store(m, s.proposed); err != nil {
		return err
	}
	if r.absorbed, err = store(m, s.absorbed); err != nil {
		return err
	}
	r.proposedCount, r.absorbedCount = int32(len(s.proposed)), int32(len(s.absorbed))
	if r.one, err = store(m, []float64{1}); err != nil {
		return err
	}
	if r.status, err = m.alloc(8); err != nil {
		return err
	}
	if st.key, err = store(m, make([]uint32, keyWords)); err != nil {
		return err
	}
	r.roundKeys = st.key + 32
	if st.at, err = m.alloc(int64(unsafe.Sizeof(run{}))); err != nil {
		return err
	}
	if st.blocks, err = w.engine.driver.together(stepsKernel); err != nil {
		return err
	}
	w.stepping = st
	return nil
}

// keyWords is the room for a key and its round keys, in 4-byte words.
const keyWords = 8 + 60

// Steps implements privacy.Stepper.
func (w *worker) Steps(in privacy.StepsInput) (done int, err error) {
	w.engine.turn.Lock()
	defer w.engine.turn.Unlock()
	if err := w.engine.driver.enter(); err != nil {
		return 0, err
	}
	defer w.engine.driver.leave()
	if done, err = w.steps(in); err != nil {
		return 0, w.engine.explain(err, w)
	}
	return done, nil
}

func (w *worker) steps(in privacy.StepsInput) (int, error) {
	st, d := w.stepping, w.engine.driver
	if err := w.prepareSteps(in); err != nil {
		return 0, err
	}
	r := &st.run
	if err := d.upload(st.at, unsafe.Pointer(r), int64(unsafe.Sizeof(*r))); err != nil {
		return 0, err
	}
	args := &runs{runs: st.at, blocks: int32(st.blocks)}
	if r.tape.wide == 0 {
		args.blocks = min(args.blocks, w.args.slots)
	}
	if err := d.launchTogether(stepsKernel, int(args.blocks), unsafe.Pointer(args)); err != nil {
		return 0, err
	}
	var status [2]int32 // steps done, why the run ended
	if err := d.download(unsafe.Pointer(&status[0]), r.status, 8); err != nil {
		return 0, err
	}
	done := int(status[0])
	if in.Key != nil {
		nothing := new([keyWords]uint32)
		if err := d.upload(st.key, unsafe.Pointer(nothing), 4*keyWords); err != nil {
			return 0, err
		}
	}
	if done == 0 {
		return 0, d.wait()
	}
	if r.keptCount > 0 {
		if err := d.download(unsafe.Pointer(&in.Kept[0]), r.kept, 8*int64(done)*int64(r.keptCount)); err != nil {
			return 0, err
		}
	}
	return done, d.download(unsafe.Pointer(&in.State[0]), r.state, 8*int64(len(in.State)))
}

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
	r.steps, r.wordCount, r.firstStep = int32(in.N), int32(in.NoiseWords), int64(in.First)
	r.keptCount = int32(len(in.Kept) / in.N)
	if err := w.grow(&st.kept.at, &st.kept.bytes, 8*int64(len(in.Kept))); err != nil {
		return err
	}
	w.drawSteps(in)
	if err := w.sendSteps(in); err != nil {
		return err
	}
	r.inputs, r.words, r.drawn, r.places, r.offsets, r.kept = st.inputs.at, st.words.at, st.drawn.at, st.places.at, st.offsets.at, st.kept.at
	if in.Offsets == nil {
		r.offsets = 0
	}
	return nil
}

// drawSteps makes the noise of all batches' records.
func (w *worker) drawSteps(in privacy.StepsInput) {
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
	r.key = 0
	var status [2]int32
	err := errors.Join(
		sendBlock(w, &st.inputs, in.Inputs), sendBlock(w, &st.words, in.Words), sendBlock(w, &st.drawn, st.noise),
		sendBlock(w, &st.offsets, in.Offsets), sendBlock(w, &st.places, in.Places),
		d.upload(r.state, unsafe.Pointer(&in.State[0]), 8*int64(len(in.State))),
		d.upload(r.status, unsafe.Pointer(&status[0]), 8),
	)
	if in.Key != nil {
		r.key = st.key
		err = errors.Join(err, d.upload(r.key, unsafe.Pointer(&in.Key[0]), 32))
	}
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

var _ privacy.Stepper = (*worker)(nil)
