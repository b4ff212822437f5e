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
	random                                      []uint64
	noise                                       []float64
	blocks                                      int // that can wait for each other
}

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
	r := &st.run
	if err := w.prepareSteps(in); err != nil {
		return 0, err
	}
	var s status
	for r.resumes = 0; ; r.resumes = 1 {
		if err := w.launchSteps(&s); err != nil {
			return 0, err
		}
		if s.why != uncertainNoise || s.unresolved > mostUnresolved {
			break
		}
		if err := w.resolve(in, &s); err != nil {
			return 0, err
		}
	}
	done := int(s.done)
	if r.key != 0 {
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

// launchSteps goes on after s.done steps, and sets s to how it ended.
func (w *worker) launchSteps(s *status) error {
	st, d := w.stepping, w.engine.driver
	*s = status{done: s.done}
	if err := d.upload(st.run.status, unsafe.Pointer(s), int64(unsafe.Sizeof(*s))); err != nil {
		return err
	}
	if err := d.upload(st.at, unsafe.Pointer(&st.run), int64(unsafe.Sizeof(st.run))); err != nil {
		return err
	}
	args := &runs{runs: st.at, blocks: int32(st.blocks)}
	if st.run.tape.wide == 0 {
		args.blocks = min(args.blocks, w.args.slots)
	}
	if err := d.launchTogether(stepsKernel, int(args.blocks), unsafe.Pointer(args)); err != nil {
		return err
	}
	return d.download(unsafe.Pointer(s), st.run.status, int64(unsafe.Sizeof(*s)))
}

// resolve adds the noise that double precision does not decide, of step s.done:
// the device left those numbers as they are.
func (w *worker) resolve(in privacy.StepsInput, s *status) error {
	r, d, P := &w.stepping.run, w.engine.driver, w.p.tape.P
	sum := r.aux + address(8*r.inputCount)
	step := uint64(in.First) + uint64(s.done)
	x := new([normalGroup]float64)
	if err := d.download(unsafe.Pointer(x), r.state+address(8*r.clipNormAt), 8); err != nil {
		return err
	}
	sigma := in.GradientNoise * x[0] * in.Widened
	for _, quarter := range s.quarters[:s.unresolved] {
		if quarter < 0 {
			count := sum + address(8*P)
			if err := d.download(unsafe.Pointer(x), count, 8); err != nil {
				return err
			}
			in.Count.Seek(step)
			in.Count.AddGaussian(x[:1], in.CountNoise*in.Widened)
			if err := d.upload(count, unsafe.Pointer(x), 8); err != nil {
				return err
			}
			continue
		}
		group := int(quarter) / 4
		at, n := sum+address(8*normalGroup*group), min(normalGroup, P-normalGroup*group)
		if err := d.download(unsafe.Pointer(x), at, 8*int64(n)); err != nil {
			return err
		}
		in.Sum.SeekBlock(step, uint64(normalGroup/2*group))
		in.Sum.AddGaussian(x[:n], sigma)
		for _, i := range []int{0, 1, normalGroup / 2, normalGroup/2 + 1} { // the quarter's own
			if i += 2 * (int(quarter) % 4); i < n {
				if err := d.upload(at+address(8*i), unsafe.Pointer(&x[i]), 8); err != nil {
					return err
				}
			}
		}
		if err := d.wait(); err != nil { // x is used again
			return err
		}
	}
	return d.wait()
}

// normalGroup is how many normals package noise makes of as many words.
const normalGroup = 16

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
	r.key = 0
	if w.p.tape.P > w.engine.mostWords {
		r.key = st.key
		key := in.Sum.Key()
		err = errors.Join(err, d.upload(r.key, unsafe.Pointer(&key[0]), 32), d.wait())
		clear(key[:])
	}
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

var _ privacy.Stepper = (*worker)(nil)
