package records

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/google/go-cmp/cmp"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
)

// A missing token that is a number or a day means its value, in every way that a
// file writes it: text, numbers and days of Parquet, arrays. A declared level wins.
func TestTokensByValue(t *testing.T) {
	number := encoding.Field{Column: "a", Type: data.Real, Kind: encoding.Numeric, Lower: ptr(0), Upper: ptr(100), Missing: encoding.MissingImpute, Impute: 50, Out: []int{0}}
	level := encoding.Field{Column: "a", Type: data.Category, Kind: encoding.LevelCode, Levels: []string{"0", "1", "9"}, Unknown: encoding.UnknownReject, Missing: encoding.MissingImpute, Impute: 1, Out: []int{0}}
	day := encoding.Field{Column: "a", Type: data.Date, Kind: encoding.Numeric, Lower: ptr(0), Upper: ptr(100), Missing: encoding.MissingImpute, Impute: 50, Out: []int{0}}
	for _, c := range []struct {
		name string
		e    encoding.Encoding
		text string
	}{
		{"text", one(number), "a\n-9\n-9.0\n-9e0\n3\n"},
		{"integers", one(number), parquetText(t, columns(arrow.PrimitiveTypes.Int16), `[-9, -9, -9, 3]`)},
		{"numbers", one(number), parquetText(t, columns(arrow.PrimitiveTypes.Float32), `[-9, -9, -9, 3]`)},
		{"array", one(number), string(npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (4,)}", []float64{-9, -9, -9, 3}))},
		{"levels", one(level), "a\n-9\n-9.0\n-9\n9.0\n"},
		{"levels as numbers", one(level), parquetText(t, columns(arrow.PrimitiveTypes.Int64), `[-9, -9, -9, 9]`)},
		{"days as text", one(day), "a\n9999-12-31\n9999-12-31 00:00:00\n9999-12-31\n1970-01-04\n"},
		{"days", one(day), parquetText(t, columns(arrow.PrimitiveTypes.Date32), `["9999-12-31", "9999-12-31", "9999-12-31", "1970-01-04"]`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.e.MissingTokens, c.e.Header = []string{"9", "-9", "9999-12-31"}, []string{"a"}
			got, check := encode(t, c.e, c.text)
			missing, value := 50.0, 3.0
			if c.e.Fields[0].Kind == encoding.LevelCode {
				missing, value = 1, 2
			}
			if want := [][]float64{{missing}, {missing}, {missing}, {value}}; !cmp.Equal(got, want) || check.Columns[0].Missing != 3 || check.Columns[0].OutOfBounds != 0 {
				t.Errorf("records %v, want %v; %+v", got, want, check.Columns[0])
			}
		})
	}
}

// A token that the model file has as a number, 99.9, also matches 99,9 of a file with decimal
// commas, whether points separate thousands or not.
func TestTokensInTheNotationOfTheModelFile(t *testing.T) {
	e := one(encoding.Field{Column: "a", Type: data.Real, Kind: encoding.Numeric, Lower: ptr(0), Upper: ptr(50), Missing: encoding.MissingImpute, Impute: 25, Out: []int{0}})
	e.MissingTokens, e.Decimal, e.Separator = []string{"99.9", "-9"}, ",", ";"
	for _, thousands := range []string{"", "."} {
		e.Thousands = thousands
		got, check := encode(t, e, "a\n99,9\n99,90\n-9,0\n9,9\n")
		if want := [][]float64{{25}, {25}, {25}, {9.9}}; !cmp.Equal(got, want) || check.Columns[0].Missing != 3 {
			t.Errorf("thousands %q: records %v, want %v; %+v", thousands, got, want, check.Columns[0])
		}
	}
}

// A column's own tokens leave the same numbers of other columns alone.
func TestTokensOfAColumn(t *testing.T) {
	number := encoding.Field{Column: "a", Type: data.Real, Kind: encoding.Numeric, Lower: ptr(0), Upper: ptr(100), Missing: encoding.MissingImpute, Impute: 50, Out: []int{0}, MissingTokens: []string{"99", "refused"}}
	other := number
	other.Column, other.Out, other.MissingTokens = "b", []int{1}, nil
	e := encoding.Encoding{Fields: []encoding.Field{number, other}, K: 2, MissingTokens: []string{"-9"}}
	for name, text := range map[string]string{
		"text":    "a,b\n99.0,99\n-9,-9\n3,3\n",
		"parquet": parquetText(t, columns(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64), `[99, -9, 3]`, `[99, -9, 3]`),
	} {
		got, _ := encode(t, e, text)
		if want := [][]float64{{50, 99}, {50, 50}, {3, 3}}; !cmp.Equal(got, want) {
			t.Errorf("%s: records %v, want %v", name, got, want)
		}
	}
	if got, _ := encode(t, e, "a,b\nrefused,4\n"); !cmp.Equal(got, [][]float64{{50, 4}}) {
		t.Errorf("records %v of a word", got)
	}
}
