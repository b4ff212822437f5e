package tables_test

import (
	"slices"
	"testing"

	"d3p/internal/experiments/tables"
)

// Every record has a cell for each column, none breaks the rule, and the columns that the
// target and the rule name are there. Other seeds draw other records.
func TestTables(t *testing.T) {
	for _, x := range tables.List {
		header, rows := x.Draw(2000, 1)
		if len(rows) != 2000 {
			t.Fatalf("%s has %d records", x.Name, len(rows))
		}
		never, within, target := slices.Index(header, x.Never[0]), slices.Index(header, x.Within[0]), slices.Index(header, x.Target)
		if never < 0 || within < 0 || target < 0 {
			t.Fatalf("%s lacks a column of its rule, or its target", x.Name)
		}
		rare, one := 0, 0
		for _, row := range rows {
			if len(row) != len(header) {
				t.Fatalf("%s: a record of %d cells, want %d", x.Name, len(row), len(header))
			}
			if row[within] == x.Within[1] {
				rare++
				if row[never] == x.Never[1] {
					t.Fatalf("%s: %v breaks the rule", x.Name, row)
				}
			}
			if row[target] == x.One {
				one++
			}
		}
		if rare == 0 || one < 40 || one > 1960 {
			t.Errorf("%s: the rule is about %d records, %d have the target", x.Name, rare, one)
		}
		if _, others := x.Draw(2000, 2); slices.Equal(rows[0], others[0]) && slices.Equal(rows[1], others[1]) {
			t.Errorf("%s: two seeds draw the same", x.Name)
		}
	}
}
