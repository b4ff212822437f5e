package records

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/spec"
	"d3p/internal/privacy/internal/records/tablefile"
)

// How a record is encoded depends on that record and the declarations alone: the table
// of a file is that of its records, each read from a file that has no other. So to
// remove, replace or move a record changes no bit of the others.

// everything is an encoding with a field of every kind and rule.
func everything() encoding.Encoding {
	names := []string{"x", "n", "d", "c", "note"}
	return encoding.Encoding{
		K: 9, Header: names, Dates: data.DayFirst, MissingTokens: []string{"NA", "-9", "31.12.2020"},
		Fields: []encoding.Field{
			{Column: "x", Type: data.Real, Kind: encoding.Numeric, Lower: ptr(-100), Upper: ptr(100), Center: 1, Scale: 3, Missing: encoding.MissingImpute, Impute: 7, Out: []int{0}},
			{Column: "x", Kind: encoding.MissingIndicator, Out: []int{1}},
			{Column: "n", Type: data.Integer, Kind: encoding.Numeric, Symbol: "kg", Lower: ptr(-5), Upper: ptr(1e6), RejectOutside: true, Missing: encoding.MissingImpute, Impute: 2, Out: []int{2}},
			{Column: "n", Type: data.Real, Kind: encoding.Numeric, Transform: "log", Missing: encoding.MissingImpute, Impute: 1, Out: []int{3}},
			{Column: "d", Type: data.Date, Kind: encoding.Numeric, Origin: 18262, Lower: ptr(0), Upper: ptr(365), Missing: encoding.MissingImpute, Impute: 3, Out: []int{4}},
			{Column: "c", Type: data.Category, Kind: encoding.LevelCode, Levels: []string{"a", "b", "é", "1.5", "true"}, Spelled: map[string]int{"one": 0, "-0": 2}, Unknown: encoding.UnknownReject, Missing: encoding.MissingImpute, Impute: 1, Out: []int{5}},
			{Column: "c", Type: data.Category, Kind: encoding.OneHot, Levels: []string{"a", "b", "true"}, Unknown: 2, Missing: encoding.MissingImpute, Impute: 0, Out: []int{6, 7, 8}},
		},
	}
}

var oddCells = []string{
	"", " ", "1.5", "-3", "0", "1e400", "1e-400", "NA", "-9", "-9.0", ".", "a", "b", "é", " b ", "a\x00", "\xff", "\xe9", "\x81",
	"\ufeff", "\ufeffa", "\ufeff1.5", "PAR1", "PK\x03\x04", "\x1f\x8b", "\xff\xfe", "\xfe\xff", `"`, `""`, `"a"`, `5'10"`, "a,b", "1;2", "\t", "|",
	"x\ny", "\n", "1,2\n3,4,5,6,7\n8", "\r", "\r\n", "a\r", "2020-02-29", "29.2.2020", "31.12.2020", "nan", "inf", "0x10",
	strings.Repeat("9", 400), "0." + strings.Repeat("0", 400) + "1", "true", "x", "n", "note", "x,n,d,c,note", "true\x1a",
	"1'234.5", "1'2", strings.Repeat("0", 70) + "7", "-0", "-0kg", "70 kg", "kg 7", "kg", "7 kg kg", "É", "one", "2FEB2020",
}

func oddCell(rng *rand.Rand) string {
	if rng.IntN(4) == 0 {
		return fmt.Sprintf("%.*f", rng.IntN(3), 2000*rng.Float64()-100)
	}
	return oddCells[rng.IntN(len(oddCells))]
}

// quoteCell is a cell as a writer of CSV puts it, with quotes where they are needed and
// sometimes where they are not.
func quoteCell(rng *rand.Rand, cell, separator string) string {
	if strings.ContainsAny(cell, "\"\r\n"+separator) || rng.IntN(4) == 0 {
		return `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
	}
	return cell
}

// encoded is what is stored of the records of a table, in bits.
func encoded(rows *Rows) (all []string) {
	row := make([]float64, rows.K)
	for i := range rows.N {
		rows.Row(i, row)
		var b strings.Builder
		fmt.Fprintf(&b, "%v", rows.Valid[i])
		if rows.Codes != nil {
			b.WriteString(counted(rows.Codes, i, row))
		} else {
			for _, x := range row {
				fmt.Fprintf(&b, " %x", math.Float64bits(x))
			}
		}
		all = append(all, b.String())
	}
	return all
}

// counted is what counts and moments see of a record.
func counted(c *Codes, i int, record []float64) string {
	var b strings.Builder
	for r := range c.Most {
		row := c.Row(i, r)
		fmt.Fprintf(&b, " row %d", row[0])
		for k := range c.Columns {
			if of := &c.Columns[k]; RowState(row[0]) != NoRow {
				fmt.Fprintf(&b, " %d", of.Code(row))
				if of.Number >= 0 && of.Code(row) != of.Missing() {
					fmt.Fprintf(&b, ":%x", math.Float64bits(record[r*c.Width+of.Number]))
				}
			}
		}
	}
	return b.String()
}

// alone checks that reading the records of a file gives what reading each of them alone
// gives, in order; read makes a file of records and reads it. So does what counts see,
// and without it the table is the same.
func alone(t *testing.T, name string, records []string, read func(records []string, opt Options) (*Rows, error)) (valid int) {
	t.Helper()
	with, err := read(records, Options{Codes: true})
	if err != nil {
		t.Fatalf("%s: %v\n%q", name, err, records)
	}
	aloneAs(t, name+", for counts", records, encoded(with), func(r []string) (*Rows, error) { return read(r, Options{Codes: true}) })
	with.Finish()
	return aloneAs(t, name, records, encoded(with), func(r []string) (*Rows, error) { return read(r, Options{}) })
}

// aloneAs checks it of reading in one way, and that this gives `same`.
func aloneAs(t *testing.T, name string, records, same []string, read func(records []string) (*Rows, error)) (valid int) {
	t.Helper()
	rows, err := read(records)
	if err != nil {
		t.Fatalf("%s: %v\n%q", name, err, records)
	}
	var want []string
	for _, r := range records {
		one, err := read([]string{r})
		if err != nil || one.N > 1 {
			t.Fatalf("%s: a file of one record: %v\n%q", name, err, r)
		}
		want = append(want, encoded(one)...)
	}
	if got := encoded(rows); !slices.Equal(got, want) {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("%s: record %d is\n%s, alone\n%s\n%q", name, i, got[i], want[i], records)
			}
		}
		t.Fatalf("%s: %d records, want %d\n%q", name, len(got), len(want), records)
	}
	if !slices.Equal(same, want) {
		t.Fatalf("%s: records are\n%q, read in another way\n%q\n%q", name, want, same, records)
	}
	for _, ok := range rows.Valid {
		if ok {
			valid++
		}
	}
	return valid
}

// dialect is a way to write CSV.
type dialect struct {
	separator, quotes, encoding, decimal, thousands string
	headless                                        bool
	words                                           bool // no missing token looks like a number or day
}

func (d dialect) rules() encoding.Encoding {
	e := everything()
	e.Separator, e.Quotes, e.Text, e.Headless, e.Decimal = d.separator, d.quotes, d.encoding, d.headless, d.decimal
	e.Thousands = d.thousands
	if d.words {
		e.MissingTokens = []string{"NA"}
	}
	return e
}

func (d dialect) letter() string {
	if d.separator == "tab" {
		return "\t"
	}
	return d.separator
}

func (d dialect) header() string {
	if d.headless {
		return ""
	}
	return strings.Join(everything().Header, d.letter()) + "\n"
}

// written is a text in the bytes of the dialect: of UTF-16 every byte is a unit.
func (d dialect) written(text string) string {
	if !strings.HasPrefix(d.encoding, "utf-16") {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		unit := uint16(text[i])
		if unit >= 0x80 { // surrogates among them
			unit = 0xd700 | unit
		}
		if d.encoding == "utf-16le" {
			b.Write([]byte{byte(unit), byte(unit >> 8)})
		} else {
			b.Write([]byte{byte(unit >> 8), byte(unit)})
		}
	}
	return b.String()
}

func dialects() (all []dialect) {
	for i, separator := range spec.Separators() {
		thousands := []string{"'", ""}[i%2]
		for _, quotes := range []string{"", spec.OneLine, spec.NoQuotes} {
			for _, headless := range []bool{false, true} {
				all = append(all, dialect{separator: separator, quotes: quotes, headless: headless, decimal: ".", thousands: thousands, words: i%2 == 0},
					dialect{separator: separator, quotes: quotes, headless: headless, decimal: ",", encoding: "windows-1252"})
			}
		}
	}
	return append(all, dialect{separator: ",", headless: true, encoding: "utf-16le"}, dialect{separator: ",", encoding: "utf-16be"},
		dialect{separator: ",", headless: true, encoding: "windows-1253"})
}

// The encoding of a row of a CSV file depends on that row alone. The rows are quoted as a
// writer does it, with any bytes in them, or are lines of any bytes whose quotes join no
// lines.
func TestCSVRecordsAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	valid, total := 0, 0
	for _, d := range dialects() {
		e := d.rules()
		for range 4 {
			var records []string
			for range 1 + rng.IntN(12) {
				cells := make([]string, len(e.Header))
				for j := range cells {
					if cells[j] = oddCell(rng); d.quotes == "" || d.quotes == spec.OneLine && !strings.ContainsAny(cells[j], "\n") {
						cells[j] = quoteCell(rng, cells[j], d.letter())
					}
				}
				if rng.IntN(10) == 0 { // as where files are joined
					cells[0] = tablefile.MarkUTF8 + "1.5"
				}
				line := strings.Join(cells, d.letter())
				if rng.IntN(8) == 0 && !strings.Contains(line, "\n") { // no writer does
					line = strings.TrimRight(strings.Join(cells[:rng.IntN(len(cells))], d.letter()), "\r") // part of a line's end
				}
				if d.quotes != "" {
					line = strings.ReplaceAll(line, "\n", "")
				}
				records = append(records, d.written(line))
			}
			end := d.written([]string{"\n", "\r\n"}[rng.IntN(2)])
			for _, size := range []int{0, 5} {
				valid += alone(t, fmt.Sprintf("%+v, blocks of %d", d, size), records, func(records []string, opt Options) (*Rows, error) {
					text := d.written(d.header()) + strings.Join(records, end)
					if rng.IntN(2) == 0 {
						text += end
					}
					switch {
					case size > 0:
						rows, _, err := encodeBlocks("f", &tablefile.Blocks{Src: tablefile.Decoded(strings.NewReader(text), d.encoding), Size: size}, nil, e, opt)
						return rows, err
					case rng.IntN(2) == 0:
						rows, _, err := readOne(modelstest.File(t, "data.csv.gz", string(zipped([]byte(text)))), e, opt)
						return rows, err
					}
					rows, _, err := readOne(modelstest.File(t, "data.csv", text), e, opt)
					return rows, err
				})
				total += len(records)
			}
		}
	}
	if valid < total/20 {
		t.Errorf("%d of %d records are valid: the test tests little", valid, total)
	}
}

// FuzzCSVRecordsAlone does it for lines of any bytes.
func FuzzCSVRecordsAlone(f *testing.F) {
	for i, cell := range oddCells {
		f.Add("1,2,3,a,"+cell, cell+",2,3,b,x", byte(i))
	}
	f.Add("1,\"2", "3\",4", byte(0))
	f.Fuzz(func(t *testing.T, a, b string, way byte) {
		d := dialect{separator: ",", quotes: []string{"", spec.OneLine, spec.NoQuotes}[way%3], headless: way&4 != 0, decimal: []string{".", ","}[way>>3&1],
			encoding: []string{"", "windows-1252", "windows-1257"}[way>>4%3]}
		if strings.Contains(a+b, "\n") || d.quotes == "" && strings.Count(a, `"`)%2 != 0 {
			t.Skip()
		}
		alone(t, fmt.Sprintf("%+v", d), []string{a, b, a}, func(records []string, opt Options) (*Rows, error) {
			text := d.header() + strings.Join(records, "\n") + "\n"
			rows, _, err := encodeBlocks("f", &tablefile.Blocks{Src: tablefile.Decoded(strings.NewReader(text), d.encoding), Size: 32}, nil, d.rules(), opt)
			return rows, err
		})
	})
}

// parquetRows makes a file of everything's columns of rows of JSON cells.
func parquetRows(t *testing.T, rng *rand.Rand, kinds []arrow.DataType, rows [][]string) string {
	t.Helper()
	var fields []arrow.Field
	var columns []arrow.Array
	for j, name := range everything().Header {
		var cells []string
		for _, row := range rows {
			cells = append(cells, row[j])
		}
		a, _, err := array.FromJSON(memory.DefaultAllocator, kinds[j], strings.NewReader("["+strings.Join(cells, ",")+"]"), array.WithUseNumber())
		if err != nil {
			t.Fatal(err)
		}
		fields, columns = append(fields, arrow.Field{Name: name, Type: kinds[j], Nullable: true}), append(columns, a)
	}
	schema := arrow.NewSchema(fields, nil)
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(
		parquet.WithCompression([]compress.Compression{compress.Codecs.Zstd, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Uncompressed}[rng.IntN(4)]),
		parquet.WithDictionaryDefault(rng.IntN(2) == 0), parquet.WithMaxRowGroupLength(int64(1+rng.IntN(8))), parquet.WithDataPageSize(int64(1+rng.IntN(100))),
		parquet.WithDataPageVersion(parquet.DataPageVersion(rng.IntN(2)))), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(array.NewRecord(schema, columns, int64(len(rows)))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A row of a Parquet file is encoded alone, whatever types its columns have.
func TestParquetRecordsAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	numbers, dates := []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32, arrow.BinaryTypes.String},
		[]arrow.DataType{arrow.PrimitiveTypes.Date32, arrow.FixedWidthTypes.Timestamp_us, arrow.BinaryTypes.String}
	cell := func(kind arrow.DataType) string {
		if rng.IntN(5) == 0 {
			return "null"
		}
		pick := func(of ...string) string { return of[rng.IntN(len(of))] }
		switch kind.ID() {
		case arrow.INT64:
			return pick("0", "1", "-9", "9223372036854775807", "-9223372036854775808", "17")
		case arrow.FLOAT64, arrow.FLOAT32:
			return pick("0", "1.5", "-9", "1e38", "-1e-30", "17")
		case arrow.DATE32, arrow.TIMESTAMP:
			return pick(`"2020-02-29"`, `"1970-01-01"`, `"2020-12-31"`)
		case arrow.BOOL:
			return pick("true", "false")
		}
		return pick(`"a"`, `"b"`, `"1.5"`, `"-9"`, `""`, `" b "`, `"\u0000"`, `"2020-02-29"`, `"29.2.2020"`, `"x,y\n"`, `"é"`, `"17"`)
	}
	valid := 0
	for k := range 36 {
		kinds := []arrow.DataType{numbers[k%4], numbers[k/4%4], dates[k%3], []arrow.DataType{arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean}[k/3%2], arrow.BinaryTypes.String}
		var records []string
		for range 1 + rng.IntN(12) {
			var cells []string
			for _, kind := range kinds {
				cells = append(cells, cell(kind))
			}
			records = append(records, strings.Join(cells, "\x1f"))
		}
		valid += alone(t, fmt.Sprint(kinds), records, func(records []string, opt Options) (*Rows, error) {
			var rows [][]string
			for _, r := range records {
				rows = append(rows, strings.Split(r, "\x1f"))
			}
			got, _, err := readOne(modelstest.File(t, "data.parquet", parquetRows(t, rng, kinds, rows)), everything(), opt)
			return got, err
		})
	}
	if valid < 50 {
		t.Errorf("%d records are valid: the test tests little", valid)
	}
}

// A record of an array is encoded alone.
func TestArrayRecordsAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	for k := range 40 {
		var records []string
		for range 1 + rng.IntN(12) {
			record := make([]byte, 3*8)
			for i := range record {
				record[i] = []byte{0, 1, 0x3f, 0x40, 0x7f, 0xf0, 0xf8, 0xff}[rng.IntN(8)]
			}
			records = append(records, string(record))
		}
		alone(t, "array", records, func(records []string, opt Options) (*Rows, error) {
			numbers := []byte(strings.Join(records, ""))
			content, name := idxFile(0x0e, []uint32{uint32(len(records)), 3}, numbers), "data.idx"
			if k%2 == 0 {
				content, name = npyFile(fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 3)}", len(records)), numbers), "data.npy"
			}
			if k%3 == 0 {
				content, name = zipped(content), name+".gz"
			}
			rows, _, err := readOne(modelstest.File(t, name, string(content)), pair(), opt)
			return rows, err
		})
	}
}

// So are the images of CIFAR-10.
func TestImagesAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 5))
	e := cifar10Encoding()
	for range 10 {
		var records []string
		for range 1 + rng.IntN(5) {
			records = append(records, cifar10File([]byte{byte(rng.IntN(3)), byte(rng.IntN(256)), byte(rng.IntN(256))}))
		}
		alone(t, "image", records, func(records []string, opt Options) (*Rows, error) {
			rows, _, err := readOne(modelstest.File(t, "data_batch_1.bin", strings.Join(records, "")), e, opt)
			return rows, err
		})
	}
}

// The encoding of a unit depends on its rows alone, wherever they stand among the rows of
// other units: in CSV and Parquet, with ids of any bytes.
func TestUnitsAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 4))
	ids := []string{"a", "a ", "A", "a\x00", "é", "e\u0301", "\xe9", "\x81", "\x8d", "\xff\xfe", "1", "1.0", "01", "NA", "-9", "", "\"", "\n", ",", "PAR1"}
	for k := range 80 {
		e := everything()
		e.Header = append(e.Header, "id")
		e.UnitID, e.RowsPerUnit, e.Keep, e.Headless, e.Separator = "id", 1+k%3, encoding.KeepFirst, k%2 == 0, ","
		e.Text = []string{"", "windows-1252"}[k/2%2]
		e.MissingTokens = []string{"NA", "-9"}
		type row struct{ id, line string }
		var rows []row
		for range rng.IntN(25) {
			var cells []string
			for range e.Header[1:] {
				cells = append(cells, quoteCell(rng, oddCell(rng), ","))
			}
			id := ids[rng.IntN(len(ids))]
			rows = append(rows, row{strings.Trim(id, " \n"), strings.Join(append(cells, quoteCell(rng, id, ",")), ",") + "\n"})
			if rng.IntN(6) == 0 {
				rows = append(rows, row{"", "1,2,3,a,x," + quoteCell(rng, ids[1+rng.IntN(3)], ",") + ",\n"})
			}
		}
		read := func(rows []row, opt Options, finish bool) []string {
			text := strings.Join(e.Header, ",") + "\n"
			if e.Headless {
				text = ""
			}
			for _, r := range rows {
				text += r.line
			}
			got, _, err := encodeBlocks("f", &tablefile.Blocks{Src: tablefile.Decoded(strings.NewReader(text), e.Text), Size: 40}, nil, e, opt)
			if err != nil {
				t.Fatal(err)
			}
			if finish {
				got.Finish()
			}
			return encoded(got)
		}
		of, order := map[string][]row{}, []string(nil)
		for _, r := range rows {
			if r.id == "" || r.id == "NA" || r.id == "-9" {
				continue
			}
			if of[r.id] == nil {
				order = append(order, r.id)
			}
			of[r.id] = append(of[r.id], r)
		}
		for _, opt := range []Options{{}, {Codes: true}} {
			var want []string
			for _, id := range order {
				one := read(of[id], opt, false)
				if len(one) != 1 {
					t.Fatalf("%q is %d units", id, len(one))
				}
				want = append(want, one...)
			}
			if got := read(rows, opt, false); !slices.Equal(got, want) {
				t.Fatalf("units\n%q, alone\n%q\n%q", got, want, rows)
			}
		}
		if got, want := read(rows, Options{Codes: true}, true), read(rows, Options{}, false); !slices.Equal(got, want) {
			t.Fatalf("units without what counts see\n%q, read without it\n%q\n%q", got, want, rows)
		}
	}
}
