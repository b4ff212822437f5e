package records

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/noise"
)

// The check says where the first cells stand that do not fit or leave their record out, by
// line of a text file and by row of a Parquet file, with units and without.
func TestFirstCells(t *testing.T) {
	one := modelstest.File(t, "one.csv", "id,a,b\n1,1,1\n\n2,\"2\",x\n3,\"3\n\",1\n4,99,1\n5,1,,1\n6,,1\n")
	two := modelstest.File(t, "two.csv", "id,a,b\n7,-5,1\n"+strings.Repeat("8,99,1\n", 20))
	three := modelstest.File(t, "three.parquet", parquetText(t, arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "a", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "b", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil), "[9, 10, 11]", "[1, null, 1]", "[1, 100, 1]"))
	e := twoNumbers()
	low, high := 0.0, 50.0
	e.Fields[0].Lower, e.Fields[0].Upper, e.Fields[0].Missing = &low, &high, encoding.MissingReject
	e.Fields[1].Upper = &high
	for _, unit := range []string{"", "id"} {
		if e.UnitID = unit; unit != "" {
			e.RowsPerUnit, e.Keep = 2, encoding.KeepFirst
		}
		for _, c := range []struct {
			paths []string
			a, b  string
		}{
			{[]string{one}, "one.csv:7 one.csv:9", "one.csv:4"},
			{[]string{two, one}, "two.csv:2 two.csv:3 two.csv:4 two.csv:5 two.csv:6 two.csv:7 two.csv:8 two.csv:9 two.csv:10 two.csv:11", "one.csv:4"},
			{[]string{three, one}, "three.parquet:2 one.csv:7 one.csv:9", "three.parquet:2 one.csv:4"},
		} {
			_, check, err := Read("table", c.paths, e, Options{Selection: noise.Insecure(3).Stream(noise.RowSelection)})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []string{c.a, c.b} {
				if got := check.Columns[i].Lines; !slices.Equal(got, strings.Fields(want)) {
					t.Errorf("unit %q, %v: column %s: %v, want %s", unit, c.paths, check.Columns[i].Column, got, want)
				}
			}
		}
	}
}

// counts are the counts of a check, without the places, which differ between files of the
// same records.
func counts(c Check) Check {
	c.File, c.Columns = "", slices.Clone(c.Columns)
	for i := range c.Columns {
		c.Columns[i].Lines = nil
	}
	return c
}
