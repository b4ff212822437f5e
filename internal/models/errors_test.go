package models

import (
	"errors"
	"testing"

	"d3p/internal/models/expr"
	"d3p/internal/models/spec/spectest"
)

// TestErrors checks the messages about core blocks and lowered formulas.
func TestErrors(t *testing.T) {
	spectest.Each(t, "testdata/errors/*.yaml", func(file string, src []byte) expr.Errors {
		var errs expr.Errors
		if _, err := Read(file, src, nil); err != nil && !errors.As(err, &errs) {
			t.Fatalf("%T: %v", err, err)
		}
		return errs
	})
}

func TestHint(t *testing.T) {
	known := []string{"normal", "poisson"}
	if got := hint("nromal", known); got != "did you mean normal?" {
		t.Errorf("hint for nromal: %q", got)
	}
	if got := hint("quadratic", known); got != "" {
		t.Errorf("hint for a name that is like none: %q", got)
	}
}
