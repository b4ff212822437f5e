package records

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	arrowcsv "github.com/apache/arrow/go/v15/arrow/csv"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/spec"
	"d3p/internal/privacy/internal/records/tablefile"
	"d3p/internal/privacy/noise"
)

// absentValue is what a missing number becomes in the tests of this file.
const absentValue = -12345

// twoNumbers is an encoding of the columns a and b, which says what is missing.
func twoNumbers() encoding.Encoding {
	e := encoding.Encoding{K: 2}
	for j, name := range []string{"a", "b"} {
		e.Fields = append(e.Fields, encoding.Field{Column: name, Type: data.Real, Kind: encoding.Numeric, Scale: 1,
			Missing: encoding.MissingImpute, Impute: absentValue, Out: []int{j}})
	}
	return e
}

// FuzzReadCSV compares the table with Arrow's reader, and the texts that encoding/csv
// accepts with it. Blocks are short, so that most rows cross their ends.
func FuzzReadCSV(f *testing.F) {
	for _, text := range encodeSeeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = "a,b\n" + text
		accepted, csvErr := csv.NewReader(strings.NewReader(text)).ReadAll()
		for _, size := range []int{5, 64, tablefile.BlockSize} {
			rows, check, err := encodeBlocks("f", &tablefile.Blocks{Src: strings.NewReader(text), Size: size}, nil, twoNumbers(), Options{})
			if err != nil {
				t.Fatalf("blocks of %d: %v", size, err)
			}
			if csvErr != nil {
				continue
			}
			if rows.N != len(accepted)-1 || check.Malformed != nil {
				t.Fatalf("blocks of %d: %d records, encoding/csv has %d", size, rows.N, len(accepted)-1)
			}
			if !strings.Contains(text, tablefile.MarkUTF8) {
				compareWithArrow(t, text, rows)
			}
		}
	})
}

// compareWithArrow ends where Arrow finds a cell that is no number: it stops,
// we call it missing.
func compareWithArrow(t *testing.T, text string, rows *Rows) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "b", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil)
	reader := arrowcsv.NewReader(strings.NewReader(text), schema, arrowcsv.WithHeader(true), arrowcsv.WithNullReader(true, ""))
	defer reader.Release()
	for i := 0; reader.Next() && reader.Err() == nil; i++ {
		for j := range 2 {
			column, want := reader.Record().Column(j).(*array.Float64), float64(absentValue)
			if column.IsValid(0) && column.Value(0)-column.Value(0) == 0 {
				want = column.Value(0)
			}
			got := rows.F64[i*rows.Stride+j]
			if got != want && !(got == absentValue && strings.ContainsAny(text, "xX_")) {
				t.Fatalf("record %d, column %d: %g, Arrow %g", i, j, got, want)
			}
		}
	}
}

// Blocks of any size give the table, the check and the units of one block.
func TestBlocksOfAnySize(t *testing.T) {
	var text strings.Builder
	text.WriteString("id,a,unused,g,b\r\n")
	for i := range 3000 {
		a := fmt.Sprint(math.Sin(float64(i)))
		switch i % 7 {
		case 1:
			a = ""
		case 2:
			a = fmt.Sprintf("\"%s\"", a)
		case 3:
			a = " " + a + " "
		case 4:
			a = "none"
		}
		fmt.Fprintf(&text, "\"p\n%d\",%s,x,%c,%d\n", i*i%997, a, 'k'+rune(i%4), i)
		if i%50 == 0 {
			text.WriteString("\r\n")
		}
	}
	e := twoNumbers()
	e.Fields = append(e.Fields, encoding.Field{Column: "g", Type: data.Category, Kind: encoding.LevelCode, Levels: []string{"k", "l", "m"},
		Missing: encoding.MissingReject, Unknown: encoding.UnknownReject, Out: []int{2}})
	e.K = 3
	for _, units := range []bool{false, true} {
		if units {
			e.UnitID, e.RowsPerUnit, e.Keep = "id", 2, encoding.KeepRandom
		}
		read := func(size int) (*Rows, Check) {
			rows, check, err := encodeBlocks("f", &tablefile.Blocks{Src: strings.NewReader(text.String()), Size: size}, nil, e,
				Options{Precision: Float32, Spare: 2, Selection: noise.Insecure(3).Stream(noise.RowSelection)})
			if err != nil {
				t.Fatal(err)
			}
			return rows, check
		}
		want, wantCheck := read(1 << 20)
		if want.N < 100 || wantCheck.Columns[0].Missing == 0 || wantCheck.Columns[0].Unparseable == 0 || wantCheck.Columns[2].UnknownLevel == 0 {
			t.Fatalf("%d records, %+v", want.N, wantCheck)
		}
		for _, size := range []int{7, 100, 5000} {
			got, check := read(size)
			if got.N != want.N || !slices.Equal(got.F32, want.F32) || !slices.Equal(got.Valid, want.Valid) {
				t.Errorf("units %v: blocks of %d give another table", units, size)
			}
			if fmt.Sprintf("%+v %+v", check.Columns, check.Units) != fmt.Sprintf("%+v %+v", wantCheck.Columns, wantCheck.Units) {
				t.Errorf("units %v: blocks of %d give the check %+v, want %+v", units, size, check, wantCheck)
			}
		}
	}
}

// A failing source is an error after whatever came before it.
func TestReadCSVFailingSource(t *testing.T) {
	broken := errors.New("broken")
	src := io.MultiReader(strings.NewReader("a,b\n1,2\n3,"), failing{broken})
	if _, _, err := encodeBlocks("f", &tablefile.Blocks{Src: src, Size: 64}, nil, twoNumbers(), Options{}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// encodeSeeds are texts of tables with every oddity of lines and quotes.
func encodeSeeds(f *testing.F) (texts []string) {
	raw, err := os.ReadFile("tablefile/testdata/seeds.json")
	if err == nil {
		err = json.Unmarshal(raw, &texts)
	}
	if err != nil {
		f.Fatal(err)
	}
	return texts
}

// Whether a long line with a mark is a row does not depend on a quote in another row.
func TestLongestLinesBesideQuotes(t *testing.T) {
	e := twoNumbers()
	e.Header, e.Headless, e.Separator = []string{"a", "b"}, true, ","
	for _, length := range []int{tablefile.MaxRow, tablefile.MaxRow + 1, tablefile.MaxRow + len(tablefile.MarkUTF8)} {
		start := tablefile.MarkUTF8 + "1,"
		line := start + strings.Repeat(" ", length-len(start)-1) + "2\n"
		var valid []bool
		for _, other := range []string{"3,4\n", `"3",4` + "\n"} {
			rows, _, err := readOne(modelstest.File(t, "data.csv", other+line+other), e, Options{})
			if err != nil || rows.N != 3 {
				t.Fatalf("%d records, %v", rows.N, err)
			}
			valid = append(valid, rows.Valid[1])
		}
		if want := length <= tablefile.MaxRow; valid[0] != want || valid[1] != want {
			t.Errorf("a line of %d bytes is a row: %v, beside quotes: %v, want %v", length, valid[0], valid[1], want)
		}
	}
}

// TestRoomForQuotedLineEnds: a table has room for its rows, not for the line ends in the
// text of one of them, unless the declaration says that these end rows.
func TestRoomForQuotedLineEnds(t *testing.T) {
	const n, ends = 100, 100_000
	text := "a,b\n" + strings.Repeat("1,\"2\"\n", n-1) + "1,\"" + strings.Repeat("\n", ends) + "\"\n"
	for quotes, most := range map[string]int{"": 2 * n, spec.OneLine: 2 * ends} {
		e := twoNumbers()
		e.Quotes = quotes
		rows, _, err := readOne(modelstest.File(t, "a.csv", text), e, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if room := cap(rows.F64) / rows.Stride; room > most || quotes != "" && room < ends || rows.N < n {
			t.Errorf("quotes %q: room for %d rows, %d read", quotes, room, rows.N)
		}
	}
}
