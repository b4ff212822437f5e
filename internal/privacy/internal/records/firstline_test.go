package records

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"d3p/internal/models"
)

// headless is the encoding of two numbers a and b of a file whose columns are named
// in the model file.
func headless(names ...string) models.Encoding {
	e := twoNumbers()
	e.Header, e.Headless = names, true
	return e
}

// A file without names has those of the model file, and every line of it counts; one
// that has names all the same is read by them.
func TestHeadless(t *testing.T) {
	want := [][]float64{{1, 2}, {3, 4}}
	for name, text := range map[string]string{
		"no names":          "x,2,1\ny,4,3\n",
		"blank lines":       "\n\r\nx,2,1\n\ny,4,3\n",
		"quoted":            "\"x\ny\",\"2\",1\ny,4,3",
		"no text":           "\xff\x00,2,1\ny,4,3\n",
		"names":             "note,b,a\nx,2,1\ny,4,3\n",
		"names, other way":  "a,b\n1,2\n3,4\n",
		"semicolons, names": "a\tb\n1\t2\n3\t4\n",
	} {
		for _, size := range []int{3, 1 << 16} {
			blocks := &csvBlocks{src: strings.NewReader(text), size: size}
			rows, check, err := encodeBlocks("f", blocks, nil, headless("note", "b", "a"), Options{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := unpack(t, rows); !cmp.Equal(got, want) || check.Records != 2 {
				t.Errorf("%s: records %v, want %v", name, got, want)
			}
		}
	}
}

// What is wrong is said without a word of the first line, and the line that is
// malformed is counted from the first of the file.
func TestHeadlessErrors(t *testing.T) {
	for text, want := range map[string]string{
		"2,31415\n":                   "f: header names 3 columns, but a line has 2 fields (under data, header: names all columns of the file in order)",
		"note,31415\n":                "f: header names 3 columns, but a line has 2 fields (under data, header: names all columns of the file in order)",
		"\nx,2,1\nx,2,1\n31415,6\n":   "f: a line does not have the 3 fields of the first line",
		"\"x\ny\",2,1\nx,31415,1,2\n": "f: a line does not have the 3 fields of the first line",
	} {
		_, check, err := encodeBlocks("f", &csvBlocks{src: strings.NewReader(text), size: 8}, nil, headless("note", "b", "a"), Options{})
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if line := strings.Count(text[:strings.Index(text, "31415")], "\n") + 1; check.Problem != nil && check.Problem.Line != line {
			t.Errorf("%q: line %d, want %d", text, check.Problem.Line, line)
		}
	}
}

// A header without a name for the numbers of rows, as R and pandas write it, is
// one: the hint is about the name that differs.
func TestHeaderOfRowNumbers(t *testing.T) {
	_, _, err := encodeBlocks("f", &csvBlocks{src: strings.NewReader("\"\",\"A\",\"b\"\n\"1\",2,3\n"), size: 64}, nil, twoNumbers(), Options{})
	if err == nil || err.Error() != "f: column a: not in the header of the file (did you mean A?)" {
		t.Error(err)
	}
}

// Where nothing is read of a line, as of a model without predictors, what the model
// file says of the first one decides.
func TestFirstLineOfNothing(t *testing.T) {
	for headless, want := range map[bool]int{false: 1, true: 2} {
		e := models.Encoding{Header: []string{"a", "b"}, Headless: headless}
		_, check, err := encodeBlocks("f", &csvBlocks{src: strings.NewReader("1,2\n3,4\n"), size: 64}, nil, e, Options{})
		if err != nil || check.Records != want {
			t.Errorf("headless %v: %d records, want %d: %v", headless, check.Records, want, err)
		}
	}
}
