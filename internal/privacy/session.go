package privacy

import (
	"errors"
	"fmt"
	"math"

	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
	"d3p/internal/privacy/schedule"
)

// Session is one mechanism in progress.
type Session struct {
	curator  *Curator
	m        Mechanism
	worker   Worker
	sampler  sampler.Sampler
	done     int // steps charged to the ledger
	lost     int // the last charged steps, in which the engine failed
	entry    int // in the ledger
	spending spending
	widened  float64 // factor of the noise for rounding

	batch         []uint32
	prefetch      *sampler.Prefetch // of a table on disk; nil: batches are drawn when their step begins
	gradientNoise *noise.Stream
	loops         *Loops    // on the worker's threads
	gaussian      *gaussian // of gradientNoise
	countNoise    *noise.Stream
	recordNoise   *noise.Stream
	count         [1]float64
	together      []float64 // a step's P numbers, its count, the number of failed ranks, and C; nil: one process has all records

	samplers []sampler.Sampler // of Steps, one for each thread that draws
	sampling *noise.Stream     // a clone of theirs
	started  int               // steps done before the session
}

// start opens the engine and enters the mechanism in the ledger. before is the
// ledger without this mechanism, upper the certified epsilon of both. Where several
// processes hold the records, all start or none.
func (c *Curator) start(m Mechanism, before Ledger, done int, upper float64) (*Session, error) {
	if c.session != nil {
		return nil, errors.New("privacy: another session is open (close it first)")
	}
	if c.table == nil {
		return nil, errors.New("privacy: the curator has no table (encode one first)")
	}
	if err := agree(c.ranks, c.table.files, errFilesDiffer); err != nil {
		return nil, err
	}
	if err := c.agreeOn(m, done, c.table.cfg.Encoding); err != nil {
		return nil, err
	}
	root := c.root.Child(uint64(c.sessions)) // no two sessions may share a noise
	if c.ranks != nil && c.ranks.Rank() > 0 {
		root = root.Child(uint64(c.ranks.Rank())) // nor two ranks their batches, when the key is a known seed's
	}
	draws, sampling, err := c.batches(m, root.Stream(noise.Sampling), done)
	var s *Session
	if err == nil {
		s, err = c.prepare(m, root, draws, done)
	}
	if err := ready(c.ranks, err); err != nil {
		if s != nil {
			err = errors.Join(err, s.worker.Close())
			s.prefetch.Close()
			c.table.end()
		}
		return nil, err
	}
	s.sampling, s.entry = sampling, len(c.ledger.Entries)
	s.spending = spending{before: before.clone(), m: m, budget: c.budget, relation: c.relation, total: upper}
	c.ledger.Entries = append(c.ledger.Entries, Entry{
		Time: c.now().UTC(), Purpose: m.Purpose, Event: s.event(), Steps: done, Authorised: m.Steps,
	})
	c.session = s
	c.sessions++
	return s, nil
}

// prepare opens the engine.
func (c *Curator) prepare(m Mechanism, root noise.Root, draws sampler.Sampler, done int) (*Session, error) {
	if err := c.table.begin(m.Tape); err != nil {
		return nil, err
	}
	tapes, err := m.Groups.Tapes(m.Tape)
	if err != nil {
		c.table.end()
		return nil, fmt.Errorf("privacy: %w", err)
	}
	worker, err := OpenGroups(c.engine, m.Groups, m.Tape, c.rows)
	if err != nil {
		c.table.end()
		return nil, err
	}
	s := &Session{
		curator: c, m: m, worker: worker, sampler: draws, done: done, widened: 1 + Overshoot(tapes, m.BatchBound),
		gradientNoise: root.Stream(noise.GradientNoise),
		countNoise:    root.Stream(noise.CountNoise),
		samplers:      []sampler.Sampler{draws}, started: done,
	}
	if _, ok := worker.(Stepper); !ok && c.rows.OnDisk() { // a Stepper draws batches, too
		s.prefetch = sampler.NewPrefetch(draws, c.rows.Fetch, done, m.Steps)
	}
	s.loops = newLoops(worker)
	s.gaussian = newGaussian(s.gradientNoise, s.loops)
	if !alone(c.ranks) {
		s.together = make([]float64, m.Tape.P+3)
	}
	if m.Tape.AuxRecord > 0 {
		s.recordNoise = root.Stream(noise.RecordNoise)
	}
	return s, nil
}

// samplerFor draws the batches of a mechanism for n records.
func samplerFor(m Mechanism, n, done int, src *noise.Stream) (sampler.Sampler, error) {
	base, err := sampler.New(m.Sampler, n, done, src.Clone())
	if err != nil || m.Rates == nil {
		return base, err
	}
	s := &ratedSampler{Sampler: base, rates: m.Rates}
	for _, piece := range m.Rates {
		draws, err := sampler.New(m.Sampler.Times(piece.Factor), n, done, src.Clone())
		if err != nil {
			return nil, err
		}
		s.pieces = append(s.pieces, draws)
	}
	return s, nil
}

// ratedSampler draws each step's batch at the rate of its piece.
type ratedSampler struct {
	sampler.Sampler
	rates  schedule.Factors
	pieces []sampler.Sampler
}

// Draw implements sampler.Sampler.
func (s *ratedSampler) Draw(t int, dst []uint32) ([]uint32, bool) {
	return s.pieces[s.rates.Piece(t)].Draw(t, dst)
}

// StepRequest is an analyst's request for one step. It is public: it may depend on earlier
// releases, and on the records only through them.
type StepRequest struct {
	Params []float64 // θ, length P
	Aux    []float64 // noise drawn once per step, length Tape.AuxGlobal
	// ClipNorm is C of this step; the noise scales with it.
	ClipNorm float64
}

// Release is the result of a step besides the noisy sum.
type Release struct {
	// Count is Σ (1[|g_b| <= C] - γ) + N(0, σ_b²) if the mechanism buys it, else 0.
	Count float64
}

// The least and largest C and γ keep zC and its multiples normal numbers, so that
// the noise neither vanishes nor overflows, and are far above the gradients, about
// 1e-160, whose squares vanish: of these neither min(1, C/norm) nor C/(norm + γ),
// with a norm of 0, makes anything longer than C.
const clipMin, clipMax = 1e-100, 1e100

// Step sets dst, shape (P), to Σ g_b·f(|g_b|) + N(0, z²C²I) over a fresh batch, z times
// the step's factor: a sum, not a mean, because the size of the batch is private. An empty batch
// gives pure noise, a gradient that is not finite counts as zero. The step is
// charged before it runs; an error of the engine does not give it back, and
// leaves dst zero. *StepsError when all authorised steps are done.
// Abadi et al. 2016, arXiv:1607.00133, Alg. 1; docs/privacy.md.
func (s *Session) Step(dst []float64, req StepRequest) (Release, error) {
	t := s.m.Tape
	if len(dst) != t.P || len(req.Params) != t.P || len(req.Aux) != t.AuxGlobal {
		panic(fmt.Sprintf("privacy: sum, parameters and aux of length %d, %d, %d, want %d, %d, %d",
			len(dst), len(req.Params), len(req.Aux), t.P, t.P, t.AuxGlobal))
	}
	if s.worker == nil {
		return Release{}, errors.New("privacy: step of a closed session")
	}
	if s.done >= s.m.Steps {
		return Release{}, &StepsError{Authorised: s.m.Steps}
	}
	clip := s.m.Clip
	clip.Norm = req.ClipNorm
	if clip.Kind != Unclipped && !(clip.Norm >= clipMin && clip.Norm <= clipMax) {
		return Release{}, fmt.Errorf("privacy: clip norm %g is not in [%g, %g]", clip.Norm, clipMin, clipMax)
	}
	step := s.done
	s.done++
	s.lost = 0

	batch, all := s.draw(step)
	in := StepInput{Params: req.Params, Aux: req.Aux, RecordNoise: s.recordNoise, Step: step}
	count, err := s.worker.ClippedSum(dst, in, batch, all, clip)
	// the engine counts against 1/2, each record as ±1/2
	drawn := len(batch)
	if all {
		drawn = s.curator.rows.N
	}
	count += (0.5 - s.m.CountTarget) * float64(drawn)
	if s.together == nil {
		if err == nil {
			return Release{Count: s.release(dst, count, clip, step)}, nil
		}
	} else if count, err = s.releaseTogether(dst, count, err, clip, step); err == nil {
		return Release{Count: count}, nil
	}
	clear(dst)
	return Release{}, s.failed(err, 1)
}

// draw is the batch of the next step.
func (s *Session) draw(step int) (batch []uint32, all bool) {
	if s.prefetch != nil {
		batch, all = s.prefetch.Take(s.batch)
	} else {
		batch, all = s.sampler.Draw(step, s.batch)
	}
	if !all {
		s.batch = batch
	}
	return batch, all
}

// releaseTogether releases the sums of all ranks. A rank that has failed takes part,
// because the others wait for it: then the step fails on all.
func (s *Session) releaseTogether(dst []float64, count float64, failed error, clip Clip, step int) (float64, error) {
	p, x := len(dst), s.together
	copy(x, dst)
	x[p], x[p+1], x[p+2] = count, 0, clip.Norm
	if failed != nil {
		clear(x[:p+1])
		x[p+1] = 1
	}
	err := releaseTogether(s.curator.ranks, x, func() {
		if all := clip.Norm * float64(s.curator.ranks.Size()); !(math.Abs(x[p+2]-all) <= 1e-9*all) { // the noise is for this C
			clear(x[:p+1])
			x[p+1], failed = 1, errors.Join(failed, errQueriesDiffer)
			return
		}
		x[p] = s.release(x[:p], x[p], clip, step)
	})
	switch {
	case err != nil:
		return 0, err
	case x[p+1] > 0:
		return 0, &RankError{Own: failed}
	}
	copy(dst, x)
	return x[p], nil
}

// EngineError is the failure of an engine in the middle of a session. Its present steps are
// charged and released nothing: Resume takes them again.
type EngineError struct {
	Engine string
	Err    error
}

func (e *EngineError) Error() string {
	return fmt.Sprintf("privacy: engine %s failed: %v", e.Engine, e.Err)
}
func (e *EngineError) Unwrap() error { return e.Err }

func (s *Session) failed(err error, steps int) error {
	s.lost = steps
	return &EngineError{s.curator.engine.Name(), err}
}

// release adds the noise of a step to its exact sum, and returns the noisy count.
func (s *Session) release(dst []float64, count float64, clip Clip, step int) float64 {
	if clip.Kind == Unclipped {
		return 0
	}
	factor := s.m.Schedule.Factor(step)
	// released on a lattice, so that rounding does not betray the exact sum
	s.gaussian.add(dst, uint64(step), clip.Norm, s.m.GradientNoise*factor*clip.Norm*s.widened)
	if s.m.CountNoise == 0 {
		return 0
	}
	s.count[0] = count
	confine(s.count[:], 1)
	s.countNoise.Seek(uint64(step))
	s.countNoise.AddGaussian(s.count[:], s.m.CountNoise*factor*s.widened)
	return s.count[0]
}

// Format prints a fixed text for every verb: no log may show a record.
func (s *Session) Format(f fmt.State, _ rune) { fmt.Fprint(f, "privacy.Session(secret)") }

// event is the event of the session so far.
func (s *Session) event() event.Event {
	if s.m.Clip.Kind == Unclipped {
		return event.NonPrivate{}
	}
	return s.m.Event(s.done)
}

// confine keeps a sum within the range of fewer than 2^32 clipped records. It changes no
// correct sum. A defect of an engine must not become a panic in the noise, because records
// would decide that panic.
func confine(sum []float64, clipNorm float64) {
	most := 0x1p32 * clipNorm
	for i, x := range sum {
		if !(x >= -most && x <= most) { // NaN too
			sum[i] = 0
		}
	}
}

// Loops runs the analyst's loops on the threads that the session's steps use, between
// two of them. No record is involved.
func (s *Session) Loops() *Loops { return s.loops }

// StepsDone is the number of steps charged.
func (s *Session) StepsDone() int { return s.done }

// EpsilonSpent is a certified upper bound, at the budget's delta, on the price so far of
// the ledger with this session; +Inf if it is not private. It is computed for at most
// spendingPoints step counts and never below the truth: between two of them it is that of
// the later one.
func (s *Session) EpsilonSpent() float64 {
	if s.curator.ledger.NotPrivate != "" {
		return math.Inf(1)
	}
	return s.spending.after(s.done)
}

// Ledger returns the curator's ledger with the steps of this session so far.
func (s *Session) Ledger() Ledger { return s.curator.Ledger() }

// Close ends the session: its ledger entry is final, the engine's memory and
// the streams of the noise are given up. Closing twice is harmless.
func (s *Session) Close() error {
	if s.worker == nil {
		return nil
	}
	err := s.worker.Close()
	if s.lost > 0 { // the engine failed before; returns its error again
		err = nil
	}
	s.worker = nil
	s.prefetch.Close()
	s.curator.table.end()
	s.curator.ledger = s.curator.Ledger()
	s.curator.session = nil
	s.gaussian.wipe()
	s.countNoise.Wipe()
	s.sampling.Wipe()
	if s.recordNoise != nil {
		s.recordNoise.Wipe()
	}
	return err
}
