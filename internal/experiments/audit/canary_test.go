package main

import (
	"strings"
	"testing"
)

// TestCanariesOfTheSearchAreRows: a record that the search finds can be written into the
// table.
func TestCanariesOfTheSearchAreRows(t *testing.T) {
	list, err := scenarios()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range list {
		if !strings.HasSuffix(s.name, "found by search") {
			continue
		}
		found++
		for _, row := range s.canaries[0] {
			t.Log(s.name, row)
			if strings.Count(row, ",") != strings.Count(s.header, ",") || strings.Contains(row, ",,") || strings.HasSuffix(row, ",") {
				t.Errorf("%s: row %q under header %q", s.name, row, s.header)
			}
		}
		if len(s.canaries[0]) == 0 {
			t.Errorf("%s: no row", s.name)
		}
	}
	if found == 0 {
		t.Error("no canary was searched for")
	}
}
