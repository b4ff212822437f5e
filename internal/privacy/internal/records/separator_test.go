package records

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/internal/records/tablefile"
)

func TestSeparator(t *testing.T) {
	for header, want := range map[string]byte{
		"age,sex":         ',',
		"age;sex":         ';',
		"age\tsex":        '\t',
		"age|sex|y":       '|',
		"age":             ',',
		"":                ',',
		`"a,b,c";"d,e"`:   ';',
		`"a;b",c`:         ',',
		"age;sex,y":       ',', // as often: the comma
		`"say ""a,b""";c`: ';',
	} {
		if got := tablefile.Separator([]byte(header)); got != want {
			t.Errorf("%q: separated by %q, want %q", header, got, want)
		}
	}
}

// readText reads the columns a and b of a file that holds text.
func readText(t *testing.T, text, decimal string) (*Rows, Check, error) {
	t.Helper()
	path := modelstest.File(t, "t.csv", text)
	e := twoNumbers()
	e.Decimal = decimal
	return readOne(path, e, Options{})
}

// A table is the same in every dialect, with quotes and without.
func TestDialects(t *testing.T) {
	want := []float64{1.5, -20, absentValue, 3e4}
	for name, test := range map[string]struct{ text, decimal string }{
		"comma":            {"a,b\n1.5,-20\n,3e4\n", ""},
		"tab":              {"a\tb\r\n1.5\t-20\r\n\t3e4\r\n", ""},
		"bar, quoted":      {"a|b\n\"1.5\"|-20\n|3e4\n", "."},
		"semicolon":        {"a;b\n1.5;-20\n;3e4\n", "."},
		"decimal comma":    {"a;b\n1,5;-20\n;3e4\n", ","},
		"Excel's note":     {"\ufeffsep=;\r\na;b\r\n1,5;-20\r\n;3e4\r\n", ","},
		"both comma":       {"a,b\n\"1,5\",-20\n,\"3,0e4\"\n", ","},
		"thousands points": {"a;b\n1,5;-20\n1.234;3e4\n", ","}, // a point is no part of a number
	} {
		t.Run(name, func(t *testing.T) {
			rows, _, err := readText(t, test.text, test.decimal)
			if err != nil {
				t.Fatal(err)
			}
			got := []float64{rows.F64[0], rows.F64[1], rows.F64[rows.Stride], rows.F64[rows.Stride+1]}
			if rows.N != 2 || !slices.Equal(got, want) {
				t.Errorf("%d records %v, want %v", rows.N, got, want)
			}
		})
	}
}

// Where decimals may be commas and nothing says so, nothing is read.
func TestUnsureDecimals(t *testing.T) {
	_, check, err := readText(t, "a;b\n1,5;2\n", "")
	var bad *tablefile.FileError
	if !errors.As(err, &bad) || !strings.Contains(bad.Hint, `decimal: ","`) || check.Records != 0 {
		t.Errorf("%v, %d records", err, check.Records)
	}
}

func TestNotCSV(t *testing.T) {
	for start, want := range map[string]string{
		"PK\x03\x04 and more":       "is a workbook or an archive",
		"\xd0\xcf\x11\xe0 and more": "is a workbook or an archive",
		"$FL2@(#) SPSS":             "is a file of SPSS, Stata, SAS or R",
		"<stata_dta><header>":       "is a file of SPSS, Stata, SAS or R",
		"a\x00,\x00b\x00\n\x00":     "is text in UTF-16 that does not say so",
		"a,b,gr\xf6\xdfe\n1,2,3\n":  "is not text in UTF-8",
	} {
		if _, _, err := readText(t, start, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", start, err, want)
		}
	}
}
