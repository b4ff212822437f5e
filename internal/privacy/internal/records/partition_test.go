package records

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
)

func TestPartition(t *testing.T) {
	for _, c := range []struct {
		file, want string
		ok         bool
	}{
		{"claims/year=2020/a.csv", "2020", true}, {"year=1/year=2/a.csv", "2", true}, {"year=a%2Fb c/x/a.csv", "a/b c", true},
		{"year=50%/a.csv", "50%", true}, {"year=__HIVE_DEFAULT_PARTITION__/a.csv", "", true}, {"year=a=b/a.csv", "a=b", true},
		{"month=2/a.csv", "", false}, {"claims/year=2020.csv", "", false}, {"years/a.csv", "", false}, {"a.csv", "", false},
	} {
		if cell, ok := partition(c.file, "year"); string(cell) != c.want || ok != c.ok || ok && cell == nil {
			t.Errorf("%s: %q, %v", c.file, cell, ok)
		}
	}
}

// Folders can be named after the values of a column of levels and of a number. Their table
// equals the table of files that have these columns: for CSV and Parquet, with and without
// ids. The rules for missing values and values outside the bounds hold. A column of the
// file wins over the folder.
func TestPartitionedTable(t *testing.T) {
	low, high := 2000.0, 2022.0
	e := encoding.Encoding{K: 4, MissingTokens: []string{"NA"}, Fields: []encoding.Field{
		{Column: "x", Kind: encoding.Numeric, Out: []int{0}, Missing: encoding.MissingReject},
		{Column: "year", Kind: encoding.Numeric, Lower: &low, Upper: &high, Center: 2000, Out: []int{1}, Missing: encoding.MissingReject},
		{Column: "where", Kind: encoding.OneHot, Levels: []string{"a b", "c", "d"}, Out: []int{-1, 2, 3}, Missing: encoding.MissingImpute, Impute: 1, Unknown: encoding.UnknownReject},
	}}
	folder := t.TempDir()
	var whole strings.Builder
	whole.WriteString("id,x,year,where\n")
	id := 0
	put := func(kind int, year, where, yearCell, whereCell string) {
		dir := filepath.Join(folder, "where="+where, "year="+year)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, fmt.Sprintf("%d", id))
		var csv, ids, numbers []string
		for range 5 {
			id++
			n, x := id%7, float64(id)/8
			csv = append(csv, fmt.Sprintf("%d,%g", n, x))
			ids, numbers = append(ids, fmt.Sprint(n)), append(numbers, fmt.Sprint(x))
			fmt.Fprintf(&whole, "%d,%g,%s,%s\n", n, x, yearCell, whereCell)
		}
		text := "id,x\n" + strings.Join(csv, "\n")
		switch kind {
		case 0:
			name += ".csv"
		case 1: // a column of the file wins
			name += ".csv"
			text = "where,id,x\n" + whereCell + "," + strings.Join(csv, "\n"+whereCell+",")
		case 2:
			name += ".csv"
			text = strings.ReplaceAll(text, "\n", "\n\"") // ids in quotes
			text = strings.ReplaceAll(text, ",", "\",")
			text = strings.Replace(text, "id\",", "id,", 1)
		case 3:
			name += ".parquet"
			text = parquetText(t, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil),
				"["+strings.Join(ids, ",")+"]", "["+strings.Join(numbers, ",")+"]")
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// in the order of names
	put(0, "1990", "a%20b", "1990", "a b")
	put(3, "2010", "a%20b", "2010", "a b")
	put(3, "2011", "c", "2011", "c")
	put(2, "2012", "c", "2012", "c")
	put(1, "2013", "c", "2013", "d")
	put(0, "__HIVE_DEFAULT_PARTITION__", "d", "", "d")
	put(3, "2000", "zz", "2000", "zz")
	put(0, "2001", "zzz", "2001", "zzz")
	put(3, "2002", "zzzz__", "2002", "zzzz__")
	for _, units := range []bool{false, true} {
		e := e
		if units {
			e.UnitID, e.RowsPerUnit, e.Keep = "id", 4, encoding.KeepFirst
		}
		for _, codes := range []bool{false, true} {
			files, err := Files(folder)
			if err != nil {
				t.Fatal(err)
			}
			got, check, err := Read("t", files, e, Options{Codes: codes})
			if err != nil {
				t.Fatal(err)
			}
			want, wantCheck, err := readOne(modelstest.File(t, "whole.csv", whole.String()), e, Options{Codes: codes})
			if err != nil {
				t.Fatal(err)
			}
			a, b := encoded(got), encoded(want)
			if !slices.Equal(a, b) {
				for i := range b {
					if i >= len(a) || a[i] != b[i] {
						t.Errorf("units %v, codes %v: record %d of %d is %s, want %s", units, codes, i, len(a), a[min(i, len(a)-1)], b[i])
						break
					}
				}
			}
			if check.Rejected != wantCheck.Rejected || fmt.Sprint(counts(check).Columns) != fmt.Sprint(counts(wantCheck).Columns) {
				t.Errorf("units %v: check %+v, want %+v", units, check, wantCheck)
			}
		}
	}
	// a column of ids is in the files
	e.UnitID, e.RowsPerUnit, e.Keep = "where", 4, encoding.KeepFirst
	e.Fields = e.Fields[:2]
	files, _ := Files(folder)
	if _, _, err := Read("t", files, e, Options{}); err == nil {
		t.Error("ids are taken from folders")
	}
}
