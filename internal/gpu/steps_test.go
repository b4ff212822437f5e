//go:build linux && !nogpu

package gpu

import (
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

// Steps in one launch equal single steps of a session: the same sums and counts bit for
// bit, the same noise, and the analyst's arithmetic up to the rounding of exp.
func TestStepsFollowSession(t *testing.T) {
	const N = 2000
	for _, c := range []struct {
		name  string
		sizes []int
		key   bool
		model func(testing.TB, int, int) (*graph.Tape, *privacy.Rows)
		D     int
		wide  bool
		point bool
		drawn bool // by a network
	}{
		{"batches", []int{0, 1, 33, 700, 1999}, false, plainRegression, 6, false, false, false},
		{"a larger batch among the next ones", []int{1, 1, 1, 1, 1, 1999}, false, plainRegression, 6, false, false, false},
		{"every record", []int{-1}, false, plainRegression, 6, false, false, false},
		{"words made on the device", []int{33, 700}, true, plainRegression, 44, false, false, false},
		{"noise of records", []int{0, 700, 33}, false, regression, 6, false, false, false},
		{"points", []int{0, 700, 33}, false, regression, 6, false, true, false},
		{"all blocks together", []int{0, 700, 33}, true, regression, 20, true, false, false},
		{"points, all blocks together", []int{0, 700, 33}, true, regression, 20, true, true, false},
		{"a network", []int{0}, false, plainRegression, 6, false, false, true},
		{"a network, noise of records", []int{0}, true, regression, 44, false, true, true},
		{"a network, all blocks together", []int{0}, true, regression, 20, true, false, true},
		{"a network, points, all blocks together", []int{0}, false, regression, 20, true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tape, rows := c.model(t, c.D, N)
			e := newEngine("cuda:7", newOneThread(t, 1<<30), Options{})
			e.inputSteps = 4 // of 9
			if c.wide {
				e.wideFrom = 0
			}
			w := openOn(t, e, tape, rows)
			post := analyst(t, tape.P)
			if c.point {
				post = pointAnalyst(t, tape.P)
			}
			if err := w.Prepare(post); err != nil {
				t.Fatal(err)
			}
			if (w.stepping.run.direct != 0) != c.point {
				t.Error("θ is the state where it is not proposed, and only there")
			}
			if c.key {
				e.mostWords = 0
			}
			in := stepsInput(9, tape.P, N, c.sizes)
			if c.drawn {
				drawByNetwork(t, &in, N, 6)
			}
			follow(t, w, post, in)
		})
	}
}

// failing is a driver whose launches fail from the n-th on; `second` is called at the
// second one.
type failing struct {
	*oneThread
	from   int
	second func()
}

var errFailing = errors.New("the device fails")

func (d failing) launch(k kernel, blocks int, arguments unsafe.Pointer) error {
	if d.launches+1 >= d.from {
		return errFailing
	}
	if d.launches == 1 {
		d.second()
	}
	return d.oneThread.launch(k, blocks, arguments)
}

// A call in which a launch fails returns the steps before it, with the state after them,
// and nothing of later ones; the next call and Close return the error. A state
// that launches do not return is kept only where it was copied in between.
func TestStepsBeforeAnError(t *testing.T) {
	for _, c := range []struct {
		D            int
		every, later int // steps between copies of the state
		want         int
	}{{6, saveEvery, saveEvery, 6}, {5000, saveEvery, saveEvery, 0}, {5000, 0, 0, 6}, {5000, 0, saveEvery, 2}} {
		var e *Engine
		run := func(d driver, n int) (*worker, privacy.StepsInput, int, error) {
			tape, rows := plainRegression(t, c.D, 50)
			e = newEngine("cuda:7", d, Options{})
			e.inputSteps, e.saveEvery = 2, c.every
			w, err := e.Open(tape, rows)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.(*worker).Prepare(analyst(t, tape.P)); err != nil {
				t.Fatal(err)
			}
			in := stepsInput(9, tape.P, 50, []int{33, 20})
			in.N, in.Inputs, in.Kept = n, in.Inputs[:n*tape.P], in.Kept[:n*(tape.P+1)]
			done, err := w.(*worker).Steps(in)
			return w.(*worker), in, done, err
		}
		w, got, done, err := run(failing{newOneThread(t, 1<<30), 4, func() { e.saveEvery = c.later }}, 9)
		if done != c.want || (err != nil) != (c.want == 0) {
			t.Fatalf("%d steps, %v; want %d", done, err, c.want)
		}
		if again, err := w.Steps(got); done > 0 && (again != 0 || err != errFailing) {
			t.Errorf("the next call: %d steps, %v", again, err)
		}
		if err := w.Close(); (err == errFailing) != (done > 0) {
			t.Errorf("Close: %v", err)
		}
		if done == 0 {
			continue
		}
		w, want, _, err := run(newOneThread(t, 1<<30), done)
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		same(t, got.State, want.State)
		same(t, got.Kept, append(want.Kept, make([]float64, len(got.Kept)-len(want.Kept))...))
	}
}

// drawByNetwork makes the batches of in those of a network with a key of its own.
func drawByNetwork(t *testing.T, in *privacy.StepsInput, N int, seed uint64) {
	t.Helper()
	in.Rate, in.Networks = 0.2, nil
	var samplers []sampler.Sampler
	for range in.Threads + 1 { // the last draws for the test
		s, err := sampler.New(sampler.Config{Scheme: sampler.Poisson, Rate: in.Rate, Batches: sampler.Feistel}, N, 0, noise.Insecure(seed).Stream(noise.Sampling))
		if err != nil {
			t.Fatal(err)
		}
		samplers = append(samplers, s)
		in.Networks = append(in.Networks, s.Network())
	}
	in.Networks = in.Networks[:in.Threads]
	in.Draw = func(_, step int, dst []uint32) ([]uint32, bool) { return samplers[in.Threads].Draw(step, dst) }
}

// keysAreForgotten reads the memory of the keys after a call.
func keysAreForgotten(t *testing.T, w *worker) {
	t.Helper()
	var keys [keyCount * keyBytes]byte
	if err := read(w.engine.driver, unsafe.Pointer(&keys), w.keys, int64(unsafe.Sizeof(keys))); err != nil {
		t.Fatal(err)
	}
	if keys != [keyCount * keyBytes]byte{} {
		t.Error("keys are left on the device")
	}
}

// follow takes the steps in one launch, and one at a time.
func follow(t *testing.T, w *worker, post privacy.Postprocessing, in privacy.StepsInput) {
	t.Helper()
	P := w.p.tape.P
	want := append([]float64(nil), in.State...)
	done, err := w.Steps(in)
	if err != nil || done != in.N {
		t.Fatalf("%d steps of %d: %v", done, in.N, err)
	}
	keysAreForgotten(t, w)
	same(t, in.State, in.Kept[(in.N-1)*(P+1):])
	propose, prior, absorb := graph.NewMachine(post.Propose, 1), graph.NewMachine(post.Prior, 1), graph.NewMachine(post.Absorb, 1)
	aux := make([]float64, 3*P+1)
	sum, count := aux[P:2*P], aux[2*P:2*P+1]
	for k := range in.N {
		copy(aux, in.Inputs[k*P:(k+1)*P])
		propose.Globals(want, aux[:P])
		theta := append([]float64(nil), propose.Output(0)...)
		batch, all := in.Draw(0, in.First+k, nil)
		size := len(batch)
		if all {
			size = w.table.rows.N
		}
		clip := in.Clip
		clip.Norm = want[P]
		c, err := w.ClippedSum(sum, privacy.StepInput{Params: theta, RecordNoise: in.RecordNoise, Step: in.First + k}, batch, all, clip)
		if err != nil {
			t.Fatal(err)
		}
		in.Sum.Seek(uint64(in.First + k))
		in.Sum.AddGaussian(sum, in.GradientNoise*clip.Norm*in.Widened)
		count[0] = c + (0.5-in.CountTarget)*float64(size)
		in.Count.Seek(uint64(in.First + k))
		in.Count.AddGaussian(count, in.CountNoise*in.Widened)
		prior.Globals(theta, nil)
		prior.GlobalGradient(aux[2*P+1:])
		absorb.Globals(want, aux)
		copy(want, absorb.Output(0))
		want[P] = absorb.Output(1)[0]
		got := in.Kept[k*(P+1):][:P+1]
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-13*math.Abs(want[i]) {
				t.Fatalf("step %d: state[%d] = %x, want %x", k, i, got[i], want[i])
			}
		}
		copy(want, got) // so that the next sums start from the same bits
	}
	keysAreForgotten(t, w)
}

// Where C is out of range or the state not finite, the run ends before that step,
// and nothing of it shows.
func TestStepsEndEarly(t *testing.T) {
	const N, n = 300, 6
	tape, rows := plainRegression(t, 6, N)
	P := tape.P
	for _, c := range []struct {
		name  string
		input float64
		done  int
	}{
		{"state not finite", math.Inf(1), 3},
		{"clip norm", 1e200, 4}, // the step that makes such a C is done
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := open(t, 0, tape, rows)
			if err != nil {
				t.Fatal(err)
			}
			post := analyst(t, P)
			post.Absorb = fragile(t, P)
			if err := w.Prepare(post); err != nil {
				t.Fatal(err)
			}
			in := stepsInput(n, P, N, []int{50})
			in.Inputs[3*P] = c.input
			done, err := w.Steps(in)
			if err != nil || done != c.done {
				t.Fatalf("%d steps, want %d: %v", done, c.done, err)
			}
			same(t, in.State, in.Kept[(done-1)*(P+1):done*(P+1)])
			for i, x := range in.Kept[done*(P+1):] {
				if x != 0 {
					t.Fatalf("number %d after the last step is %g", i, x)
				}
			}
		})
	}
}

// Where there is too little memory for what many steps need, which depends on how many
// records there are, they are taken one at a time: the fit does not fail.
func TestStepsOutOfMemory(t *testing.T) {
	const N = 300
	tape, rows := plainRegression(t, 6, N)
	in := stepsInput(6, tape.P, N, []int{50})
	for name, left := range map[string]int64{"not even for the state": 0, "not for step inputs": 2 << 10} {
		d := newOneThread(t, 1<<30)
		w := openOn(t, newEngine("cuda:7", d, Options{}), tape, rows)
		if err := w.Prepare(analyst(t, tape.P)); err != nil {
			t.Fatal(err)
		}
		free, used := d.memory, d.used
		d.memory = used + left
		state := slices.Clone(in.State)
		if done, err := w.Steps(in); done != 0 || !errors.Is(err, privacy.ErrNotStepping) || !slices.Equal(state, in.State) {
			t.Errorf("%s: %d steps: %v", name, done, err)
		}
		if d.used != used {
			t.Errorf("%s: %d bytes are kept from single steps", name, d.used-used)
		}
		d.memory = free
		if done, err := w.Steps(in); done != 0 || !errors.Is(err, privacy.ErrNotStepping) {
			t.Errorf("%s, with memory again: %d steps, %v", name, done, err)
		}
		sum := make([]float64, tape.P)
		if _, err := w.ClippedSum(sum, privacy.StepInput{Params: make([]float64, tape.P)}, nil, true, privacy.Clip{Kind: privacy.Flat, Norm: 1}); err != nil {
			t.Errorf("%s: a single step: %v", name, err)
		}
	}
}

// However little memory is left, a call takes all steps, those of its first launches, which
// are the same, or none, and a launch
// that waits while the next steps are prepared keeps the memory that it works with.
func TestStepsUntilOutOfMemory(t *testing.T) {
	const N = 300
	tape, rows := plainRegression(t, 6, N)
	var want privacy.StepsInput
	all, some, none := 0, 0, 0
	for left := int64(1 << 20); left > 256; left -= left / 5 {
		d := newOneThread(t, 1<<30)
		e := newEngine("cuda:7", d, Options{})
		e.inputSteps = 3
		w := openOn(t, e, tape, rows)
		if err := w.Prepare(analyst(t, tape.P)); err != nil {
			t.Fatal(err)
		}
		d.memory = d.used + left
		in := stepsInput(12, tape.P, N, []int{5, 5, 5, 40, 40, 40, 120, 120, 120, 290, 290, 290})
		before := slices.Clone(in.State)
		switch done, err := w.Steps(in); {
		case done == in.N && err == nil:
			if all++; want.N == 0 {
				want = in
			}
			if !slices.Equal(in.Kept, want.Kept) || !slices.Equal(in.State, want.State) {
				t.Errorf("%d bytes left: other states", left)
			}
		case done == 0 && errors.Is(err, privacy.ErrNotStepping):
			if none++; !slices.Equal(in.State, before) {
				t.Errorf("%d bytes left: another state after no steps", left)
			}
		case done > 0 && done%e.inputSteps == 0 && err == nil:
			kept := done * (tape.P + 1)
			same(t, in.Kept, append(want.Kept[:kept:kept], make([]float64, len(in.Kept)-kept)...))
			if done, err := w.Steps(in); done != 0 || !errors.Is(err, privacy.ErrNotStepping) {
				t.Errorf("%d bytes left, the next call: %d steps, %v", left, done, err)
			}
			some++
		default:
			t.Errorf("%d bytes left: %d steps, %v", left, done, err)
		}
	}
	if all == 0 || some == 0 || none == 0 {
		t.Errorf("all steps %d times, some %d times, none %d times", all, some, none)
	}
}
