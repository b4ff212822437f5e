package records

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// readAll reads every record of text, a block after the other.
func readAll(src io.Reader, size int) (all [][]string, err error) {
	blocks := &csvBlocks{src: src, size: size}
	var text csvText
	for {
		block, _, blockErr := blocks.next(nil)
		for text.rest = block; ; {
			cells, err := text.read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			row := make([]string, len(cells))
			for i, c := range cells {
				row[i] = string(c)
			}
			all = append(all, row)
		}
		if errors.Is(blockErr, io.EOF) {
			return all, nil
		}
		if blockErr != nil {
			return nil, blockErr
		}
	}
}

func TestCSVReader(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       [][]string
	}{
		{"plain", "a,b\n1,2\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"no last line end", "a,b\n1,2", [][]string{{"a", "b"}, {"1", "2"}}},
		{"carriage returns", "a,b\r\n1,2\r\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"byte order mark", "\xef\xbb\xbfa,b\n1,2\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"blank lines", "\na,b\n\r\n\n1,2\n\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"empty cells", "a,b,c\n,,\n", [][]string{{"a", "b", "c"}, {"", "", ""}}},
		{"quotes", "a,b\n\"1,5\",\"say \"\"hi\"\"\"\n", [][]string{{"a", "b"}, {"1,5", `say "hi"`}}},
		{"line end in quotes", "a,b\n\"x\ny\",2\n", [][]string{{"a", "b"}, {"x\ny", "2"}}},
		{"quoted after plain", "a,b\n1,\"2\"\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"quoted empty", "a,b\n\"\",\n", [][]string{{"a", "b"}, {"", ""}}},
		{"nothing", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, src := range map[string]io.Reader{
				"whole":          strings.NewReader(test.text),
				"short blocks":   strings.NewReader(test.text),
				"byte at a time": iotest.OneByteReader(strings.NewReader(test.text)),
			} {
				size := csvBlockSize
				if name == "short blocks" {
					size = 3
				}
				got, err := readAll(src, size)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if d := cmp.Diff(test.want, got); d != "" {
					t.Errorf("%s (-want +got):\n%s", name, d)
				}
			}
		})
	}
}

func TestCSVReaderMalformed(t *testing.T) {
	for _, test := range []struct {
		name, text string
		line       int
	}{
		{"ragged short", "a,b\n1,2\n3\n", 3},
		{"ragged long", "a,b\n1,2,3\n", 2},
		{"bare quote", "a,b\n1,2\"\n", 2},
		{"open quote", "a,b\n1,2\n\"3,4\n", 3},
		{"text after quote", "a,b\n\"1\"x,2\n", 2},
		{"after a quoted line end", "a,b\n\"1\n\",2\n3\n", 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := readAll(strings.NewReader(test.text), csvBlockSize)
			var bad *malformed
			if !errors.As(err, &bad) || bad.line != test.line {
				t.Errorf("error %v of line %+v, want a malformed line %d", err, bad, test.line)
			}
		})
	}
}

func TestCSVReaderLongLines(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	got, err := readAll(strings.NewReader("a,b\n"+long+",\""+long+"\n\"\n1,2\n"), csvBlockSize)
	if err != nil || len(got) != 3 || got[1][0] != long || got[1][1] != long+"\n" {
		t.Errorf("a line of 2 MiB: %d records, error %v", len(got), err)
	}
	_, err = readAll(strings.NewReader("a,b\n\""+strings.Repeat(long, 17)), csvBlockSize)
	var bad *malformed
	if !errors.As(err, &bad) {
		t.Errorf("an open quote of 17 MiB: error %v, want malformed", err)
	}
}

// FuzzCSVReader compares with encoding/csv: the same texts are accepted, and
// the cells are the same up to \r\n inside quotes, however the text is cut.
func FuzzCSVReader(f *testing.F) {
	for _, text := range csvSeeds {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.HasPrefix(text, "\xef\xbb\xbf") {
			t.Skip("encoding/csv keeps a byte order mark")
		}
		reference := csv.NewReader(strings.NewReader(text))
		first := csvText{rest: []byte(text)}
		if first.read(); first.separator != 0 {
			reference.Comma = rune(first.separator)
		}
		want, wantErr := reference.ReadAll()
		for _, size := range []int{3, 10, csvBlockSize} {
			got, gotErr := readAll(strings.NewReader(text), size)
			if (wantErr == nil) != (gotErr == nil) {
				t.Fatalf("blocks of %d: error %v, encoding/csv %v", size, gotErr, wantErr)
			}
			for _, row := range got {
				for i := range row {
					row[i] = strings.ReplaceAll(row[i], "\r\n", "\n")
				}
			}
			if wantErr == nil && !cmp.Equal(want, got) {
				t.Fatalf("blocks of %d: cells (-encoding/csv +ours):\n%s", size, cmp.Diff(want, got))
			}
		}
	})
}

var csvSeeds = []string{
	"a,b\n1,2\n", "a,b\r\n1,2", "a\n\"x\ny\"\n", "a,b\n\"1\"\"\",\n", "\n\n,\n", "a,b\n1\n",
	"a;b\n1,5;\"2;3\"\n", "\"a,b,c\"\td\n1\t2\n", "a|b\n1|2|3\n",
	"a\"b\n", "\"a\"b\n", "\"", "a\r", "\r\n", "\"\r\n\"", "a,\"b\r\n\",c\r\n", "\"a\n\"\n\"b",
	"1,2\n3,4\n5,6\r\n\r\n7,8", "1,2\n-.5e3,+7.25\n,\n1e400,nan\n0x1p3,1_0\n 1,2 \n", "1,\"2\"\n\"3\n\",4\n5,6\n", "1,2\n3,4,5\n6,7\n", "1,2\r3,4\n5\r,6\n",
}
