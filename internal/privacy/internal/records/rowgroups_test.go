package records

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/google/go-cmp/cmp"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
)

// Row groups that are decoded side by side give the records of the same table in CSV, in
// its order, on any number of threads; and the same shares.
func TestRowGroupsSideBySide(t *testing.T) {
	const n, k = 3*parquetBatch + 100, columnsAtATime + 1
	rng := rand.New(rand.NewPCG(5, 6))
	texts, names := make([]string, k), make([]string, k)
	var types []arrow.DataType
	e := encoding.Encoding{K: k}
	var csv [n + 1][k]string
	for j := range k {
		names[j] = string(rune('a' + j))
		texts[j] = jsonNumbers(rng, n)
		for i, cell := range strings.Split(strings.Trim(texts[j], "[]"), ",") {
			csv[i+1][j] = strings.ReplaceAll(cell, "null", "")
		}
		csv[0][j] = names[j]
		types = append(types, arrow.PrimitiveTypes.Int64)
		e.Fields = append(e.Fields, encoding.Field{Column: names[j], Type: data.Real, Kind: encoding.Numeric, Lower: ptr(0), Upper: ptr(900),
			Scale: 1, Missing: []encoding.MissingRule{encoding.MissingReject, encoding.MissingImpute}[min(j, 1)], Impute: 7, Out: []int{j}})
	}
	var text strings.Builder
	for _, row := range csv {
		fmt.Fprintln(&text, strings.Join(row[:], ","))
	}
	want, wantCheck, err := readOne(modelstest.File(t, "data.csv", text.String()), e, Options{Precision: Float32})
	if err != nil {
		t.Fatal(err)
	}
	path := modelstest.File(t, "data.parquet", parquetText(t, columns(types...), texts...))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []*Rows // shares on one thread
	for _, threads := range []int{1, 2, 3, 7} {
		runtime.GOMAXPROCS(threads)
		rows, check, err := readOne(path, e, Options{Precision: Float32})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(counts(wantCheck), counts(check)); d != "" {
			t.Errorf("%d threads: the data check differs: %s", threads, d)
		}
		if !slices.Equal(want.F32, rows.F32) || !slices.Equal(want.Valid, rows.Valid) {
			t.Errorf("%d threads: the records differ", threads)
		}
		parts := shares(t, 3, []string{path}, e)
		if first == nil {
			first = parts
			if !slices.Equal(recordsOf(parts...), recordsOf(want)) {
				t.Error("three shares are not the table")
			}
		}
		for rank, part := range parts {
			if !slices.Equal(first[rank].F64, part.F64) || !slices.Equal(first[rank].Valid, part.Valid) {
				t.Errorf("%d threads: share %d differs", threads, rank)
			}
		}
	}
	if _, _, err := readOne(path, e, Options{MaxMemory: n * k * 7}); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("a table without room: %v", err)
	}
}
