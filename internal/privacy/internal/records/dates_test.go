package records

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/google/go-cmp/cmp"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
)

// dated reads one column of dates in 2020 as days since its first day, per 10.
func dated() encoding.Encoding {
	const origin = 18262 // 2020-01-01
	return one(encoding.Field{
		Column: "a", Type: data.Date, Kind: encoding.Numeric, Origin: origin, Scale: 10,
		Lower: ptr(0), Upper: ptr(365), Missing: encoding.MissingReject, Out: []int{0},
	})
}

// A date is the number of days since the origin; what is no date is missing,
// numbers included, and dates outside the bounds move to them.
func TestEncodeDates(t *testing.T) {
	rows, _ := encode(t, dated(), "a\n2020-01-01\n2020-02-29\n 2020-12-31 \n2020-03-01T23:59:00Z\n2020-03-01 01:00:00\n2019-02-01\n2021-02-01\n2020-02-30\n2020-2-3\n60\nNA\n20200301\n")
	want := [][]float64{{0}, {5.9}, {36.5}, {6}, {6}, {0}, {36.5}, nil, nil, nil, nil, nil}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// Days, times and text of a Parquet file are dates; numbers are not.
func TestParquetDates(t *testing.T) {
	for _, kind := range []arrow.DataType{
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Timestamp_ms, arrow.BinaryTypes.String,
	} {
		path := modelstest.File(t, "data.parquet", parquetText(t, columns(kind), `["2020-02-29", null, "2019-06-01"]`))
		rows, _, err := readOne(path, dated(), Options{})
		if err != nil {
			t.Errorf("%v: %v", kind, err)
			continue
		}
		if diff := cmp.Diff([][]float64{{5.9}, nil, {0}}, unpack(t, rows)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", kind, diff)
		}
	}
	_, _, err := readOne(modelstest.File(t, "data.parquet", parquetText(t, columns(arrow.PrimitiveTypes.Float64), `[60]`)), dated(), Options{})
	if err == nil {
		t.Error("a column of numbers is read as dates")
	}
}

// Dates in a declared order are read in text, of CSV and of Parquet.
func TestEncodeDatesInOrder(t *testing.T) {
	for order, text := range map[string]string{"dmy": "29.2.2020", "mdy": "02/29/2020 08:30"} {
		e := dated()
		e.Dates = order
		for _, file := range []string{"a\n" + text + "\n2020-02-29\n", parquetText(t, columns(arrow.BinaryTypes.String), `["`+text+`", "2020-02-29"]`)} {
			rows, check := encode(t, e, file)
			if diff := cmp.Diff([][]float64{{5.9}, {5.9}}, rows); diff != "" || check.Columns[0].Unparseable != 0 {
				t.Errorf("%s (-want +got):\n%s", order, diff)
			}
		}
	}
	if rows, _ := encode(t, dated(), "a\n29.2.2020\n"); rows[0] != nil {
		t.Error("a date in an order that nobody declared")
	}
}
