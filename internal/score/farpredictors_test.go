package score

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
)

// A unit with a row far out in a predictor counts once, in the cell of the farthest one, whatever its other rows
// are; a response, however far, has cells by its surprisal alone.
func TestUnitsFarOutInAPredictor(t *testing.T) {
	m := modelstest.Compile(t, "calls.yaml", strings.NewReplacer("rows_per_unit: 1", "id: person, rows_per_unit: 3, keep: first",
		"x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}", "x: {type: real, lower: -300, upper: 300, scale: {center: 100, by: 2}}\n    z: {type: real, lower: -300, upper: 300, scale: {center: 0, by: 1}}\n    v: {type: binary, levels: [\"0\", \"1\"]}",
		"1 + x", "1 + x + z + v").Replace(calls))
	theta := make([]float64, m.P)
	q := NewSurprisals(1, event.AddRemove).At(m, theta, m.DeclaredLaw())
	if len(q.Far) != 2 || q.Far[0].Column != "x" || q.Far[1].Column != "z" {
		t.Fatalf("predictors %+v", q.Far)
	}
	for _, c := range []struct {
		rows string // x,z,v,y; of one person
		cell int    // after those of the edges; -1: before
	}{
		{"100,0,1,1", -1},
		{"89,5,1,1", -1}, // 5.5 and 5 standard deviations
		{"86,5,1,1", 0},  // 7
		{"63,7,1,1", 1},  // 18.5, and 7
		{"86,-9,0,1", 2},
		{"100,0,0,1;100,25,0,1;83,0,0,1", 3},
		{"100,0,0,450", -1},
		{"100,0,0,450;100,7,0,1", 2}, // not in the last cell of the surprisals
		{"?,25,0,1;100,0,0,1", -1},   // an invalid row has no cell
	} {
		path := filepath.Join(t.TempDir(), "calls.csv")
		text := "person,x,z,v,y\n1," + strings.ReplaceAll(c.rows, ";", "\n1,") + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		rows, _, err := privacy.ReadNewRows(path, m.Encoding)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := privacy.CountPublic(rows, m.Encoding.RowsPerUnit, q.Placer(m, theta))
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Index(counts[0], 1) - len(q.Edges) - 1
		if max(got, -1) != c.cell || slices.Max(counts[0]) != 1 || len(counts[0]) != len(q.Edges)+1+2*len(FarDistances) {
			t.Errorf("%s: counts %v, want one in cell %d after the edges", c.rows, counts[0], c.cell)
		}
	}
	q.Counts = make([]float64, q.cells())
	if !q.Complete(m) || q.Complete(modelstest.Compile(t, "calls.yaml", calls)) {
		t.Error("counts are complete for a model with their predictors alone")
	}
}
