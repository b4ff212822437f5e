package main

import (
	"strings"
	"testing"
)

// The note under the table names the scales that coefficients are on: not those
// of a count or of an exposure, which the model reads in the unit of the file.
func TestScales(t *testing.T) {
	for file, want := range map[string]string{
		"poisson":      "deprivation per 2.598 from 5.5",
		"hierarchical": "age per 20 from 60, severity per 8 from 12",
	} {
		m, err := loadModel("../../configs/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(scalesOf(m), ", "); got != want {
			t.Errorf("%s: scales %q, want %q", file, got, want)
		}
	}
}
