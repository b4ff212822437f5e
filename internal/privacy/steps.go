package privacy

import (
	"errors"
	"fmt"
	"runtime"

	"d3p/internal/models/graph"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

// Postprocessing is an analyst's work between two steps, as tapes whose instructions are
// all global. It reads only releases and public numbers, so an engine may do it beside the
// records, for many steps in one call.
//
//	propose  parameters: the state; aux: a step's inputs. Output 0 is θ, P scalars.
//	prior    parameters: θ. Its gradient is that of its loss, in dense terms.
//	absorb   parameters: the state; aux: the inputs, the noisy sum (P), the noisy
//	         count, the prior's gradient (P). The outputs, in order, are the next
//	         state.
type Postprocessing struct {
	Propose, Prior, Absorb *graph.Tape
	// ClipNorm is the element of the state that is C of the next step.
	ClipNorm int
}

// Stepper is a Worker that can take several steps of a mechanism by itself.
type Stepper interface {
	Worker
	// Prepare prepares the worker for Steps. The error is the reason if it cannot take
	// steps by itself; it stays a Worker then.
	Prepare(p Postprocessing) error
	// Steps takes the steps in order, each as Session.Step would: batch, clipped sum, noise
	// of exactly the same law, postprocessing. It may end early, without releasing anything
	// of a step that it does not take; it must end if C is out of range or a state is not
	// finite. done is the number of taken steps. State becomes the state after them, and
	// Kept the first len(Kept)/n numbers of the state after each. With an error no step was
	// taken: after an error in the middle Steps may return the steps before it, and the
	// next call the error. ErrNotStepping means that the worker takes no more steps by
	// itself, and took none; it stays a Worker.
	Steps(in StepsInput) (done int, err error)
}

// StepsInput has the inputs of n steps besides the records. Batches and noise are secret.
type StepsInput struct {
	First  int       // number of the first step
	N      int       // steps
	State  []float64 // before the first step
	Inputs []float64 // public numbers for the postprocessing, step after step
	Kept   []float64
	// Sum and Count are the streams of the noise, which AddGaussian reads after a Seek to
	// the step. An engine may make the same numbers on a device with the streams' keys,
	// which it overwrites after use.
	Sum, Count *noise.Stream
	// Draw is the batch of a step, as sampler.Sampler has it. It may be called for
	// steps that are not taken, in any order and again; calls overlap only if they
	// name different threads, 0 <= thread < Threads.
	Draw    func(thread, step int, dst []uint32) (batch []uint32, all bool)
	Threads int
	// Networks are networks by which an engine may draw the batches itself, one per thread,
	// which that thread's Draw uses, too; nil: only Draw draws them.
	Networks []*sampler.Network
	Rate     float64 // expected fraction of the records in a batch
	// RecordNoise is that of StepInput.
	RecordNoise *noise.Stream

	Clip          Clip    // kind and Gamma
	GradientNoise float64 // z
	CountNoise    float64 // σ_b; 0: no count
	CountTarget   float64 // γ
	Widened       float64 // factor of both deviations for rounding
}

// ErrNotStepping means that a session's engine takes one step at a time.
var ErrNotStepping = errors.New("privacy: the engine takes one step at a time")

// Prepare prepares the session for Steps. The error is the reason if steps must be taken
// one at a time, which Step does in any case.
func (s *Session) Prepare(p Postprocessing) error {
	stepper, ok := s.worker.(Stepper)
	if !ok || s.together != nil || s.m.Schedule != nil || s.m.Rates != nil || s.m.Clip.Kind == Unclipped || s.m.Tape.AuxGlobal > 0 {
		return ErrNotStepping
	}
	if err := stepper.Prepare(p); err != nil {
		return err
	}
	return s.addSamplers()
}

// sharedBatch is the expected batch size from which several threads draw batches, each for
// other steps: a record takes three nanoseconds.
const sharedBatch = 1 << 11

// addSamplers makes a sampler for each thread that draws batches. They draw the same
// ones, since a batch depends on the stream's key and the step only.
func (s *Session) addSamplers() error {
	if !sampler.Stepwise(s.m.Sampler.Scheme) || s.sampler.Rate()*float64(s.curator.rows.N) < sharedBatch {
		return nil
	}
	for range runtime.GOMAXPROCS(0) - 1 {
		another, err := sampler.New(s.m.Sampler, s.curator.rows.N, s.started, s.sampling.Clone())
		if err != nil {
			return err
		}
		s.samplers = append(s.samplers, another)
	}
	return nil
}

// Steps takes up to n steps after a successful Prepare. state becomes the state after the
// `done` taken steps, and kept, n × K, gets the first K numbers of the state after each.
// inputs are n times the inputs of a step. It may take fewer than n steps, even none; then
// the caller takes the next one by Step. All n are charged before they run. Steps that were
// not taken released nothing, and their charge is returned. An error of the engine returns
// no charge, and leaves state and kept zero. Steps returns *StepsError if fewer than n are
// authorised, and ErrNotStepping if Step must take all further steps.
func (s *Session) Steps(state, kept, inputs []float64, n int) (done int, err error) {
	if n < 1 || len(kept)%n != 0 || len(inputs)%n != 0 {
		panic(fmt.Sprintf("privacy: %d steps with %d inputs, of which %d numbers are kept", n, len(inputs), len(kept)))
	}
	if s.worker == nil {
		return 0, errors.New("privacy: steps of a closed session")
	}
	if s.m.Schedule != nil { // an engine has one noise for all steps of a call
		return 0, ErrNotStepping
	}
	if s.done+n > s.m.Steps {
		return 0, &StepsError{Authorised: s.m.Steps}
	}
	first := s.done
	s.done += n
	s.lost = 0
	done, err = s.worker.(Stepper).Steps(StepsInput{
		First: first, N: n, State: state, Inputs: inputs, Kept: kept,
		Sum: s.gradientNoise, Count: s.countNoise, RecordNoise: s.recordNoise,
		Draw: s.drawBy, Threads: len(s.samplers), Networks: s.networks(), Rate: s.sampler.Rate(),
		Clip: s.m.Clip, GradientNoise: s.m.GradientNoise, CountNoise: s.m.CountNoise, CountTarget: s.m.CountTarget, Widened: s.widened,
	})
	if err == ErrNotStepping {
		s.done = first
		return 0, err
	}
	if err != nil {
		clear(state)
		clear(kept)
		return 0, s.failed(err, n)
	}
	s.done = first + done
	return done, nil
}

// networks are those of the samplers; nil if they have none.
func (s *Session) networks() (list []*sampler.Network) {
	for _, one := range s.samplers {
		n := one.Network()
		if n == nil {
			return nil
		}
		list = append(list, n)
	}
	return list
}

func (s *Session) drawBy(thread, step int, dst []uint32) (batch []uint32, all bool) {
	return s.samplers[thread].Draw(step, dst)
}
