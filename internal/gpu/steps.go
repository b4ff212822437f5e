package gpu

import (
	"errors"
	"unsafe"

	"d3p/internal/privacy"
)

// stepping is what a worker has on the device to take many steps in a launch.
type stepping struct {
	script *script
	run    run // but for what changes from call to call
	at     address

	inputs, words, offsets, places, states block
	blocks                                 int // that can wait for each other
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
	s, err := newScript(w.p.tape.P, of)
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
	if st.at, err = m.alloc(int64(unsafe.Sizeof(run{}))); err != nil {
		return err
	}
	if st.blocks, err = w.engine.driver.together(stepsKernel); err != nil {
		return err
	}
	w.stepping = st
	return nil
}

// Steps implements privacy.Stepper.
func (w *worker) Steps(states []float64, in privacy.StepsInput) (done int, err error) {
	w.engine.turn.Lock()
	defer w.engine.turn.Unlock()
	if err := w.engine.driver.enter(); err != nil {
		return 0, err
	}
	defer w.engine.driver.leave()
	if done, err = w.steps(states, in); err != nil {
		return 0, w.engine.explain(err, w)
	}
	return done, nil
}

func (w *worker) steps(states []float64, in privacy.StepsInput) (int, error) {
	st, d := w.stepping, w.engine.driver
	n := len(in.Inputs) / st.script.inputs
	slots, err := w.prepareSteps(in, n)
	if err != nil {
		return 0, err
	}
	r := &st.run
	r.tape = *w.args
	r.tape.table, r.tape.valid, r.tape.first = w.table.numbers, w.table.valid, 0
	r.gradientNoise, r.countNoise, r.countTarget, r.widened = in.GradientNoise, in.CountNoise, in.CountTarget, in.Widened
	r.steps, r.wordCount = int32(n), int32(in.NoiseWords)
	if err := w.sendSteps(in); err != nil {
		return 0, err
	}
	if err := w.grow(&st.states.at, &st.states.bytes, 8*int64(len(states))); err != nil {
		return 0, err
	}
	r.states = st.states.at
	var status [2]int32 // steps done, why the run ended
	if err := d.upload(r.status, unsafe.Pointer(&status[0]), 8); err != nil {
		return 0, err
	}
	if err := d.upload(st.at, unsafe.Pointer(r), int64(unsafe.Sizeof(*r))); err != nil {
		return 0, err
	}
	blocks := st.blocks
	if r.tape.wide == 0 {
		blocks = min(slots, blocks)
	}
	args := &runs{runs: st.at, blocks: int32(blocks)}
	if err := d.launchTogether(stepsKernel, blocks, unsafe.Pointer(args)); err != nil {
		return 0, err
	}
	if err := d.download(unsafe.Pointer(&status[0]), r.status, 8); err != nil {
		return 0, err
	}
	done := int(status[0])
	if done > 0 {
		err = d.download(unsafe.Pointer(&states[0]), r.states, 8*int64(done*st.script.states))
	}
	return done, err
}

// prepareSteps makes room for the slots of n batches and returns how many the
// largest has.
func (w *worker) prepareSteps(in privacy.StepsInput, n int) (slots int, err error) {
	if in.Offsets == nil {
		err = w.prepare(w.table.rows.N, in.Clip)
		return int(w.args.slots), err
	}
	for k := range n {
		if err = w.prepare(int(in.Offsets[k+1]-in.Offsets[k]), in.Clip); err != nil {
			return 0, err
		}
		slots = max(slots, int(w.args.slots))
	}
	return slots, nil
}

// sendSteps sends what the steps depend on.
func (w *worker) sendSteps(in privacy.StepsInput) error {
	st := w.stepping
	r := &st.run
	err := errors.Join(
		sendBlock(w, &st.inputs, in.Inputs), sendBlock(w, &st.words, in.Words),
		sendBlock(w, &st.offsets, in.Offsets), sendBlock(w, &st.places, in.Places),
		w.engine.driver.upload(r.state, unsafe.Pointer(&in.State[0]), 8*int64(len(in.State))),
	)
	r.inputs, r.words, r.places, r.offsets = st.inputs.at, st.words.at, st.places.at, st.offsets.at
	if in.Offsets == nil {
		r.offsets = 0
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
