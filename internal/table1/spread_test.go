package table1_test

import (
	"slices"
	"testing"

	"d3p/internal/table1"
)

// Columns whose spread noise hides are named if a correlation is about them, whether the table
// has limits or not.
func TestSpreadless(t *testing.T) {
	zero, one := 0.0, 1.0
	number := func(column string, sd, noise float64, low *float64) table1.Row {
		return table1.Row{Column: column, Statistic: table1.SD, Value: sd, NoiseSD: noise, Low: low}
	}
	share := func(column, level string, value, noise float64) table1.Row {
		return table1.Row{Column: column, Statistic: table1.Share, Of: level, Value: value, NoiseSD: noise}
	}
	with := func(column, of string) table1.Row {
		return table1.Row{Column: column, Statistic: table1.Correlation, Of: of, Value: 0.5, NoiseSD: 0.4}
	}
	rows := []table1.Row{
		number("constant", 0.1, 1, &zero), number("age", 10, 4, &one), number("old", 3, 2, nil), number("new", 5, 2, nil), number("alone", 0.1, 1, &zero),
		share("site", "a", 0.97, 0.02), share("site", "b", 0.03, 0.02), share("sex", "f", 0.9, 0.02), share("sex", "m", 0.1, 0.02),
		with("constant", "age"), with("old", "age"), with("new", "age"), with("site", "age"), with("age", "sex"),
	}
	plain := number("plain", 1.3, 0.8, &zero) // its limits allow for records far out
	plain.ShapeSD = 0.1
	rows = append(rows, plain, with("plain", "age"))
	if got, want := table1.Spreadless(rows), []string{"constant", "old", "site"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
