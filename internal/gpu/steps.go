package gpu

import (
	"errors"
	"sync"

	"d3p/internal/privacy"
)

// stepping is the device memory of a worker for many steps in a launch.
type stepping struct {
	script *script
	run    run   // of the last call
	blocks int   // that can wait for each other
	ended  bool  // there was not the memory for it
	broken error // of a call that kept its first steps: the next call returns it

	inputs     [2]stepInputs
	current    *stepInputs // to the steps that are being taken
	inputSteps int         // of the call: see stepsPerLaunch
	streams    []streams

	out         stagingBuffer // the results
	status      bufferPart[status]
	kept, state bufferPart[float64]
}

// copyNumbers copies, by several threads if it takes long.
func copyNumbers(to, from []float64) {
	const piece = 1 << 18
	var wait sync.WaitGroup
	for at := piece; at < len(from); at += piece {
		wait.Go(func() { copy(to[at:], from[at:min(at+piece, len(from))]) })
	}
	copy(to, from[:min(piece, len(from))])
	wait.Wait()
}

// Prepare implements privacy.Stepper. The table must be on the device.
func (w *worker) Prepare(of privacy.Postprocessing) error {
	if !w.table.resident {
		return errors.New("gpu: the table stays on the host")
	}
	s, err := newScript(w.p.tape.P, w.p.wide() > 0, of)
	if err != nil {
		return err
	}
	return w.engine.exclusively(func() error { return w.openSteps(s) })
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
	r := &st.run
	var err error
	if r.aux, err = store(m, make([]float64, s.inputs+3*P+2)); err != nil { // no prior: no gradient
		return err
	}
	if r.now, err = m.alloc(8 * int64(s.absorb.globals)); err != nil {
		return err
	}
	r.next = s.absorb.args.globals
	s.absorb.args.aux = r.aux
	s.prior.args.parameters = s.propose.args.globals
	r.propose, r.prior, r.absorb = s.propose.args, s.prior.args, s.absorb.args
	if s.direct {
		r.direct = 1
	}
	r.stateCount, r.inputCount, r.clipNormAt = int32(s.states), int32(s.inputs), int32(s.clipNorm)
	r.records, r.early = int64(w.table.rows.N), int32(s.absorb.early)
	if r.one, err = store(m, []float64{1}); err != nil {
		return err
	}
	if st.blocks, err = w.engine.driver.together(stepsKernel); err != nil {
		return err
	}
	if err := w.engine.join(w); err != nil {
		return err
	}
	w.stepping = st
	return nil
}

var _ privacy.Stepper = (*worker)(nil)
