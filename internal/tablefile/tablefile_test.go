package tablefile

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/models"
	"d3p/internal/models/spec"
)

func text(s string) spec.Value[string] {
	return spec.Value[string]{V: s, At: spec.Position{Line: 1}}
}

func number(x float64) spec.Value[float64] { return spec.Value[float64]{V: x} }

// example has a column of every type, a name that needs quotes, missing values
// and a number whose rounded form would cross its bound.
func example() models.Table {
	nan := math.NaN()
	return models.Table{
		Columns: []*spec.Column{
			{Name: text("x"), Header: text("x, raw"), Type: text(spec.Real), Lower: number(0), Upper: number(0.1234567891)},
			{Name: text("n"), Type: text(spec.Integer), Lower: number(0), Upper: number(1e7)},
			{Name: text("g"), Type: text(spec.Category), Levels: []spec.Value[string]{text("a"), text(`b "c"`)}},
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
