package run

import (
	"context"
	"testing"

	"d3p/internal/cluster"
)

// After the last step rank 0 stops when it is told to, and the others at once: only rank 0 releases a posterior.
func TestOthersEndAfterTheLastStep(t *testing.T) {
	for rank := range 2 {
		told, tell := context.WithCancel(context.Background())
		s := &inStep{job: &cluster.Job{Rank: rank, Size: 2}}
		ctx := s.follow(told)
		observer := endObserver(s.ended)
		observer.Step(1, 2, nil)
		if ctx.Err() != nil {
			t.Errorf("rank %d has ended before the last step", rank)
		}
		observer.Step(2, 2, nil)
		if ended := ctx.Err() != nil; ended != (rank > 0) {
			t.Errorf("rank %d has ended: %v", rank, ended)
		}
		tell()
		<-ctx.Done()
	}
}
