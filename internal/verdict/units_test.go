package verdict

import (
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
)

// Nothing is resolved where a unit has several rows, which may be alike. TestVerdictOfRecordsFarOut has the whole verdict.
func TestRowsOfAUnitMayBeAlike(t *testing.T) {
	for unit, want := range map[string]outputs.Verdict{
		"rows_per_unit: 1":          {Value: outputs.Resolved},
		"id: who, rows_per_unit: 9": {Value: outputs.Partly, Why: "of one person are taken as independent: if they are alike, intervals are up to 3 times too narrow"},
	} {
		m := modelstest.Compile(t, "unit.yaml", strings.Replace(oneCategory, "rows_per_unit: 1", unit, 1))
		if got := ByTable1(m, nil).Units; got.Value != want.Value || !strings.Contains(got.Why, want.Why) {
			t.Errorf("%s: %+v", unit, got)
		}
	}
}
