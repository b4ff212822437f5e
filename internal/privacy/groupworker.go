package privacy

import (
	"errors"
	"fmt"

	"d3p/internal/models/graph"
	"d3p/internal/privacy/clipgroups"
)

// OpenGroups readies an engine to clip group by group; without groups it is the engine's own
// worker.
func OpenGroups(e Engine, g clipgroups.Groups, t *graph.Tape, rows *Rows) (Worker, error) {
	if g == nil {
		return e.Open(t, rows)
	}
	tapes, err := g.Tapes(t)
	if err != nil {
		return nil, fmt.Errorf("privacy: %w", err)
	}
	w := &groupWorker{groups: g, norms: g.ClipNorms(), part: make([]float64, t.P)}
	for _, part := range tapes {
		worker, err := e.Open(part, rows)
		if err != nil {
			return nil, errors.Join(err, w.Close())
		}
		w.workers = append(w.workers, worker)
	}
	return w, nil
}

// groupWorker has a worker for each group.
type groupWorker struct {
	groups  clipgroups.Groups
	norms   []float64 // C_j / C
	workers []Worker
	part    []float64
}

// ClippedSum implements Worker. Which records are within C is no question of a group: the
// count is 0.
func (w *groupWorker) ClippedSum(dst []float64, in StepInput, batch []uint32, all bool, clip Clip) (float64, error) {
	clear(dst)
	for j, worker := range w.workers {
		own := clip
		own.Norm *= w.norms[j]
		if _, err := worker.ClippedSum(w.part, in, batch, all, own); err != nil {
			return 0, err
		}
		for _, r := range w.groups[j].Ranges {
			copy(dst[r.From:r.To], w.part[r.From:r.To])
		}
	}
	return 0, nil
}

// Close implements Worker.
func (w *groupWorker) Close() error {
	var errs []error
	for _, worker := range w.workers {
		errs = append(errs, worker.Close())
	}
	return errors.Join(errs...)
}
