package records

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"d3p/internal/models/encoding"
)

// textsOfRows are the texts of the records' first rows, - for a record without one.
func textsOfRows(rows *Rows) (list []string) {
	k := &rows.Codes.Columns[0]
	for i := range rows.N {
		row := rows.Codes.Row(i, 0)
		text := "-"
		if RowState(row[0]) == UsableRow {
			text = k.Texts()[k.Code(row)]
		}
		list = append(list, text)
	}
	return list
}

// The texts of a column are its cells without the spaces around them, but for missing ones and those
// that cannot be a level, on any number of threads.
func TestTexts(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	e := encoding.Encoding{MissingTokens: []string{"NA", "-9"}}.Texts("c")
	rng := rand.New(rand.NewPCG(4, 4))
	for trial := range 20 {
		runtime.GOMAXPROCS(1 + trial%4)
		var text strings.Builder
		var want []string
		text.WriteString("x,c\n")
		for i := range 1000 {
			cell := oddCell(rng)
			if rng.IntN(2) == 0 {
				cell = fmt.Sprint("text ", rng.IntN(1+50*trial))
			}
			fmt.Fprintf(&text, "%d,%s\n", i, `"`+strings.ReplaceAll(cell, `"`, `""`)+`"`)
			trimmed := bytes.TrimSpace([]byte(cell))
			switch {
			case slices.Contains([]string{"NA", "-9", "-9.0"}, string(trimmed)), !encoding.BuyableLevel(trimmed):
				want = append(want, "-")
			default:
				want = append(want, string(trimmed))
			}
		}
		rows, _, err := readOne(fileAt(t, []byte(text.String())), e, Options{Codes: true})
		if err != nil {
			t.Fatal(err)
		}
		got := textsOfRows(rows)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("record %d has %q, want %q", i, got[i], want[i])
			}
		}
	}
}

// A level that was bought from a column of a Parquet file is found there when the file is read with
// it, whatever the column's type.
func TestTextsOfParquet(t *testing.T) {
	for _, of := range []struct {
		kind  arrow.DataType
		cells string
		want  []string
	}{
		{arrow.BinaryTypes.String, `["a", " a ", null, "", "1.0", "NA"]`, []string{"a", "a", "-", "-", "1.0", "-"}},
		{arrow.PrimitiveTypes.Int64, `[1, -9, null, 1000000, -2]`, []string{"1", "-", "-", "1000000", "-2"}},
		{arrow.PrimitiveTypes.Float64, `[1, 0.5, null, 1e21, -0.0]`, []string{"1", "0.5", "-", "1000000000000000000000", "0"}},
		{arrow.FixedWidthTypes.Boolean, `[true, false, null]`, []string{"true", "false", "-"}},
	} {
		text := parquetText(t, columns(of.kind), of.cells)
		e := encoding.Encoding{MissingTokens: []string{"NA", "-9"}}
		rows, _, err := readOne(fileAt(t, []byte(text)), e.Texts("a"), Options{Codes: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := textsOfRows(rows); !slices.Equal(got, of.want) {
			t.Errorf("%s: %q, want %q", of.kind, got, of.want)
		}
		var levels []string
		for _, text := range of.want {
			if text != "-" && !slices.Contains(levels, text) {
				levels = append(levels, text)
			}
		}
		e.Fields = []encoding.Field{{Column: "a", Kind: encoding.LevelCode, Levels: levels, Unknown: encoding.UnknownReject, Missing: encoding.MissingReject, Out: []int{0}}}
		e.K = 1
		if rows, _, err = readOne(fileAt(t, []byte(text)), e, Options{}); err != nil {
			t.Fatal(err)
		}
		row := make([]float64, 1)
		for i, text := range of.want {
			if rows.Row(i, row); rows.Valid[i] != (text != "-") || rows.Valid[i] && levels[int(row[0])] != text {
				t.Errorf("%s: record %d is %v (%v), want %q of %q", of.kind, i, row, rows.Valid[i], text, levels)
			}
		}
	}
}
