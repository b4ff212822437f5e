package privacy

import (
	"fmt"
	"math"

	"d3p/internal/models"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy/noise"
)

// trialRecords is how many simulated records a trial sums: enough that threads and
// blocks of an engine have work and a rest.
const trialRecords = 777

// Try compares an engine's clipped sums with those of a reference that is known to be
// right, on records that the model simulates: once with all gradients clipped, once
// with none. The error states what differs. No record and no budget is involved.
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
			return fmt.Errorf("privacy: %s counts %g of %d simulated records within the clip norm, the CPU %g", engine.Name(), count+trialRecords/2., trialRecords, wantCount+trialRecords/2.)
		}
	}
	return nil
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
	allowed := 1e-7
	if p == Float32 {
		allowed = 1e-3
	}
	largest := 0.0
	for _, x := range want {
		largest = max(largest, math.Abs(x))
	}
	for i, x := range want {
		if !(math.Abs(got[i]-x) <= allowed*largest) {
			return fmt.Errorf("privacy: %s computes %g for the sum of clipped gradients of parameter %d over simulated records, the CPU %g", e.Name(), got[i], i+1, x)
		}
	}
	return nil
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
