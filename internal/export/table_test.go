package export

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/simulate"
	"d3p/internal/models/source"
)

func text(s string) source.Value[string] {
	return source.Value[string]{V: s, At: expr.Position{Line: 1}}
}

func number(x float64) source.Value[float64] { return source.Value[float64]{V: x} }

// example has a column of every type, a name that needs quotes, missing values
// and a number whose rounded form would cross its bound.
func example() simulate.Table {
	nan := math.NaN()
	return simulate.Table{
		Columns: []*data.Column{
			{Name: text("x"), Header: text("x, raw"), Type: text(data.Real), Lower: number(0), Upper: number(0.1234567891)},
			{Name: text("n"), Type: text(data.Integer), Lower: number(0), Upper: number(1e7)},
			{Name: text("g"), Type: text(data.Category), Levels: []source.Value[string]{text("a"), text(`b "c"`)}},
		},
		Values: [][]float64{{0.5 / 3, 0.1234567891, nan}, {1e6, nan, 0}, {1, 0, nan}},
	}
}

func TestCSV(t *testing.T) {
	table := example()
	table.Columns[0].Upper = number(1)
	var b bytes.Buffer
	if err := Write(&b, "csv", table, Options{}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "\"x, raw\",n,g\n0.16666667,1000000,\"b \"\"c\"\"\"\n0.12345679,,a\n,0,\n" {
		t.Errorf("got\n%s", got)
	}
	table.Columns[0].Upper, table.Values[0][0] = number(0.1234567891), 0.1
	b.Reset()
	if err := Write(&b, "csv", table, Options{Privacy: "NOT PRIVATE"}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "\"x, raw\",n,g,privacy\n0.1,1000000,\"b \"\"c\"\"\",NOT PRIVATE\n0.1234567891,,a,NOT PRIVATE\n,0,,NOT PRIVATE\n" {
		t.Errorf("got\n%s", got)
	}
}

func TestParquet(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "parquet", example(), Options{Privacy: "NOT PRIVATE", Metadata: map[string]string{"d3p.model": "m"}}); err != nil {
		t.Fatal(err)
	}
	r, err := file.NewParquetReader(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if v := r.MetaData().KeyValueMetadata().FindValue("d3p.model"); v == nil || *v != "m" {
		t.Error("the metadata are not in the file")
	}
	reader, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := reader.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	chunk := func(j int) any { return table.Column(j).Data().Chunk(0) }
	x, n, g, p := chunk(0).(*array.Float64), chunk(1).(*array.Int64), chunk(2).(*array.String), chunk(3).(*array.String)
	switch {
	case table.NumRows() != 3 || table.Schema().Field(0).Name != "x, raw":
		t.Errorf("%d rows, first column %s", table.NumRows(), table.Schema().Field(0).Name)
	case x.Value(0) != 0.5/3 || x.Value(1) != 0.1234567891 || !x.IsNull(2):
		t.Errorf("x is %v", x)
	case n.Value(0) != 1e6 || !n.IsNull(1) || n.Value(2) != 0:
		t.Errorf("n is %v", n)
	case g.Value(0) != `b "c"` || g.Value(1) != "a" || !g.IsNull(2):
		t.Errorf("g is %v", g)
	case p.Value(2) != "NOT PRIVATE":
		t.Errorf("privacy is %v", p)
	}
}

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]string{"a.csv": "csv", "b.c.parquet": "parquet"} {
		if got, err := FormatOf(path); err != nil || got != want {
			t.Errorf("%s is %s, %v", path, got, err)
		}
	}
	for _, path := range []string{"a", "a.xlsx", "csv"} {
		if _, err := FormatOf(path); err == nil {
			t.Errorf("%s is accepted", path)
		}
	}
}

// TestNPY reads arrays by the description of the format: images of bytes, and a
// table with levels that are numbers and a missing one.
func TestNPY(t *testing.T) {
	read := func(table simulate.Table) (head string, body []byte) {
		var b bytes.Buffer
		if err := Write(&b, "npy", table, Options{}); err != nil {
			t.Fatal(err)
		}
		raw := b.Bytes()
		n := 10 + int(raw[8]) + int(raw[9])<<8
		if string(raw[:8]) != "\x93NUMPY\x01\x00" || n%64 != 0 || raw[n-1] != '\n' {
			t.Errorf("the head is %q", raw[:n])
		}
		return strings.TrimSpace(string(raw[10:n])), raw[n:]
	}
	pixel := func(name string) *data.Column {
		return &data.Column{Name: text(name), Type: text(data.Real), Lower: number(0), Upper: number(255)}
	}
	image := simulate.Table{
		Columns: []*data.Column{pixel("a"), pixel("b"), pixel("c"), pixel("d")},
		Values:  [][]float64{{0, 4}, {1, 5}, {2, 6}, {3, 255}}, Shape: []int{2, 2},
	}
	head, body := read(image)
	if want := "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2, 2), }"; head != want || !bytes.Equal(body, []byte{0, 1, 2, 3, 4, 5, 6, 255}) {
		t.Errorf("an image is %s %v, want %s", head, body, want)
	}
	table := simulate.Table{
		Columns: []*data.Column{pixel("a"), {Name: text("g"), Type: text(data.Category), Levels: []source.Value[string]{text("7"), text("0.5")}}},
		Values:  [][]float64{{0.25, 1, 2}, {0, 1, math.NaN()}},
	}
	codes := slices.Clone(table.Values[1][:2])
	head, body = read(table)
	if want := "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }"; head != want {
		t.Errorf("a table is %s, want %s", head, want)
	}
	for i, want := range []float64{0.25, 7, 1, 0.5, 2, math.NaN()} {
		if got := math.Float64frombits(binary.LittleEndian.Uint64(body[8*i:])); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("number %d is %v, want %v", i, got, want)
		}
	}
	if !slices.Equal(codes, table.Values[1][:2]) {
		t.Errorf("writing changed the table: codes %v, before %v", table.Values[1][:2], codes)
	}
	image.Values[0][0] = 256 // no byte
	if head, _ = read(image); !strings.Contains(head, "'<f8'") {
		t.Errorf("an array with 256 is %s", head)
	}
	if err := Write(io.Discard, "npy", example(), Options{}); err == nil || !strings.Contains(err.Error(), "level a of g is no number") {
		t.Errorf("levels that are no numbers: error %v", err)
	}
	if Write(io.Discard, "npy", image, Options{Privacy: "NOT PRIVATE"}) == nil {
		t.Error("an array does not say NOT PRIVATE")
	}
}
