package records

import (
	"d3p/internal/privacy/internal/records/tablefile"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
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
		return readOne(write(t, "t.csv.gz", content), twoNumbers(), Options{})
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

func isFileError(err error) bool {
	var bad *tablefile.FileError
	return errors.As(err, &bad)
}
