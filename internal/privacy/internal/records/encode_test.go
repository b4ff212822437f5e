package records

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
)

func ptr(x float64) *float64 { return &x }

// encode reads CSV text and returns the rows, nil for an invalid one.
func encode(t *testing.T, e encoding.Encoding, text string) ([][]float64, Check) {
	t.Helper()
	rows, check, err := readOne(fileAt(t, []byte(text)), e, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return unpack(t, rows), check
}

func unpack(t *testing.T, rows *Rows) (all [][]float64) {
	t.Helper()
	for i := range rows.N {
		row := make([]float64, rows.K)
		rows.Row(i, row)
		if !rows.Valid[i] {
			for _, x := range row {
				if x != 0 {
					t.Errorf("invalid record %d holds %g, want zeros", i, row)
				}
			}
			row = nil
		}
		all = append(all, row)
	}
	return all
}

// one is an encoding with a single field.
func one(f encoding.Field) encoding.Encoding {
	k := 0
	for _, out := range f.Out {
		k = max(k, out+1)
	}
	return encoding.Encoding{Fields: []encoding.Field{f}, K: k, MissingTokens: []string{"NA", "unknown"}}
}

func TestEncodeNumbers(t *testing.T) {
	number := encoding.Field{Column: "x", Type: data.Real, Kind: encoding.Numeric, Lower: ptr(-10), Upper: ptr(100),
		Center: 50, Scale: 10, Missing: encoding.MissingReject, Out: []int{0}}
	impute := number
	impute.Missing, impute.Impute = encoding.MissingImpute, 60
	whole := impute
	whole.Type = data.Integer
	logarithm := encoding.Field{Column: "x", Type: data.Real, Kind: encoding.Numeric, Lower: ptr(0), Upper: ptr(1e9),
		Transform: "log", Center: 1, Scale: 2, Missing: encoding.MissingImpute, Impute: 1, Out: []int{0}}
	outside := number
	outside.RejectOutside = true
	for _, test := range []struct {
		name  string
		field encoding.Field
		cell  string
		want  any // a number, or nil for an invalid record
	}{
		{"plain", number, "60", 1.0},
		{"spaces", number, "  60.0\t", 1.0},
		{"quoted", number, `"60"`, 1.0},
		{"exponent", number, "6e1", 1.0},
		{"above the upper bound", number, "1000", 5.0},
		{"below the lower bound", number, "-1e300", -6.0},
		{"overflow is missing", number, "1e400", nil},
		{"empty", number, "", nil},
		{"token", number, "NA", nil},
		{"another token", number, "unknown", nil},
		{"text", number, "sixty", nil},
		{"nan", number, "NaN", nil},
		{"infinity", number, "inf", nil},
		{"hexadecimal", number, "0x10", nil},
		{"thousands", number, "1_000", nil},
		{"imputed", impute, "NA", 1.0},
		{"text imputed", impute, "sixty", 1.0},
		{"whole", whole, "70.0", 2.0},
		{"not whole", whole, "70.5", 1.0},
		{"logarithm", logarithm, "7.38905609893065", 0.5},
		{"logarithm of zero", logarithm, "0", -0.5},
		{"rejected outside", outside, "101", nil},
		{"inside", outside, "100", 5.0},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows, _ := encode(t, one(test.field), "x,y\n"+test.cell+",1\n")
			if len(rows) != 1 || (rows[0] == nil) != (test.want == nil) {
				t.Fatalf("%q gives %v, want %v", test.cell, rows, test.want)
			}
			if test.want != nil && math.Abs(rows[0][0]-test.want.(float64)) > 1e-15 {
				t.Errorf("%q gives %g, want %g", test.cell, rows[0][0], test.want)
			}
		})
	}
}

// Signs between thousands, and the symbol of a column, are no part of a number.
func TestNotationOfNumbers(t *testing.T) {
	for _, test := range []struct {
		decimal, thousands, symbol, cell string
		want                             any // a number, or nil for an invalid record
	}{
		{"", "", "", "1,234", nil},
		{"", ",", "", "1,234", 1234.0},
		{"", ",", "", "-1,234,567.5", -1234567.5},
		{"", ",", "", "1234.5", 1234.5},
		{"", ",", "", "27,3", nil}, // a decimal comma
		{"", ",", "", "1234,567", nil},
		{"", ",", "", "1,234,5", nil},
		{"", ",", "", ",234", nil},
		{"", ",", "", "1,,234", nil},
		{"", ",", "", "1.5,234", nil},
		{",", ".", "", "1.234,5", 1234.5},
		{",", ".", "", "1.234", 1234.0},
		{",", ".", "", "1.5", nil}, // a decimal point
		{",", ".", "", "1,234.5", nil},
		{",", "", "", "1.234,5", nil},
		{"", " ", "", "1 234", 1234.0},
		{"", " ", "", "1\u00a0234\u00a0567", 1234567.0},
		{"", " ", "", "1\u202f234", 1234.0},
		{"", "'", "", "1'234", 1234.0},
		{"", "'", "", "1\u2019234", 1234.0},
		{"", "", "%", "12%", 12.0},
		{"", "", "%", "12 %", 12.0},
		{"", "", "%", "12", 12.0},
		{"", "", "kg", " 70 kg ", 70.0},
		{"", "", "kg", "70\u00a0kg", 70.0},
		{"", "", "kg", "70 lb", nil},
		{"", "", "kg", "kg", nil},
		{"", "", "kg", "NA kg", nil},
		{"", "", "$", "$70", 70.0},
		{"", ",", "$", "$1,070.5", 1070.5},
		{"", "", "10^9/L", "5.5 10^9/L", 5.5},
	} {
		number := encoding.Field{Column: "x", Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingReject, Symbol: test.symbol, Out: []int{0}}
		e := one(number)
		e.Decimal, e.Thousands, e.Separator = test.decimal, test.thousands, "|"
		rows, check := encode(t, e, "x|y\n"+test.cell+"|1\n")
		if (rows[0] == nil) != (test.want == nil) || rows[0] != nil && rows[0][0] != test.want {
			t.Errorf("%q with decimal %q, thousands %q and symbol %q gives %v, want %v", test.cell, test.decimal, test.thousands, test.symbol, rows[0], test.want)
		}
		if missing := test.symbol != "" && strings.HasPrefix(test.cell, "NA") || test.cell == test.symbol; (check.Columns[0].Missing == 1) != missing {
			t.Errorf("%q counts as missing: %v", test.cell, !missing)
		}
	}
}

func TestEncodeLevels(t *testing.T) {
	code := encoding.Field{Column: "x", Type: data.Category, Kind: encoding.LevelCode, Levels: []string{"never", "former", "NA"},
		Unknown: encoding.UnknownReject, Missing: encoding.MissingReject, Out: []int{0}}
	other := code
	other.Unknown = 1
	missing := code
	missing.Unknown, missing.Missing, missing.Impute = encoding.UnknownMissing, encoding.MissingImpute, 2
	hot := code
	hot.Kind, hot.Out, hot.Unknown = encoding.OneHot, []int{-1, 0, 1}, 0
	imputedHot := hot
	imputedHot.Missing, imputedHot.Impute = encoding.MissingImpute, -1
	spelled := code
	spelled.Unknown, spelled.Spelled = 1, map[string]int{"n": 0, "0": 0, "FALSE": 0, "ex": 1, "EX": 2}
	binary := code
	binary.Type, binary.Levels = data.Binary, []string{"0", "1"}
	for _, test := range []struct {
		name  string
		field encoding.Field
		cell  string
		want  []float64
	}{
		{"code", code, "former", []float64{1}},
		{"spaces", code, " never ", []float64{0}},
		{"a level spelt like a token", code, "NA", []float64{2}},
		{"undeclared, rejected", code, "current", nil},
		{"missing, rejected", code, "", nil},
		{"undeclared, mapped", other, "current", []float64{1}},
		{"undeclared, missing", missing, "current", []float64{2}},
		{"other case", code, "NEVER", []float64{0}},
		{"a token in other case than a level", code, "Unknown", nil},
		{"spelling", spelled, "n", []float64{0}},
		{"spelling in other case", spelled, "N", []float64{0}},
		{"case tells spellings apart", spelled, "EX", []float64{2}},
		{"case that tells nothing", spelled, "Ex", []float64{1}}, // unknown
		{"spelling by value", spelled, "0.0", []float64{0}},
		{"truth value", spelled, "false", []float64{0}},
		{"one-hot", hot, "former", []float64{1, 0}},
		{"one-hot, last", hot, "NA", []float64{0, 1}},
		{"one-hot, reference", hot, "never", []float64{0, 0}},
		{"one-hot, undeclared", hot, "current", []float64{0, 0}},
		{"one-hot, missing", hot, "unknown", nil},
		{"one-hot, imputed", imputedHot, "unknown", []float64{0, 0}},
		{"binary", binary, "1", []float64{1}},
		{"binary by value", binary, "1.0", []float64{1}},
		{"binary by R's truth value", binary, "TRUE", []float64{1}},
		{"binary by pandas' truth value", binary, "False", []float64{0}},
		{"binary, another number", binary, "2", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			// the record before must not shine through
			rows, _ := encode(t, one(test.field), "x,y\nformer,1\n1,1\n"+test.cell+",1\n")
			if d := cmp.Diff(test.want, rows[2]); d != "" {
				t.Errorf("%q (-want +got):\n%s", test.cell, d)
			}
		})
	}
}

// The indicator is 1 exactly where another field of the column was imputed,
// whatever the order of the fields.
func TestEncodeMissingIndicator(t *testing.T) {
	number := encoding.Field{Column: "x", Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingImpute, Impute: 5, Out: []int{0}}
	indicator := encoding.Field{Column: "x", Type: data.Real, Kind: encoding.MissingIndicator, Missing: encoding.MissingImpute, Out: []int{1}}
	want := [][]float64{{5, 1}, {7, 0}, {5, 1}, {0, 0}}
	for _, fields := range [][]encoding.Field{{number, indicator}, {indicator, number}} {
		rows, check := encode(t, encoding.Encoding{Fields: fields, K: 2}, "x,y\n,1\n7,1\nseven,1\n0,1\n")
		if d := cmp.Diff(want, rows); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		if c := check.Columns[0]; c.Missing != 1 || c.Unparseable != 1 || check.Records != 4 || check.Rejected != 0 {
			t.Errorf("check %+v, want 1 missing and 1 unparseable of 4", check)
		}
	}
}

// A fraction in a column of whole numbers is missing, and counted once.
func TestFractionsOfIntegersAreCounted(t *testing.T) {
	number := encoding.Field{Column: "x", Type: data.Integer, Kind: encoding.Numeric, Missing: encoding.MissingImpute, Impute: 5, Out: []int{0}}
	squared := number
	squared.Out = []int{1}
	rows, check := encode(t, encoding.Encoding{Fields: []encoding.Field{number, squared}, K: 2}, "x\n1.5\n2.0\nthree\n")
	if d := cmp.Diff([][]float64{{5, 5}, {2, 2}, {5, 5}}, rows); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if c := check.Columns[0]; c.Unparseable != 2 || c.NotWhole != 1 || check.Fits() {
		t.Errorf("check %+v, want 2 unparseable, 1 of them not whole", check)
	}
}

// One missing value rejects the whole record, and leaves N as it is.
func TestRejectedRecordsStay(t *testing.T) {
	e := encoding.Encoding{K: 2, Fields: []encoding.Field{
		{Column: "a", Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{1}},
		{Column: "b", Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{0}},
	}}
	rows, check := encode(t, e, "b,a\n1,2\n,3\n4,\n5,6\n")
	if d := cmp.Diff([][]float64{{1, 2}, nil, nil, {5, 6}}, rows); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if check.Rejected != 2 {
		t.Errorf("%d rejected, want 2", check.Rejected)
	}
}

func TestStoreFloat32(t *testing.T) {
	e := one(encoding.Field{Column: "x", Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{0}})
	rows, _, err := readOne(modelstest.File(t, "data.csv", "x\n0.1\n7\n"), e, Options{Precision: Float32, Spare: 2})
	if err != nil {
		t.Fatal(err)
	}
	if rows.Precision() != Float32 || rows.Stride != 3 || rows.F32[0] != 0.1 || rows.F32[3] != 7 {
		t.Errorf("stored %v with stride %d", rows.F32, rows.Stride)
	}
	rows.Widen(5)
	got := make([]float64, 5)
	if rows.Row(1, got); !cmp.Equal(got, []float64{7, 0, 0, 0, 0}) {
		t.Errorf("widened record %g", got)
	}
}

// A header that ends in spaces is declared with them or without.
func TestHeadersWithSpaces(t *testing.T) {
	for _, declared := range []string{"age", "age ", " age"} {
		e := one(encoding.Field{Column: declared, Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{0}})
		_, _, err := readOne(modelstest.File(t, "data.csv", declared+",y\n1,2\n"), e, Options{})
		if err != nil {
			t.Errorf("%q: %v", declared, err)
		}
	}
}

func TestReadErrors(t *testing.T) {
	e := one(encoding.Field{Column: "age", Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{0}})
	for _, test := range []struct {
		name, text string
		want       string
	}{
		{"empty file", "", "is empty"},
		{"only blank lines", "\n\n", "is empty"},
		{"other case", "AGE,y\n1,2\n", "column age: not in the header of the file (column 1 there has this name in other case: write that as `header:` of the column)"},
		{"empty columns at the end", "AGE,y,,\n1,2,,\n", "column age: not in the header of the file (column 1 there has this name in other case: write that as `header:` of the column)"},
		{"a similar name, or a record", "id,agee,Age\n1,2,3\n", "column age: not in the header of the file (column 3 there has this name in other case: write that as `header:` of the column)"},
		{"no header, but text", "aged,yes\n", "the first line names none of the columns age (put the names there, without a title above; or, where it is a record, under data: header: [age], all columns of the file in order, and separator: \",\")"},
		{"a title", "Grades 2024;;\nage;y;z\n1;2;3\n", "all columns of the file in order, and separator: \";\")"},
		{"spaces", "the_age y\n1 2\n", "(separate fields by commas, semicolons, tabs or bars, not by spaces; in R by write.csv)"},
		{"quotes and spaces", "\"age\" \"y\"\n1 2\n", "(separate fields by commas"},
		{"single quotes", "'aged','y'\n'1','2'\n", "(put names and values in double quotes or none, not in single ones)"},
		{"a name with apostrophes", "'aged',y\n1,2\n", "put the names there"},
		{"no header", "34,1\n35,0\n", "the first line names none of the columns age"},
		{"carriage returns", "age,y\r1,2\r", "its lines end in carriage returns alone (tr "},
		{"semicolons", "age;y\n1;2\n", "fields are separated by semicolons, so decimals may be commas"},
		{"not text", "\x00age,y\n1,2\n", "is not text in UTF-8"},
		{"compressed", "\x1f\x8b\x08\x00\x00age\n", "starts like a file compressed by gzip, but its name does not show it (end its name in .csv.gz, or under data add format: csv.gz)"},
		{"Parquet", "PAR1age\n", "starts like Parquet, but its name does not show it"},
		{"npy", "\x93NUMPYage\n", "starts like an npy array, but its name does not show it"},
		{"idx", "\x00\x00\x08\x01age\n", "starts like an idx array, but its name does not show it"},
		{"column twice", "age,age\n1,2\n", "column age: named twice"},
		{"open quote", "age,\"y\n3.1415,2\"\n", "in the first line a quote is never closed (the first line must name the columns: take line breaks out of the names)"},
		{"UTF-16", "\x00a\x00g\x00e\x00,\x00y\x00\r\x00\n", "is text in UTF-16 that does not say so (under data add encoding: utf-16be)"},
		{"UTF-16, the other order", "a\x00g\x00e\x00,\x00\"\x00\r\x00\n\x00", "(under data add encoding: utf-16le)"},
		{"stray quote", "age,y\"\n3.1415,2\n", "in the first line a quote stands inside"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := readOne(modelstest.File(t, "data.csv", test.text), e, Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want one with %q", err, test.want)
			}
			if strings.Contains(err.Error(), "3.1415") {
				t.Errorf("error %q tells of a record", err)
			}
		})
	}
	sizes := one(encoding.Field{Column: "size, cm", Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{0}})
	if _, _, err := readOne(modelstest.File(t, "data.csv", "a;b\n"), sizes, Options{}); err == nil || !strings.Contains(err.Error(), `header: ["size, cm"], all`) {
		t.Error(err)
	}
	if _, _, err := readOne(t.TempDir(), e, Options{}); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory: error %v", err)
	}
	if _, _, err := readOne(filepath.Join(t.TempDir(), "none.csv"), e, Options{}); !os.IsNotExist(err) {
		t.Errorf("no file: error %v", err)
	}
	big := modelstest.File(t, "data.csv", "age\n"+strings.Repeat("1\n", 1000))
	if _, _, err := readOne(big, e, Options{MaxMemory: 1000}); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("a table above the memory allowed: error %v", err)
	}
}

// All columns that are missing are named at once.
func TestReadErrorsTogether(t *testing.T) {
	e := encoding.Encoding{K: 3, Fields: []encoding.Field{
		{Column: "height", Kind: encoding.Numeric, Out: []int{0}}, {Column: "weight", Kind: encoding.Numeric, Out: []int{1}},
		{Column: "age", Kind: encoding.Numeric, Out: []int{2}},
	}}
	_, _, err := readOne(modelstest.File(t, "data.csv", "heigth,wieght,age\n1,2,3\n"), e, Options{})
	if err == nil || !strings.Contains(err.Error(), "column height: not in the header of the file (column 1 there has a similar name: write that as `header:` of the column)") ||
		!strings.Contains(err.Error(), "column weight: not in the header of the file (column 2 there has a similar name: write that as `header:` of the column)") {
		t.Errorf("error %v, want both columns", err)
	}
}

func TestEncodingsThatMakeNoSense(t *testing.T) {
	good := encoding.Field{Column: "x", Kind: encoding.Numeric, Out: []int{0}}
	for name, e := range map[string]encoding.Encoding{
		"column outside":   {K: 1, Fields: []encoding.Field{{Column: "x", Kind: encoding.Numeric, Out: []int{1}}}},
		"column twice":     {K: 1, Fields: []encoding.Field{good, good}},
		"no output":        {K: 1, Fields: []encoding.Field{{Column: "x", Kind: encoding.Numeric}}},
		"kind":             {K: 1, Fields: []encoding.Field{{Column: "x", Kind: "numbers", Out: []int{0}}}},
		"transform":        {K: 1, Fields: []encoding.Field{{Column: "x", Kind: encoding.Numeric, Transform: "cube", Out: []int{0}}}},
		"bounds":           {K: 1, Fields: []encoding.Field{{Column: "x", Kind: encoding.Numeric, Lower: ptr(2), Upper: ptr(1), Out: []int{0}}}},
		"scale":            {K: 1, Fields: []encoding.Field{{Column: "x", Kind: encoding.Numeric, Scale: -1, Out: []int{0}}}},
		"levels":           {K: 1, Fields: []encoding.Field{{Column: "x", Kind: encoding.OneHot, Levels: []string{"a", "b"}, Out: []int{0}}}},
		"unknown level":    {K: 1, Fields: []encoding.Field{{Column: "x", Kind: encoding.LevelCode, Levels: []string{"a"}, Unknown: 1, Out: []int{0}}}},
		"imputed level":    {K: 1, Fields: []encoding.Field{{Column: "x", Kind: encoding.LevelCode, Levels: []string{"a"}, Missing: encoding.MissingImpute, Impute: 1, Out: []int{0}}}},
		"no imputed level": {K: 1, Fields: []encoding.Field{{Column: "x", Kind: encoding.LevelCode, Levels: []string{"a"}, Missing: encoding.MissingImpute, Impute: -1, Out: []int{0}}}},
		"imputed constant": {K: 1, Fields: []encoding.Field{{Column: "x", Kind: encoding.Numeric, Transform: "log", Missing: encoding.MissingImpute, Impute: -1, Out: []int{0}}}},
	} {
		if _, _, err := readOne(modelstest.File(t, "data.csv", "x\n1\n"), e, Options{}); err == nil || !strings.Contains(err.Error(), "records: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A bound may stand alone, and zeros may be what is written for a missing level.
func TestEncodingsThatMakeSense(t *testing.T) {
	for _, f := range []encoding.Field{
		{Column: "x", Type: data.Real, Kind: encoding.Numeric, Lower: ptr(2), Missing: encoding.MissingReject, Out: []int{0}},
		{Column: "x", Type: data.Real, Kind: encoding.Numeric, Upper: ptr(2), Missing: encoding.MissingReject, Out: []int{0}},
		{Column: "x", Type: data.Category, Kind: encoding.OneHot, Levels: []string{"2", "b"}, Missing: encoding.MissingImpute, Impute: -1, Out: []int{0, 1}},
		{Column: "x", Type: data.Category, Kind: encoding.LevelCode, Levels: []string{"a", "2"}, Missing: encoding.MissingImpute, Impute: 1, Out: []int{0}},
	} {
		if got, _ := encode(t, one(f), "x\n2\n"); len(got) != 1 || got[0] == nil {
			t.Errorf("%+v: encoded %g", f, got)
		}
	}
}

// Rows fill whole cache lines where that is cheap.
func TestPadded(t *testing.T) {
	for _, c := range []struct{ k, width, want int }{
		{102, 4, 112}, {102, 8, 104}, {3, 4, 3}, {16, 4, 16}, {10, 4, 10}, {13, 4, 16}, {22, 4, 22}, {0, 4, 0}, {785, 4, 800},
	} {
		if got := padded(c.k, c.width); got != c.want {
			t.Errorf("rows of %d numbers of %d bytes are %d apart, want %d", c.k, c.width, got, c.want)
		}
	}
}
