package records

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/internal/records/tablefile"
)

func TestCompressedCSV(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "%d,%d\n", i, i*i%7919)
	}
	want, _, err := readText(t, text.String(), "")
	if err != nil {
		t.Fatal(err)
	}
	whole := string(zipped([]byte(text.String())))
	read := func(content string) (*Rows, Check, error) {
		return readOne(modelstest.File(t, "t.csv.gz", content), twoNumbers(), Options{})
	}
	got, _, err := read(whole)
	if err != nil || got.N != 3000 || !slices.Equal(got.F64, want.F64) {
		t.Fatalf("%v, %d records", err, got.N)
	}
	// A file that is cut off, at the end of a line of text or not, must not look
	// like a shorter one; nor one with a flipped bit like another.
	for cut := 0; cut < len(whole); cut += len(whole) / 50 {
		if _, _, err := read(whole[:cut]); !isFileError(err) {
			t.Errorf("cut off after %d of %d bytes: %v", cut, len(whole), err)
		}
	}
	flipped := []byte(whole)
	flipped[len(flipped)-6] ^= 1 // of the checksum
	if _, _, err := read(string(flipped)); !isFileError(err) {
		t.Errorf("wrong checksum: %v", err)
	}
}

// Parts that are decompressed side by side give the records of one file, in its order, on
// any number of threads. A damaged part is an error.
func TestCompressedParts(t *testing.T) {
	text := dirtyRows(200_000)
	lines := strings.SplitAfter(text, "\n")
	one, oneCheck, err := readOne(modelstest.File(t, "data.csv", text), twoNumbers(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	const parts = 5
	var paths []string
	for i := range parts { // the first is longer than a piece of text
		low, high := 1, 1+150_000
		if i > 0 {
			low, high = 150_001+12_500*(i-1), 150_001+12_500*i
		}
		paths = append(paths, modelstest.File(t, "part.csv.gz", string(zipped([]byte(lines[0]+strings.Join(lines[low:high], ""))))))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, threads := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(threads)
		rows, check, err := Read("parts", paths, twoNumbers(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(rows.F64, one.F64) || !slices.Equal(rows.Valid, one.Valid) || check.Rejected != oneCheck.Rejected || check.Malformed.Rows != oneCheck.Malformed.Rows {
			t.Errorf("%d threads: %d records (%d rejected), want %d (%d), or others", threads, rows.N, check.Rejected, one.N, oneCheck.Rejected)
		}
	}
	for name, content := range map[string]string{"no gzip": "a,b\n1,2\n", "empty": "", "cut off": string(zipped([]byte(text))[:5000])} {
		broken := append(slices.Clone(paths[:2]), modelstest.File(t, "broken.csv.gz", content), paths[2])
		if _, _, err := Read("parts", broken, twoNumbers(), Options{}); !isFileError(err) {
			t.Errorf("%s: %v", name, err)
		}
		texts := tablefile.NewDecompression(broken, "") // what the counting of lines has not looked at
		if _, err := texts.Open(broken[2], nil, true); name != "cut off" && !isFileError(err) {
			t.Errorf("%s, while it is read: %v", name, err)
		}
		texts.Close()
	}
}

func isFileError(err error) bool {
	var bad *tablefile.FileError
	return errors.As(err, &bad)
}
