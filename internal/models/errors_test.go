package models_test

import (
	"errors"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/expr"
	"d3p/internal/models/spec/spectest"
)

// TestErrors checks the messages about core blocks and lowered formulas.
func TestErrors(t *testing.T) {
	spectest.Each(t, "testdata/errors/*.yaml", func(file string, src []byte) expr.Errors {
		var errs expr.Errors
		if _, err := models.Read(file, src, nil); err != nil && !errors.As(err, &errs) {
			t.Fatalf("%T: %v", err, err)
		}
		return errs
	})
}
