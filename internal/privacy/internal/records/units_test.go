package records

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/google/go-cmp/cmp"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/internal/records/tablefile"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// visits is a number x of each row, at most k rows of the units named by id.
func visits(k int, keep encoding.KeepRule) encoding.Encoding {
	return encoding.Encoding{
		Fields: []encoding.Field{{Column: "x", Type: data.Real, Kind: encoding.Numeric, Lower: ptr(-1), Upper: ptr(1e6),
			Missing: encoding.MissingReject, RejectOutside: true, Out: []int{0}}},
		K: 1, MissingTokens: []string{"NA"}, UnitID: "id", RowsPerUnit: k, Keep: keep,
	}
}

// A record is its unit's rows side by side, wherever they stand in the file;
// what is not there repeats the first row with a 0 behind it.
func TestUnits(t *testing.T) {
	rejected := []float64(nil)
	for _, test := range []struct {
		name string
		k    int
		rows string
		want [][]float64
	}{
		{"together", 2, "a,1\na,2\nb,3\nb,4\n", [][]float64{{1, 1, 2, 1}, {3, 1, 4, 1}}},
		{"apart", 2, "a,1\nb,3\nb,4\na,2\n", [][]float64{{1, 1, 2, 1}, {3, 1, 4, 1}}},
		{"too few", 3, "a,1\nb,2\na,3\n", [][]float64{{1, 1, 3, 1, 1, 0}, {2, 1, 2, 0, 2, 0}}},
		{"too many", 2, "a,1\na,2\na,3\na,4\n", [][]float64{{1, 1, 2, 1}}},
		{"one row per unit", 1, "a,1\na,2\nb,3\n", [][]float64{{1}, {3}}},
		{"spaces", 2, " a ,1\n\"a\t\",2\n", [][]float64{{1, 1, 2, 1}}},
		{"text, not number", 2, "1,1\n1.0,2\n01,3\n", [][]float64{{1, 1, 1, 0}, {2, 1, 2, 0}, {3, 1, 3, 0}}},
		{"no id", 2, "a,1\n,2\nNA,3\n", [][]float64{{1, 1, 1, 0}}},
		{"a rejected row", 2, "a,\na,1\nb,2\nb,no\n", [][]float64{{1, 1, 1, 0}, {2, 1, 2, 0}}},
		{"a rejected row takes no place", 2, "a,1\na,2e6\na,3\n", [][]float64{{1, 1, 3, 1}}},
		{"only rejected rows", 2, "a,\na,NA\nb,1\n", [][]float64{rejected, {1, 1, 1, 0}}},
		{"rejected alone", 1, "a,\nb,1\n", [][]float64{rejected, {1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, precision := range []Precision{Float64, Float32} {
				rows, _, err := readOne(modelstest.File(t, "data.csv", "id,x\n"+test.rows), visits(test.k, encoding.KeepFirst), Options{Precision: precision, Spare: 3})
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(test.want, unpack(t, rows)); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			}
		})
	}
}

// The private check counts rows and units.
func TestUnitsCheck(t *testing.T) {
	_, check := encode(t, visits(2, encoding.KeepFirst), "id,x\na,1\na,2\na,3\nb,\n,5\na,6\n")
	want := UnitCheck{Column: "id", Rows: 6, WithoutID: 1, Rejected: 1, Dropped: 2}
	if check.Records != 2 || check.Rejected != 1 || *check.Units != want {
		t.Errorf("%d records, %d rejected, %+v; want 2, 1, %+v", check.Records, check.Rejected, *check.Units, want)
	}
}

// table is a file of units with the given numbers of rows, its rows in the
// order that shuffle leaves them in. x numbers the rows of a unit as they stand
// in the file: from 0 in units of 5 rows, from 5 in those of 8.
func table(sizes []int, shuffle func(n int, swap func(i, j int))) string {
	var ids []int
	for unit, size := range sizes {
		for range size {
			ids = append(ids, unit)
		}
	}
	shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	var b strings.Builder
	b.WriteString("x,id\n")
	seen := make([]int, len(sizes))
	for _, unit := range ids {
		x := seen[unit]
		if sizes[unit] == 8 {
			x += 5
		}
		fmt.Fprintf(&b, "%d,%d\n", x, unit)
		seen[unit]++
	}
	return b.String()
}

// choices counts which two rows the units of a table keep, apart for those of 5
// and of 8 rows.
func choices(t *testing.T, text string, random *noise.Stream) (five, eight []int) {
	t.Helper()
	rows, _, err := readOne(modelstest.File(t, "data.csv", text), visits(2, encoding.KeepRandom), Options{Selection: random})
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[int]int)
	for _, record := range unpack(t, rows) {
		if record[1] != 1 || record[3] != 1 || record[0] == record[2] {
			t.Fatalf("a unit with enough rows keeps %v", record)
		}
		counts[1<<int(record[0])|1<<int(record[2])]++
	}
	for set, n := range counts {
		if set < 1<<5 {
			five = append(five, n)
		} else {
			eight = append(eight, n)
		}
	}
	return five, eight
}

// Every choice of 2 of a unit's rows is equally likely, in a sorted file as in
// shuffled ones, and whatever rows other units have.
// P(a p-value is below Alpha) = Alpha for each of the eight.
func TestUnitsKeepAUniformChoice(t *testing.T) {
	const n = 20000
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = 5 + 3*(i%2)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	sorted := func(int, func(i, j int)) {}
	for i, shuffle := range []func(int, func(i, j int)){sorted, rng.Shuffle, rng.Shuffle, rng.Shuffle} {
		five, eight := choices(t, table(sizes, shuffle), noise.Insecure(uint64(i)).Stream(noise.RowSelection))
		if len(five) != 10 || len(eight) != 28 {
			t.Fatalf("%d and %d different choices, want 10 and 28", len(five), len(eight))
		}
		stattest.Require(t, "2 of 5 rows", stattest.Uniform(five))
		stattest.Require(t, "2 of 8 rows", stattest.Uniform(eight))
	}
}

// The rows that a unit keeps depend on no other unit. Otherwise a unit would couple what several
// readings of the records, as for two purchases, keep of all others.
func TestUnitsChooseAlone(t *testing.T) {
	kept := func(text string) []float64 {
		rows, _, err := readOne(modelstest.File(t, "data.csv", "id,x\n"+text), visits(1, encoding.KeepRandom), Options{Selection: noise.Insecure(1).Stream(noise.RowSelection)})
		if err != nil {
			t.Fatal(err)
		}
		return slices.Concat(unpack(t, rows)...)
	}
	others := ""
	for i := range 50 {
		others += fmt.Sprintf("%d,1\n%d,2\n%d,3\n", i, i, i)
	}
	want := kept(others)
	if slices.Max(want) == slices.Min(want) {
		t.Error("all units keep the same row")
	}
	for _, unit := range []string{"u,1\nu,2\n", "u,1\nu,2\nu,3\nu,4\n"} {
		if got := kept(unit + others)[1:]; !slices.Equal(got, want) {
			t.Errorf("behind another unit they keep %v, want %v", got, want)
		}
	}
}

// A Parquet file gives what the same table gives as CSV, with the same choices.
func TestUnitsOfParquet(t *testing.T) {
	for _, test := range []struct {
		name string
		kind arrow.DataType
		ids  string
		csv  []string
	}{
		{"text", arrow.BinaryTypes.String, `["b", "a", " b", "b", "a", "NA", "b", null]`, []string{"b", "a", " b", "b", "a", "NA", "b", ""}},
		{"numbers", arrow.PrimitiveTypes.Int64, `[7, 1, 7, 7, 1, null, 7, null]`, []string{"7", "1", "7", "7", "1", "", "7", ""}},
		{"small numbers", arrow.PrimitiveTypes.Uint8, `[7, 1, 7, 7, 1, null, 7, null]`, []string{"7", "1", "7", "7", "1", "", "7", ""}},
		{"numbers beside a missing one", arrow.PrimitiveTypes.Float64, `[7, 1, 7, 7, 1, null, 7, null]`, []string{"7", "1", "7", "7", "1", "", "7", ""}},
		{"long numbers", arrow.PrimitiveTypes.Int64, `[9007199254740993, 9007199254740992, 9007199254740993, 9007199254740993, 9007199254740992, null, 9007199254740993, null]`,
			[]string{"9007199254740993", "9007199254740992", "9007199254740993", "9007199254740993", "9007199254740992", "", "9007199254740993", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := visits(3, encoding.KeepRandom)
			e.UnitID, e.Fields[0].Column = "a", "b"
			text := "a,b\n"
			for i, id := range test.csv {
				text += fmt.Sprintf("%s,%d\n", id, i)
			}
			option := func() Options { return Options{Selection: noise.Insecure(1).Stream(noise.RowSelection)} }
			want, wantCheck, err := readOne(modelstest.File(t, "data.csv", text), e, option())
			if err != nil {
				t.Fatal(err)
			}
			file := parquetText(t, columns(test.kind, arrow.PrimitiveTypes.Float64), test.ids, "[0,1,2,3,4,5,6,7]")
			got, check, err := readOne(modelstest.File(t, "data.parquet", file), e, option())
			if err != nil {
				t.Fatal(err)
			}
			if got.N != 2 {
				t.Errorf("%d units, want 2", got.N)
			}
			if d := cmp.Diff(unpack(t, want), unpack(t, got)); d != "" {
				t.Errorf("rows (-CSV +Parquet):\n%s", d)
			}
			if d := cmp.Diff(counts(wantCheck), counts(check)); d != "" {
				t.Errorf("check (-CSV +Parquet):\n%s", d)
			}
		})
	}
}

// Errors about units name the file and the declaration, and no record.
func TestUnitsErrors(t *testing.T) {
	truths := parquetText(t, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.FixedWidthTypes.Boolean}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil), "[true,false]", "[3,4]")
	bytes := parquetText(t, arrow.NewSchema([]arrow.Field{{Name: "id", Type: &arrow.FixedSizeBinaryType{ByteWidth: 3}}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil), `["MzE0","MzE1"]`, "[3,4]")
	many := "id,x\n"
	for i := range 100 {
		many += fmt.Sprintf("person%d,1\n", i)
	}
	random := noise.Insecure(1).Stream(noise.RowSelection)
	for _, test := range []struct {
		name, text string
		edit       func(e *encoding.Encoding)
		option     Options
		want       string
	}{
		{"no column of ids", "idd,x\nsecret,1\n", nil, Options{Selection: random}, "column id: not in the header of the file (column 1 there has a similar name: write that as the unit's `id:`)"},
		{"two columns of ids", "id,x,id\nsecret,1,2\n", nil, Options{Selection: random}, "column id: named twice in the header of the file"},
		{"ids that are no names", truths, nil, Options{Selection: random}, "column id: has type bool in the file (ids are text or numbers)"},
		{"ids of bytes", bytes, nil, Options{Selection: random}, "column id: has type bytes of fixed length in the file (ids are text or numbers; a UUID cast to text is one)"},
		{"an array", "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }" + strings.Repeat(" ", 59) + "\n12345678", nil, Options{Selection: random}, "column id: is not in an array of numbers (units with ids need CSV or Parquet)"},
		{"too large", many, nil, Options{Selection: random, MaxMemory: 99 * 4 * 8}, "the encoded table does not fit in the 0 MiB allowed"},
		{"no random numbers", many, nil, Options{}, "no random numbers to choose the rows of a unit with"},
		{"no rule", many, func(e *encoding.Encoding) { e.Keep = "" }, Options{}, `unknown rule ""`},
		{"no rows", many, func(e *encoding.Encoding) { e.RowsPerUnit = 0 }, Options{}, "0 rows per unit, want at least 1"},
		{"no id", many, func(e *encoding.Encoding) { e.UnitID = "" }, Options{}, "2 rows per unit and no column of ids"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := visits(2, encoding.KeepRandom)
			if test.edit != nil {
				test.edit(&e)
			}
			_, _, err := readOne(fileAt(t, []byte(test.text)), e, test.option)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			var about *tablefile.FileError
			if errors.As(err, &about) && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "person")) {
				t.Errorf("error %v quotes a record", err)
			}
		})
	}
	// what fits, fits
	rows, _, err := readOne(modelstest.File(t, "data.csv", many), visits(2, encoding.KeepFirst), Options{MaxMemory: 100 * 4 * 8})
	if err != nil || rows.N != 100 {
		t.Errorf("a table of 100 units in the memory for 100: %v", err)
	}
}
