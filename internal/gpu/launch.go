package gpu

import (
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

// interrupted says whether the host has to add noise before the steps go on. More
// than can be told of end them.
func (s *status) interrupted() bool {
	return s.why == uncertainNoise && s.unresolved <= mostUnresolved
}

// A block is memory that grows.
type block struct {
	at    address
	bytes int64
}

// keyWords is the room for a key and its round keys, in 4-byte words.
const keyWords = 8 + 60

// Steps implements privacy.Stepper.
func (w *worker) Steps(in privacy.StepsInput) (int, error) {
	err := w.engine.exclusively(func() error {
		w.engine.gathering.expect(w, true)
		return errors.Join(w.prepareSteps(in), w.setKey(in))
	})
	if err == nil {
		err = w.takeSteps(in)
	}
	err = errors.Join(err, w.engine.exclusively(w.forgetKey))
	if err != nil {
		return 0, w.engine.explain(err, w)
	}
	st := w.stepping
	done := int(st.status.in(&st.box)[0].done)
	copy(in.Kept, st.kept.in(&st.box)[:done*int(st.run.keptCount)])
	if done > 0 {
		copy(in.State, st.state.in(&st.box))
	}
	return done, nil
}

// takeSteps launches the steps, and again as often as the host has to add noise.
func (w *worker) takeSteps(in privacy.StepsInput) error {
	st := w.stepping
	s := &st.status.in(&st.box)[0]
	defer st.box.forget()
	w.fillBox(in)
	for st.run.resumes = 0; ; st.run.resumes = 1 {
		if err := w.engine.launchSteps(w); err != nil {
			return err
		}
		if !s.interrupted() {
			return nil
		}
		if err := w.engine.exclusively(func() error { return w.resolve(in, s) }); err != nil {
			return err
		}
		*s = status{done: s.done}
	}
}

// send sends the box, or of steps that resume the status, which is all that changed.
func (st *stepping) send(d driver) error {
	b := &st.box
	from, to := int64(0), b.sent
	if st.run.resumes != 0 {
		from, to = st.status.place, st.state.place
	}
	return d.upload(b.at.at+address(from), unsafe.Add(b.host, from), to-from)
}

// resolve adds the noise that double precision does not decide, of step s.done:
// the device left those numbers as they are.
func (w *worker) resolve(in privacy.StepsInput, s *status) error {
	r, d, P := &w.stepping.run, w.engine.driver, w.p.tape.P
	sum := r.aux + address(8*r.inputCount)
	step := uint64(in.First) + uint64(s.done)
	x := new([normalGroup]float64)
	if err := read(d, unsafe.Pointer(x), r.state+address(8*r.clipNormAt), 8); err != nil {
		return err
	}
	sigma := in.GradientNoise * x[0] * in.Widened
	for _, quarter := range s.quarters[:s.unresolved] {
		if quarter < 0 {
			count := sum + address(8*P)
			if err := read(d, unsafe.Pointer(x), count, 8); err != nil {
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
		if err := read(d, unsafe.Pointer(x), at, 8*int64(n)); err != nil {
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
