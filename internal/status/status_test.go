package status_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"d3p/internal/status"
)

func TestStatusOf(t *testing.T) {
	inner := status.With(status.Data, errors.New("inner"))
	for _, c := range []struct {
		err  error
		want status.Code
	}{
		{nil, status.OK},
		{errors.New("anything"), status.Usage},
		{status.Usagef("flag"), status.Usage},
		{inner, status.Data},
		{fmt.Errorf("around: %w", inner), status.Data},
		{status.With(status.Numeric, fmt.Errorf("around: %w", inner)), status.Data}, // the innermost knows best
		{context.Canceled, status.Interrupted},
		{status.With(status.Stopped, errors.New("stopped")), status.Stopped},
	} {
		if got := status.Of(c.err); got != c.want {
			t.Errorf("status of %v is %d, want %d", c.err, got, c.want)
		}
	}
	if status.With(status.Data, nil) != nil {
		t.Error("no error became one")
	}
}

// The help must list every status with its number.
func TestExitCodesAreDocumented(t *testing.T) {
	for _, s := range []status.Code{status.OK, status.Usage, status.Spec, status.Data, status.Budget, status.Numeric, status.Stopped, status.NoGPU, status.Strict, status.Interrupted} {
		if !strings.Contains(status.Table, fmt.Sprintf("\n  %-4d ", s)) {
			t.Errorf("status %d is not in the help", s)
		}
	}
}

// The number of a status does not change.
func TestExitStatusesAreStable(t *testing.T) {
	statuses := []status.Code{status.OK, status.Usage, status.Spec, status.Data, status.Budget, status.Numeric, status.Stopped, status.NoGPU, status.Strict, status.Interrupted}
	numbers := []int{0, 2, 3, 4, 5, 6, 7, 8, 9, 130}
	for i, s := range statuses {
		if int(s) != numbers[i] {
			t.Errorf("status %d was %d: scripts test it", s, numbers[i])
		}
	}
}
