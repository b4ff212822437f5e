package records

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/internal/records/tablefile"
)

// recordsOf are the records of rows in some order.
func recordsOf(all ...*Rows) []string {
	var texts []string
	for _, rows := range all {
		row := make([]float64, rows.K)
		for i := range rows.N {
			rows.Row(i, row)
			texts = append(texts, fmt.Sprint(rows.Valid[i], row))
		}
	}
	slices.Sort(texts)
	return texts
}

// dirtyRows are n rows of text, some of them malformed or not numbers.
func dirtyRows(n int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("a,b\n")
	for i := range n {
		switch rng.IntN(20) {
		case 0:
			text.WriteString("1\n")
		case 1:
			fmt.Fprintf(&text, "x,%d\n", i)
		case 2:
			fmt.Fprintf(&text, "\"%d\",\"1\"\n", i)
		default:
			fmt.Fprintf(&text, "%d,%g\n", i, rng.Float64())
		}
	}
	return text.String()
}

// shares reads a table in n parts.
func shares(t *testing.T, n int, paths []string, e encoding.Encoding) (parts []*Rows) {
	t.Helper()
	for rank := range n {
		rows, _, err := Read("table", paths, e, Options{Share: Share{Rank: rank, Of: n}})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, rows)
	}
	return parts
}

// Every record is in one share, whatever the table is read from.
func TestSharesAreTheTable(t *testing.T) {
	text := dirtyRows(20000)
	lines := strings.SplitAfter(text, "\n")
	half := strings.Join(lines[:7000], "")
	rest := lines[0] + strings.Join(lines[7000:], "")
	ids := "id,x\n"
	for i := range 5000 {
		ids += fmt.Sprintf("p%d,%d\n", i*i%977, i)
	}
	var numbers bytes.Buffer
	numbers.WriteString("\x93NUMPY\x01\x00")
	head := "{'descr': '<f8', 'fortran_order': False, 'shape': (9000, 2), }"
	head += strings.Repeat(" ", 117-len(head)) + "\n"
	numbers.WriteByte(118)
	numbers.WriteByte(0)
	numbers.WriteString(head)
	for i := range 18000 {
		numbers.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(float64(i))))
	}
	named := twoNumbers()
	named.Header = []string{"a", "b"}
	tables := map[string]struct {
		files []string
		e     encoding.Encoding
		even  bool // shares are about of one size
	}{
		"csv":           {[]string{modelstest.File(t, "data.csv", text)}, twoNumbers(), true},
		"csv.gz":        {[]string{modelstest.File(t, "data.csv.gz", string(zipped([]byte(text))))}, twoNumbers(), true},
		"two files":     {[]string{modelstest.File(t, "a.csv", half), modelstest.File(t, "b.csv", rest)}, twoNumbers(), false},
		"unlike files":  {[]string{modelstest.File(t, "a.csv", half), modelstest.File(t, "b.csv.gz", string(zipped([]byte(rest))))}, twoNumbers(), false},
		"npy":           {[]string{modelstest.File(t, "data.npy", numbers.String())}, named, true},
		"units":         {[]string{modelstest.File(t, "data.csv", ids)}, visits(3, encoding.KeepFirst), true},
		"units in more": {[]string{modelstest.File(t, "a.csv", ids), modelstest.File(t, "b.csv", ids)}, visits(9, encoding.KeepFirst), true},
	}
	for name, table := range tables {
		t.Run(name, func(t *testing.T) {
			whole, _, err := Read("table", table.files, table.e, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := recordsOf(whole)
			for _, n := range []int{2, 3, 7} {
				parts := shares(t, n, table.files, table.e)
				if got := recordsOf(parts...); !slices.Equal(got, want) {
					t.Fatalf("%d shares have %d records, want %d, or others", n, len(got), len(want))
				}
				for rank, p := range parts {
					if table.even && (p.N*n < whole.N/2 || p.N*n > 2*whole.N) {
						t.Errorf("share %d of %d has %d records of %d", rank, n, p.N, whole.N)
					}
				}
			}
		})
	}
}

// jsonNumbers are n numbers, some of them missing.
func jsonNumbers(rng *rand.Rand, n int) string {
	cells := make([]string, n)
	for i := range cells {
		if cells[i] = fmt.Sprint(rng.IntN(1000)); i%11 == 0 {
			cells[i] = "null"
		}
	}
	return "[" + strings.Join(cells, ",") + "]"
}

// Shares of a Parquet file, read in place and by units.
func TestSharesOfParquet(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	path := modelstest.File(t, "data.parquet", parquetText(t, columns(arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int64), jsonNumbers(rng, 5000), jsonNumbers(rng, 5000)))
	e := twoNumbers()
	whole, _, err := readOne(path, e, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 5} {
		parts := shares(t, n, []string{path}, e)
		if got, want := recordsOf(parts...), recordsOf(whole); !slices.Equal(got, want) {
			t.Errorf("%d shares have %d records, want %d, or others", n, len(got), len(want))
		}
		for rank, p := range parts {
			if p.N*n < whole.N/2 {
				t.Errorf("share %d of %d has %d records of %d", rank, n, p.N, whole.N)
			}
		}
	}
	several := []string{path, modelstest.File(t, "data.csv", dirtyRows(100)), path}
	all, _, err := Read("table", several, e, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if all.N != 2*whole.N+100 {
		t.Errorf("%d records in three files, want %d", all.N, 2*whole.N+100)
	}
	if got := recordsOf(shares(t, 2, several, e)...); !slices.Equal(got, recordsOf(all)) {
		t.Error("two shares of three files are not the table")
	}
}

// Machines of a job have other numbers of processors, and rows are longer than a block. A
// record in two shares would move the sum by twice the clip norm.
func TestSharesOnUnlikeMachines(t *testing.T) {
	lines := strings.SplitAfter(dirtyRows(20000), "\n")
	for _, at := range []int{11, 5000, 5100} {
		lines[at] = "1," + strings.Repeat("0", 1<<17) + "2\n"
	}
	paths := []string{modelstest.File(t, "data.csv", strings.Join(lines, ""))}
	whole, _, err := Read("table", paths, twoNumbers(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var parts []*Rows
	for rank, processors := range []int{1, 7, 2} {
		runtime.GOMAXPROCS(processors)
		rows, _, err := Read("table", paths, twoNumbers(), Options{Share: Share{Rank: rank, Of: 3}})
		if err != nil {
			t.Fatal(err)
		}
		if parts = append(parts, rows); rows.Dealt == 0 || rows.Dealt != parts[0].Dealt {
			t.Errorf("share %d is of other blocks", rank)
		}
	}
	if got, want := recordsOf(parts...), recordsOf(whole); !slices.Equal(got, want) {
		t.Errorf("the shares have %d records, want %d, or others", len(got), len(want))
	}
}

// A model without columns has the records of a Parquet file, each in one share: a record moves their number by one.
func TestSharesWithoutColumns(t *testing.T) {
	for _, n := range []int{1, 12, 13, 5000} {
		rng := rand.New(rand.NewPCG(3, 4))
		path := modelstest.File(t, "data.parquet", parquetText(t, columns(arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int64), jsonNumbers(rng, n), jsonNumbers(rng, n)))
		all := 0
		for _, p := range shares(t, 3, []string{path}, encoding.Encoding{}) {
			all += p.N
		}
		if all != n {
			t.Errorf("%d records are in the shares of %d", all, n)
		}
	}
}

// Processes do not share a pipe: a row could be cut in two, and each would have a part.
func TestNobodySharesAPipe(t *testing.T) {
	e := twoNumbers()
	e.Header, e.Headless, e.Separator = []string{"a", "b"}, true, ","
	for of, refused := range map[int]bool{0: false, 1: false, 2: true} {
		_, _, err := Read("table", []string{os.DevNull}, e, Options{Share: Share{Of: of}})
		var file *tablefile.FileError
		if errors.As(err, &file) != refused {
			t.Errorf("%d processes read what is no regular file: %v", of, err)
		}
	}
}

// A table of several files is that of their rows one after the other.
func TestSeveralFilesAreOneTable(t *testing.T) {
	text := dirtyRows(3000)
	lines := strings.SplitAfter(text, "\n")
	one, oneCheck, err := readOne(modelstest.File(t, "data.csv", text), twoNumbers(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for i := range 3 {
		part := lines[0] + strings.Join(lines[1+1000*i:1+1000*(i+1)], "")
		name := filepath.Join(folder, fmt.Sprintf("year=%d", 2000+i), "part-0.csv")
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(part), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"_SUCCESS", ".part-0.csv.crc", "notes.md", "year=2000/_SUCCESS", "year=2000/.part-0.csv.crc"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("no data"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := "\nyear=2000/part-0.csv\n" + filepath.Join(folder, "year=2001", "part-0.csv") + "\nyear=2002/part-0.csv\n"
	if err := os.WriteFile(filepath.Join(folder, "list"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{folder, filepath.Join(folder, "*", "*"), filepath.Join(folder, "*", "*.csv"), "@" + filepath.Join(folder, "list")} {
		files, err := Files(data)
		if err != nil {
			t.Fatal(err)
		}
		rows, check, err := Read(data, files, twoNumbers(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(rows.F64, one.F64) || !slices.Equal(rows.Valid, one.Valid) || check.Rejected != oneCheck.Rejected || check.Malformed.Rows != oneCheck.Malformed.Rows {
			t.Errorf("%s has %d records (%d rejected, %d malformed), want %d (%d, %d)", data, rows.N, check.Rejected, check.Malformed.Rows,
				one.N, oneCheck.Rejected, oneCheck.Malformed.Rows)
		}
	}
}

func TestFilesThatAreNotThere(t *testing.T) {
	empty := t.TempDir()
	for data, says := range map[string]string{
		empty:                       "is a folder without data files",
		filepath.Join(empty, "*.x"): "no file matches",
		"@" + filepath.Join(modelstest.File(t, "list", "\n\n")): "lists no file",
		"@" + filepath.Join(empty, "list"):                      "no such file",
	} {
		if _, err := Files(data); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", data, err, says)
		}
	}
	// one of several files has another header
	several := []string{modelstest.File(t, "a.csv", "a,b\n1,2\n"), modelstest.File(t, "b.csv", "a,c\n1,2\n")}
	if _, _, err := Read("table", several, twoNumbers(), Options{}); err == nil || !strings.Contains(err.Error(), "b.csv") || !strings.Contains(err.Error(), "not in the header") {
		t.Error(err)
	}
}

// The folder of a table with versions has rows that the table has no more.
func TestTablesWithVersions(t *testing.T) {
	for _, mark := range []string{"_delta_log/0.json", ".hoodie/hoodie.properties", "../metadata/v1.metadata.json"} {
		folder := filepath.Join(t.TempDir(), "data")
		part := filepath.Join(folder, "year=2020", "part-0.parquet")
		for _, name := range []string{part, filepath.Join(folder, mark)} {
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, data := range []string{folder, filepath.Join(folder, "*", "*.parquet")} {
			if _, err := Files(data); err == nil || !strings.Contains(err.Error(), "Delta Lake, Hudi or Iceberg") {
				t.Errorf("%s: %v", data, err)
			}
		}
		if _, err := Files(part); err != nil {
			t.Error(err)
		}
	}
}

// A file beside itself in another format is an error by its name: its records would count twice.
func TestFilesInTwoFormats(t *testing.T) {
	for _, c := range []struct {
		one, other string
		refused    bool
	}{
		{"a.csv", "a.csv.gz", true},
		{"a.csv", "a.parquet", true},
		{"a.tsv", "a.CSV.GZ", true},
		{"a.csv", "b.csv", false},
		{"a.2019.csv", "a.2020.csv", false},
		{"x=1/a.csv", "x=2/a.csv.gz", false},
	} {
		folder := t.TempDir()
		for _, name := range []string{c.one, c.other} {
			path := filepath.Join(folder, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("a,b\n1,2\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Files(folder); (err != nil) != c.refused || c.refused && !strings.Contains(err.Error(), "in another format") {
			t.Errorf("%s and %s: %v", c.one, c.other, err)
		}
	}
}

// A file that has two names in a table, by links or in a list, is an error: its records
// would count twice. So is what is no regular file.
func TestFilesThatAreThereTwice(t *testing.T) {
	folder := t.TempDir()
	part := filepath.Join(folder, "a.csv")
	if err := os.WriteFile(part, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(folder, "list")
	if err := os.WriteFile(list, []byte("a.csv\n./a.csv\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Files("@" + list); err == nil || !strings.Contains(err.Error(), "is the same file as") {
		t.Errorf("a list with a file twice: %v", err)
	}
	for name, link := range map[string]func(string, string) error{"symbolic": os.Symlink, "hard": os.Link} {
		second := filepath.Join(folder, "b.csv")
		if err := link(part, second); err != nil {
			t.Fatal(err)
		}
		for _, data := range []string{folder, filepath.Join(folder, "*.csv")} {
			if _, err := Files(data); err == nil || !strings.Contains(err.Error(), "is the same file as") {
				t.Errorf("%s with a %s link: %v", data, name, err)
			}
		}
		if err := os.Remove(second); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/dev/zero", filepath.Join(folder, "z.csv")); err != nil {
		t.Fatal(err)
	}
	if _, err := Files(folder); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a folder with a device: %v", err)
	}
}
