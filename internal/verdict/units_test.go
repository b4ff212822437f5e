package verdict

import (
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/privacy/noise"
	"d3p/internal/score"
)

// Nothing is resolved where a unit has several rows and nobody knows how alike they are. TestVerdictOfRecordsFarOut
// has the whole verdict.
func TestRowsOfAUnitMayBeAlike(t *testing.T) {
	bought := &score.DesignEffects{Rows: []float64{1, 2}, Open: []float64{0.1, 0.1, 0.1}}
	for _, c := range []struct {
		unit string
		q    *score.DesignEffects
		want outputs.Verdict
	}{
		{"rows_per_unit: 1", nil, outputs.Verdict{Value: outputs.Resolved}},
		{"id: who, rows_per_unit: 9", nil, outputs.Verdict{Value: outputs.Partly, Why: "of one person are taken as independent: if they are alike, intervals are up to 3 times too narrow"}},
		{"id: who, rows_per_unit: 9", &score.DesignEffects{}, outputs.Verdict{Value: outputs.Partly, Why: "are taken as independent"}},
		{"id: who, rows_per_unit: 9", bought, outputs.Verdict{Value: outputs.Resolved}},
	} {
		m := modelstest.Compile(t, "unit.yaml", strings.Replace(oneCategory, "rows_per_unit: 1", c.unit, 1))
		if got := OfRows(m, c.q); got.Value != c.want.Value || !strings.Contains(got.Why, c.want.Why) {
			t.Errorf("%s: %+v", c.unit, got)
		}
	}
}

// Only variables whose design effect is hardly known are not resolved, in their own units too.
func TestVariablesOfHardlyKnownDesignEffects(t *testing.T) {
	m := modelstest.Compile(t, "unit.yaml", strings.Replace(oneCategory, "rows_per_unit: 1", "id: who, rows_per_unit: 9", 1))
	draws := outputs.DrawPrior(m, 100, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
	rows := bandRows(1000)
	known := ByTable1(m, rows)
	known.Declared, known.OpenRows = 1000, []float64{0.1, 0.4, 0.2}
	Judge(m, draws, nil, nil, known)
	for _, v := range draws.Variables {
		hardly := strings.Contains(v.Verdict.Why, "how alike rows of one person are is hardly known")
		if hardly != strings.HasPrefix(v.Name, "b[") {
			t.Errorf("%s: %+v", v.Name, v.Verdict)
		}
	}
}
