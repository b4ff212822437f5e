package privacy

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

// trialRecords is the number of simulated records that a trial sums: enough for several
// threads and blocks of an engine and an incomplete one.
const trialRecords = 777

// ErrWrong means that an engine computes other numbers than the reference.
var ErrWrong = errors.New("wrong sums")

// Try compares an engine's clipped sums with those of a trusted reference on records that
// the model simulates: with all gradients clipped, with none, and in one step that the
// engine takes by itself, if it can. If they differ the error is ErrWrong and states the
// difference. Try touches no record and no budget.
func Try(engine, reference Engine, m *models.Model, p Precision) error {
	rows, err := simulatedRows(m, p)
	if err != nil {
		return err
	}
	rng := noise.NewRandom(noise.Public(2).Stream(noise.Simulation))
	in := StepInput{
		Params: make([]float64, m.Likelihood.P), Aux: make([]float64, m.Likelihood.AuxGlobal),
		RecordNoise: noise.Insecure(1).Stream(noise.RecordNoise), // of simulated records: no secret
	}
	for _, x := range [][]float64{in.Params, in.Aux} {
		for i := range x {
			x[i] = 0.3 * rng.Normal()
		}
	}
	for _, c := range []float64{1e-3, 1e6} {
		clip := Clip{Kind: Flat, Norm: c}
		want, wantCount, err := trialSum(reference, m, rows, in, clip)
		if err != nil {
			return err
		}
		got, count, err := trialSum(engine, m, rows, in, clip)
		if err != nil {
			return err
		}
		if err := compare(engine, got, want, p); err != nil {
			return err
		}
		if math.Abs(count-wantCount) > 1 { // a norm at C may fall on either side
			return fmt.Errorf("%w: %s counts %g of %d simulated records within the clip norm, the CPU %g", ErrWrong, engine.Name(), count+trialRecords/2., trialRecords, wantCount+trialRecords/2.)
		}
	}
	return trySteps(engine, reference, m, rows, in, p)
}

// trialSum is one clipped sum over all rows.
func trialSum(e Engine, m *models.Model, rows *Rows, in StepInput, clip Clip) (sum []float64, count float64, err error) {
	w, err := e.Open(m.Likelihood, rows)
	if err != nil {
		return nil, 0, err
	}
	sum = make([]float64, m.Likelihood.P)
	count, err = w.ClippedSum(sum, in, nil, true, clip)
	if closed := w.Close(); err == nil {
		err = closed
	}
	return sum, count, err
}

// compare states which sum differs most, relative to the largest of all.
func compare(e Engine, got, want []float64, p Precision) error {
	most := allowed(want, p)
	for i, x := range want {
		if !(math.Abs(got[i]-x) <= most) {
			return fmt.Errorf("%w: %s computes %g for the sum of clipped gradients of parameter %d over simulated records, the CPU %g", ErrWrong, e.Name(), got[i], i+1, x)
		}
	}
	return nil
}

// allowed is the largest accepted difference of the sums of two engines.
func allowed(sums []float64, p Precision) float64 {
	largest := 0.0
	for _, x := range sums {
		largest = max(largest, math.Abs(x))
	}
	if p == Float32 {
		return 1e-3 * largest
	}
	return 1e-7 * largest
}

// simulatedRows are records as the model simulates them, encoded and with derived columns.
// A unit of several rows has them all, every third one but one.
func simulatedRows(m *models.Model, p Precision) (*Rows, error) {
	e := m.Encoding
	most := max(1, e.RowsPerUnit)
	rng := noise.NewRandom(noise.Public(1).Stream(noise.Simulation))
	theta := make([]float64, m.P)
	for i := range theta {
		theta[i] = 0.3 * rng.Normal()
	}
	drawn := simulate.Records(m, theta, trialRecords*most, m.DeclaredLaw(), rng)
	rows := NewRows(p, trialRecords, e.Width(), max(e.Width(), m.Likelihood.K))
	block := e.Width() / most
	record := make([]float64, e.Width())
	for i := range trialRecords {
		for r := range most {
			copy(record[r*block:], drawn[(i*most+r)*e.K:][:e.K])
			if block > e.K {
				record[r*block+e.K] = 1
				if r > 0 && i%3 == 0 {
					record[r*block+e.K] = 0
				}
			}
		}
		rows.Set(i, 0, record)
	}
	return rows, DeriveColumns(m.Likelihood, rows, e.Width())
}

// trySteps compares a step that an engine takes by itself with the reference's: the batch
// drawn by a network, the clipped sum, and the added noise. It does nothing for an engine
// that takes no such steps.
func trySteps(engine, reference Engine, m *models.Model, rows *Rows, in StepInput, p Precision) error {
	const z, clipNorm, step = 1, 1, 5
	if m.Likelihood.AuxGlobal > 0 {
		return nil // Session.Prepare refuses it
	}
	root := noise.Insecure(1) // of simulated records: no secret
	draws, err := sampler.New(sampler.Config{Scheme: sampler.Poisson, Rate: 0.1, Batches: sampler.Feistel}, rows.N, 0, root.Stream(noise.Sampling))
	if err != nil {
		return err
	}
	got, err := trialStep(engine, m, rows, StepsInput{
		First: step, N: 1, Threads: 1, Rate: draws.Rate(), Networks: []*sampler.Network{draws.Network()},
		Draw:  func(_, t int, dst []uint32) ([]uint32, bool) { return draws.Draw(t, dst) },
		State: append(slices.Clone(in.Params), clipNorm), Kept: make([]float64, m.Likelihood.P+1),
		Sum: root.Stream(noise.GradientNoise), Count: root.Stream(noise.CountNoise), RecordNoise: in.RecordNoise,
		Clip: Clip{Kind: Flat}, GradientNoise: z, Widened: 1,
	})
	if err != nil || got == nil {
		return err
	}
	want := make([]float64, m.Likelihood.P)
	w, err := reference.Open(m.Likelihood, rows)
	if err != nil {
		return err
	}
	batch, _ := draws.Draw(step, nil)
	in.Step = step
	_, err = w.ClippedSum(want, in, batch, false, Clip{Kind: Flat, Norm: clipNorm})
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	sums := root.Stream(noise.GradientNoise)
	sums.Seek(step)
	sums.AddGaussian(want, z*clipNorm)
	for i, x := range want {
		// a sum that differs in its last bits may go to the next point of the lattice
		if !(math.Abs(got[i]-x) <= allowed(want, p)+0x1p-9*z*clipNorm) {
			return fmt.Errorf("%w: %s releases %g for parameter %d after a step by itself over simulated records, the CPU %g", ErrWrong, engine.Name(), got[i], i+1, x)
		}
	}
	return nil
}

// trialStep is the noisy sum of one step; nil if the engine takes none by itself.
func trialStep(e Engine, m *models.Model, rows *Rows, in StepsInput) (sum []float64, err error) {
	post, err := releaseAlone(m.Likelihood.P)
	if err != nil {
		return nil, err
	}
	w, err := e.Open(m.Likelihood, rows)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	stepper, ok := w.(Stepper)
	if !ok || stepper.Prepare(post) != nil {
		return nil, nil
	}
	switch done, err := stepper.Steps(in); {
	case err == ErrNotStepping:
		return nil, nil
	case err != nil:
		return nil, err
	case done != 1:
		return nil, fmt.Errorf("privacy: %s takes no step over simulated records", e.Name())
	}
	return in.Kept[:m.Likelihood.P], nil
}

// releaseAlone is the postprocessing with the state θ and C at first, and then the noisy
// sum and C.
func releaseAlone(P int) (post Postprocessing, err error) {
	shape := graph.Shape{{Name: "p", Size: P}}
	var errs [3]error
	b := graph.NewBuilder()
	theta := b.Param("m", shape)
	b.Param("c", nil)
	post.Propose, errs[0] = graph.Compile(b, nil, []*graph.Node{theta}, graph.Options{})
	b = graph.NewBuilder()
	post.Prior, errs[1] = graph.Compile(b, b.Mul(b.Const(-0.5), b.Sum(b.Square(b.Param("theta", shape)))), nil, graph.Options{})
	b = graph.NewBuilder()
	b.Param("m", shape)
	c, sum := b.Param("c", nil), b.Aux("sum", shape, false)
	b.Aux("count", nil, false)
	b.Aux("gradient", shape, false)
	post.Absorb, errs[2] = graph.Compile(b, nil, []*graph.Node{b.Mul(b.Const(1), sum), b.Mul(b.Const(1), c)}, graph.Options{})
	post.ClipNorm = P
	return post, errors.Join(errs[:]...)
}
