package records

import (
	"bufio"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/internal/records/tablefile"
)

// headless is the encoding of two numbers a and b of a file whose columns are named
// in the model file.
func headless(separator string, names ...string) encoding.Encoding {
	e := twoNumbers()
	e.Header, e.Headless, e.Separator = names, true, separator
	return e
}

// In a file without names every line counts, whatever the first one is like: it says
// neither what the file is, nor how it is encoded, nor what separates its fields, nor
// in which order its columns stand.
func TestHeadless(t *testing.T) {
	const none = absentValue
	for first, want := range map[string][]float64{
		"x,2,1":                 {1, 2},
		"\"x\ny\",\"2\",1":      {1, 2},
		"note,b,a":              {none, none},
		"b,a,note":              {none, none},
		"\ufeffx,2,1":           {1, 2},
		"\xff\xfex,2,1":         {1, 2},
		"\xfe\xffx,2,1":         {1, 2},
		"\xff\x00,2,1":          {1, 2},
		"PAR1,2,1":              {1, 2},
		"PK\x03\x04,2,1":        {1, 2},
		"\x1f\x8b\x08,2,1":      {1, 2},
		"\x93NUMPY\x01\x00,2,1": {1, 2},
		"\x00\x00\x08\x01,2,1":  {1, 2},
		"x;y;z;w,2,1":           {1, 2},
		"x;2;1":                 nil,
		"2,1":                   nil,
		"x,1,2,3":               nil,
		"\"x,1,2":               nil,
		"\n\r\n\nx,2,1":         {1, 2},
	} {
		for _, size := range []int{3, 1 << 16} {
			for _, text := range []string{first + "\ny,4,3\n", "y,4,3\n" + first, first + "\n"} {
				read, count := bufio.NewReader(strings.NewReader(text)), func() (int, error) { return strings.Count(text, "\n"), nil }
				rows, check, err := readCSV("f", read, count, headless(",", "note", "b", "a"), Options{})
				if size == 3 {
					rows, check, err = encodeBlocks("f", &tablefile.Blocks{Src: strings.NewReader(text), Size: size}, nil, headless(",", "note", "b", "a"), Options{})
				}
				if err != nil {
					t.Fatalf("%q: %v", text, err)
				}
				all := map[string][][]float64{
					first + "\ny,4,3\n": {want, {3, 4}}, "y,4,3\n" + first: {{3, 4}, want}, first + "\n": {want},
				}[text]
				if got := unpack(t, rows); !cmp.Equal(got, all) || check.Records != len(all) {
					t.Errorf("%q: records %v, want %v", text, got, all)
				}
			}
		}
	}
}

// No record is a table, too, compressed or not.
func TestHeadlessAndEmpty(t *testing.T) {
	for name, text := range map[string]string{"t.csv": "", "lines.csv": "\n\n", "t.csv.gz": string(zipped(nil))} {
		rows, _, err := readOne(modelstest.File(t, name, text), headless(",", "note", "b", "a"), Options{})
		if err != nil || rows.N != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file without header line needs a declared separator.
func TestHeadlessNeedsSeparator(t *testing.T) {
	for _, text := range []string{"", "2;1\n", "2,1\n", "a,b\n"} {
		_, _, err := readOne(modelstest.File(t, "t.csv", text), headless("", "a", "b"), Options{})
		if err == nil || !strings.HasSuffix(err.Error(), `t.csv: has no header line that shows what separates its fields (under data add separator: ",", or ";", "|", tab)`) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for separator, text := range map[string]string{",": "1,2\n", ";": "1;2\n", "|": "1|2\n", "tab": "1\t2\n"} {
		e := headless(separator, "a", "b")
		e.Decimal = "."
		rows, _, err := readOne(modelstest.File(t, "t.csv", text), e, Options{})
		if err != nil || rows.N != 1 || rows.F64[0] != 1 || rows.F64[1] != 2 {
			t.Errorf("%s: %v", separator, err)
		}
	}
}

// A declared separator wins over the one that the header line suggests.
func TestDeclaredSeparator(t *testing.T) {
	e := twoNumbers()
	e.Separator = ","
	rows, _, err := readOne(modelstest.File(t, "t.csv", "a,b,x;y;z;w\n1,2,3\n"), e, Options{})
	if err != nil || rows.N != 1 || !rows.Valid[0] || rows.F64[1] != 2 {
		t.Error(err)
	}
}

// The first malformed line is counted from the first of the file.
func TestMalformedLine(t *testing.T) {
	for text, header := range map[string]bool{
		"\n\na,b\r\n\n1,2\n31415,6,1\n3,4\n\"\n": true,
		"\n1,\"\n2\"\n\n1,2\n31415\n3,4\n\"\n":   false,
	} {
		for _, size := range []int{4, 1 << 16} {
			e := twoNumbers()
			if !header {
				e = headless(",", "a", "b")
			}
			_, check, err := encodeBlocks("f", &tablefile.Blocks{Src: strings.NewReader(text), Size: size}, nil, e, Options{})
			if line := strings.Count(text[:strings.Index(text, "31415")], "\n") + 1; err != nil || check.Malformed == nil || check.Malformed.Line != line || check.Malformed.Rows != 2 {
				t.Errorf("%q: %+v, want line %d: %v", text, check.Malformed, line, err)
			}
		}
	}
}

// A header without a name for the numbers of rows, as R and pandas write it, is
// one: the hint is about the name that differs.
func TestHeaderOfRowNumbers(t *testing.T) {
	_, _, err := encodeBlocks("f", &tablefile.Blocks{Src: strings.NewReader("\"\",\"A\",\"b\"\n\"1\",2,3\n"), Size: 64}, nil, twoNumbers(), Options{})
	if err == nil || err.Error() != "f: column a: not in the header of the file (column 2 there has this name in other case: write that as `header:` of the column)" {
		t.Error(err)
	}
}

// Where nothing is read of a line, as of a model without predictors, what the model
// file says of the first one decides.
func TestFirstLineOfNothing(t *testing.T) {
	for headless, want := range map[bool]int{false: 1, true: 2} {
		e := encoding.Encoding{Header: []string{"a", "b"}, Headless: headless, Separator: ","}
		_, check, err := encodeBlocks("f", &tablefile.Blocks{Src: strings.NewReader("1,2\n3,4\n"), Size: 64}, nil, e, Options{})
		if err != nil || check.Records != want {
			t.Errorf("headless %v: %d records, want %d: %v", headless, check.Records, want, err)
		}
	}
}
