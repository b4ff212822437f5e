package gpu

import (
	"runtime"
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

// A block is memory that grows.
type block struct {
	at    address
	bytes int64
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
		defer runtime.KeepAlive(nothing)
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
