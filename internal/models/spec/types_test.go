package spec_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"d3p/internal/models/expr"
	"d3p/internal/models/spec"
)

// A type of another tool gets what to write here.
func TestTypesOfOtherTools(t *testing.T) {
	for word, want := range map[string]string{
		"count": "write `type: integer, lower: 0`", "Factor": "write `type: category, levels: [...]`", "float64": "write `type: real`",
		"bool": "write `type: binary, levels: [no, yes]`", "timestamp": "write `type: date`", "reel": "did you mean real?", "vector": "one of: real, integer",
	} {
		text := fmt.Sprintf("d3p: 1\ndata:\n  unit: {entity: person, rows_per_unit: 1}\n  rows: {public: 10}\n  columns:\n    y: {type: %s, lower: 0, upper: 9}\nmodel: {formula: y ~ 1, family: normal}\n", word)
		_, err := spec.Parse("m.yaml", []byte(text), nil)
		var all expr.Errors
		if !errors.As(err, &all) || !strings.HasPrefix(all[0].Hint, want) || all[0].Message != "unknown type "+word {
			t.Errorf("%s: %v, want the hint %s", word, err, want)
		}
	}
}
