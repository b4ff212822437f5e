package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"
)

func TestFilesAreFresh(t *testing.T) {
	for name, want := range files() {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("datasets/%s differs from what the generator writes; run make datasets", name)
		}
	}
}

// The cohort must keep what the tutorial says of it: every level occurs, values
// are missing where declared, and the outcome is neither rare nor common.
func TestCohortShape(t *testing.T) {
	rows, err := csv.NewReader(bytes.NewReader(cohortCSV(cohortTruth, 4000))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]map[string]int, len(rows[0]))
	for j := range counts {
		counts[j] = map[string]int{}
	}
	for _, row := range rows[1:] {
		for j, cell := range row {
			counts[j][cell]++
		}
	}
	want := map[string]int{"sex": 2, "smoker": 4, "emergency": 2, "hospital": 12, "died30": 2}
	for j, name := range rows[0] {
		if n, ok := want[name]; ok && len(counts[j]) != n {
			t.Errorf("%s has %d values, want %d", name, len(counts[j]), n)
		}
	}
	if missing := counts[1][""]; missing < 150 || missing > 250 {
		t.Errorf("%d missing bmi, want about 200", missing)
	}
	if died := counts[7]["1"]; died < 800 || died > 1400 {
		t.Errorf("%d of 4000 died, want about a quarter", died)
	}
}
