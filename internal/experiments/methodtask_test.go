package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Predictions belong to the rows that they name; rows without a prediction or a response
// have no part in a score.
func TestMethodScores(t *testing.T) {
	dir := t.TempDir()
	predictions, test := filepath.Join(dir, "p.csv"), filepath.Join(dir, "test.csv")
	for path, text := range map[string]string{
		predictions: "row,mean\n1,1\n3,5\n4,\n5,2\n",
		test:        "x,y\n0,2\n0,100\n0,2\n0,100\n0,NA\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := methodTable{response: "y", value: number, metric: "rmse"}
	got, err := m.score(predictions, test)
	if want := math.Sqrt(5); err != nil || math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, table := range methodTables {
		if table.model == "" || len(table.methods) == 0 {
			t.Errorf("%s has no model or method", table.name)
		}
	}
}
