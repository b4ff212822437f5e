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

	inputs, words, drawn, offsets, places, kept block
	key                                         address // of the noise: 8 words, then the round keys
	random                                      []uint64
	noise                                       []float64
	blocks                                      int // that can wait for each other
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
	if r.status, err = m.alloc(int64(unsafe.Sizeof(status{}))); err != nil {
		return err
	}
	r.unresolved = r.status + 16
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

var _ privacy.Stepper = (*worker)(nil)
