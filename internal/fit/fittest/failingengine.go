package fittest

import (
	"errors"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// FailsAt is an engine whose clipped sum fails in one step, like a lost card.
type FailsAt struct {
	privacy.Engine
	Step int
}

// Open implements privacy.Engine.
func (f FailsAt) Open(t *graph.Tape, rows *privacy.Rows) (privacy.Worker, error) {
	w, err := f.Engine.Open(t, rows)
	return failing{w, f.Step}, err
}

type failing struct {
	privacy.Worker
	step int
}

func (w failing) ClippedSum(dst []float64, in privacy.StepInput, batch []uint32, all bool, clip privacy.Clip) (float64, error) {
	if in.Step == w.step {
		return 0, errors.New("the card is gone")
	}
	return w.Worker.ClippedSum(dst, in, batch, all, clip)
}
