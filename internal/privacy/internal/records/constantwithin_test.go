package records

import (
	"testing"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
)

// Rows that differ from the first row of their group are counted, as rows or within
// units, and rows that are not usable are not.
func TestVaryingWithinGroups(t *testing.T) {
	site := encoding.Field{Column: "site", Type: data.Category, Kind: encoding.LevelCode, Levels: []string{"a", "b", "c"},
		Unknown: encoding.UnknownReject, Missing: encoding.MissingReject, Out: []int{0}}
	beds := encoding.Field{Column: "beds", Type: data.Real, Kind: encoding.Numeric, Lower: ptr(0), Upper: ptr(1000), Missing: encoding.MissingReject, Out: []int{1}}
	kind := encoding.Field{Column: "kind", Type: data.Category, Kind: encoding.OneHot, Levels: []string{"x", "y", "z"},
		Unknown: encoding.UnknownReject, Missing: encoding.MissingReject, Out: []int{-1, 2, 3}}
	e := encoding.Encoding{Fields: []encoding.Field{site, beds, kind}, K: 4,
		Within: []encoding.Within{{Column: "beds", Group: "site"}, {Column: "kind", Group: "site"}}}
	const text = "id,site,beds,kind\n" +
		"1,a,100,x\n1,b,200,y\n2,a,100,x\n2,a,101,x\n3,b,200,z\n3,c,300,z\n4,a,100,z\n4,d,500,x\n4,a,NA,y\n"
	for _, rowsPerUnit := range []int{0, 2} {
		if rowsPerUnit > 0 {
			e.UnitID, e.RowsPerUnit, e.Keep = "id", rowsPerUnit, encoding.KeepFirst
		}
		e.MissingTokens = []string{"NA"}
		_, check, err := readOne(modelstest.File(t, "data.csv", text), e, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"beds": 1, "kind": 2}
		for _, c := range check.Columns {
			if c.Varying != want[c.Column] {
				t.Errorf("%d rows per unit: %d rows vary in %s, want %d", rowsPerUnit, c.Varying, c.Column, want[c.Column])
			}
		}
	}
}
