package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
)

// Checkpoint is the saved form of a fit: its plan, the state of the loop, and the caller's
// ledger, so that resuming cannot reset the budget. Everything in it is post-processing of
// released numbers, but it is no result: it belongs in private/.
type Checkpoint struct {
	Format int             `json:"format"`
	Plan   *plan.Plan      `json:"plan"`
	State  State           `json:"state"`
	Ledger json.RawMessage `json:"ledger,omitempty"` // the spending so far
	Sample []float64       `json:"sample,omitempty"` // in place of State, for a finished fit by a sampler
}

// checkpointFormat is the version of the JSON form.
const checkpointFormat = 1

// Checkpoint returns the loop's state with ledger, the JSON form of the spending so far.
func (l *Loop) Checkpoint(ledger json.RawMessage) Checkpoint {
	return Checkpoint{Format: checkpointFormat, Plan: l.plan, State: l.state, Ledger: ledger}
}

// Write writes c as JSON; float64 values survive exactly.
func (c Checkpoint) Write(w io.Writer) error { return json.NewEncoder(w).Encode(c) }

// ReadCheckpoint reads what Write wrote.
func ReadCheckpoint(r io.Reader) (Checkpoint, error) {
	var c Checkpoint
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: not readable: %w", err)
	}
	if c.Format != checkpointFormat || c.Plan == nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: format %d, want %d (start the fit again)", c.Format, checkpointFormat)
	}
	return c, nil
}

// bind gives the checkpoint's plan its model m.
func (c Checkpoint) bind(m *models.Model) error {
	if c.Plan.Latent != m.P {
		return errors.New("checkpoint: it is of another model (give the model file of the stopped fit)")
	}
	return c.Plan.Bind(m)
}

// Restore returns a loop that continues where c was taken.
func Restore(c Checkpoint) (*Loop, error) {
	if c.Plan.Latent < 1 {
		return nil, errors.New("checkpoint: no parameters")
	}
	l, err := NewLoop(c.Plan, make([]float64, c.Plan.Latent))
	if err != nil {
		return nil, err
	}
	l.restored = true
	s, saved := &l.state, c.State
	arrays := [][2][]float64{
		{s.Lambda, saved.Lambda}, {s.Average.Mean, saved.Average.Mean},
		{s.Noise.Variance, saved.Noise.Variance}, {s.Noise.Cross, saved.Noise.Cross}, {s.Noise.SumSquare, saved.Noise.SumSquare},
	}
	for i, a := range s.Gradients.Arrays() {
		arrays = append(arrays, [2][]float64{*a, *saved.Gradients.Arrays()[i]})
	}
	if len(saved.Moments) != len(s.Moments) {
		return nil, errors.New("checkpoint: its optimizer state does not fit its plan")
	}
	for i := range s.Moments {
		arrays = append(arrays, [2][]float64{s.Moments[i], saved.Moments[i]})
	}
	for _, a := range arrays {
		if len(a[0]) != len(a[1]) {
			return nil, errors.New("checkpoint: its state does not fit its plan")
		}
		copy(a[0], a[1])
	}
	if saved.Step < 0 || saved.Step > c.Plan.Steps || !(saved.ClipNorm > 0) || !s.Trace.restore(saved.Trace, c.Plan.Latent) {
		return nil, errors.New("checkpoint: its state does not fit its plan")
	}
	if p := c.Plan; p.ByMoments() != (p.Regression() != nil) || p.ByMoments() != (len(saved.Regression) > 0) && saved.Step > 0 || p.ByMoments() && len(saved.Regression) != saved.Step {
		return nil, errors.New("checkpoint: its steps do not fit its plan")
	}
	for _, r := range saved.Regression {
		if p := c.Plan.Latent; len(r.Theta) != p || len(r.Covariance) != p*p || len(r.Sum) != c.Plan.Release || !(r.ClipNorm > 0) {
			return nil, errors.New("checkpoint: its steps do not fit its plan")
		}
	}
	s.Regression = saved.Regression
	s.Step, s.ClipNorm = saved.Step, saved.ClipNorm
	s.Average.Count, s.Noise.Count = saved.Average.Count, saved.Noise.Count
	return l, nil
}
