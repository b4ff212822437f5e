package tablefile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"d3p/internal/models/spec"
)

// twoColumns is how rows of two columns are read.
var twoColumns = Lines{Separator: ',', Width: 2}

// readAll reads every row of text, a block after the other: its cells, or what is wrong
// with it and in which line.
func readAll(src io.Reader, size int, rows Lines) (all [][]string, err error) {
	blocks := &Blocks{Src: src, Size: size, Rows: rows}
	line := 1
	for {
		text, _, blockErr := blocks.Next(nil)
		for len(text) > 0 {
			end, problem, _ := rows.Row(text, true)
			switch {
			case problem != "":
				all = append(all, []string{"malformed", fmt.Sprint(line), string(problem)})
			case len(rows.Cells) > 0:
				var row []string
				for _, c := range rows.Cells {
					row = append(row, string(c))
				}
				all = append(all, row)
			}
			line += bytes.Count(text[:end], []byte{'\n'})
			text = text[end:]
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
		{"byte order marks", "\xef\xbb\xbfa,b\n\xef\xbb\xbf\"1\",2\n\xef\xbb\xbf\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"blank lines", "\na,b\n\r\n\n1,2\n\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"empty cells", "a,b\n,\n", [][]string{{"a", "b"}, {"", ""}}},
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
				size := BlockSize
				if name == "short blocks" {
					size = 3
				}
				got, err := readAll(src, size, twoColumns)
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

// A malformed line is a row by itself; those around it are what they are without it.
func TestCSVReaderMalformed(t *testing.T) {
	for name, test := range map[string]struct {
		bad  string
		want Malformed
	}{
		"short":                   {"3", Ragged(2)},
		"long":                    {"1,2,3", Ragged(2)},
		"short, quoted":           {`"3"`, Ragged(2)},
		"long, quoted":            {`"1","2","3"`, Ragged(2)},
		"bare quote":              {`5'10",2`, bareQuote},
		"open quote":              {`"3,4`, openQuote},
		"open quote in the last":  {`3,"4`, openQuote},
		"lone quote":              {`"`, openQuote},
		"text after quote":        {`"1"x,2`, afterQuote},
		"text after return":       {"\"1\"\rx,2", afterQuote},
		"after a quoted line end": {`"1"" ",2,3`, Ragged(2)},
	} {
		for _, rows := range [][2]string{{"a,b\n1,2\n", "3,4\n5,6\n"}, {"\"a\",b\n1,\"2\n\"\n", "\"3\",4\n\"5\n\",6\n"}, {"1,2\n", ""}} {
			for _, size := range []int{3, 20, BlockSize} {
				before, _ := readAll(strings.NewReader(rows[0]), size, twoColumns)
				after, _ := readAll(strings.NewReader(rows[1]), size, twoColumns)
				want := slices.Concat(before, [][]string{{"malformed", fmt.Sprint(strings.Count(rows[0], "\n") + 1), string(test.want)}}, after)
				got, err := readAll(strings.NewReader(rows[0]+test.bad+"\n"+rows[1]), size, twoColumns)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s, blocks of %d (-want +got):\n%s", name, size, d)
				}
			}
		}
	}
}

// Where quotes join no lines, or are letters, no line takes the next ones with it, as
// the first does here where they do.
func TestLinesAreRows(t *testing.T) {
	const text = "1,\"\n3,4\n5,\"\n"
	for _, test := range []struct {
		quotes string
		want   [][]string
	}{
		{"", [][]string{{"1", "\n3,4\n5,"}}},
		{spec.OneLine, [][]string{{"malformed", "1", string(openQuote)}, {"3", "4"}, {"malformed", "3", string(openQuote)}}},
		{spec.NoQuotes, [][]string{{"1", `"`}, {"3", "4"}, {"5", `"`}}},
	} {
		for _, size := range []int{3, BlockSize} {
			got, err := readAll(strings.NewReader(text), size, Lines{Separator: ',', Width: 2, Quotes: test.quotes})
			if d := cmp.Diff(test.want, got); d != "" || err != nil {
				t.Errorf("%q: %v (-want +got):\n%s", test.quotes, err, d)
			}
		}
	}
	const joined = "1,\"\n3,4\n\"\n5,6\n"
	for quotes, want := range map[string]int{"": 2, spec.OneLine: 4, spec.NoQuotes: 4} {
		got, err := readAll(strings.NewReader(joined), 3, Lines{Separator: ',', Width: 2, Quotes: quotes})
		if len(got) != want || err != nil {
			t.Errorf("%q: %d rows, want %d: %v", quotes, len(got), want, err)
		}
	}
}

func TestCSVReaderLongLines(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	got, err := readAll(strings.NewReader("a,b\n"+long+",\""+long+"\n\"\n1,2\n"), BlockSize, twoColumns)
	if err != nil || len(got) != 3 || got[1][0] != long || got[1][1] != long+"\n" {
		t.Errorf("a line of 2 MiB: %d records, error %v", len(got), err)
	}
	for _, test := range []struct {
		name, text string
		want       Malformed
	}{
		{"an open quote", "\"1\n,", openQuote},
		{"a long line", "1,", LongRow},
		{"a long quoted line", "\"1\",", LongRow},
	} {
		for name, size := range map[string]int{"short blocks": BlockSize, "one block": 64 << 20} {
			got, err := readAll(strings.NewReader("1,2\n"+test.text+strings.Repeat(long, 17)+"\n3,4\n"), size, twoColumns)
			bad := slices.DeleteFunc(slices.Clone(got), func(row []string) bool { return row[0] != "malformed" })
			if err != nil || len(got) < 3 || got[0][0] != "1" || got[len(got)-1][0] != "3" || len(bad) != len(got)-2 {
				t.Errorf("%s, %s: error %v, %d rows, %d of them malformed", test.name, name, err, len(got), len(bad))
			}
		}
	}
}

// FuzzCSVReader compares with encoding/csv: what it accepts has the same cells, up to
// \r\n inside quotes, and however the text is cut, the rows are the same.
func FuzzCSVReader(f *testing.F) {
	for _, text := range csvSeeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		reference := csv.NewReader(strings.NewReader(text))
		reference.FieldsPerRecord = 2
		want, wantErr := reference.ReadAll()
		marks := strings.Contains(text, MarkUTF8) // which encoding/csv keeps
		whole, err := readAll(strings.NewReader(text), BlockSize, twoColumns)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{3, 10} {
			got, err := readAll(strings.NewReader(text), size, twoColumns)
			if err != nil || !cmp.Equal(whole, got) {
				t.Fatalf("blocks of %d: %v; cells (-one block +ours):\n%s", size, err, cmp.Diff(whole, got))
			}
		}
		for _, row := range whole {
			for i := range row {
				row[i] = strings.ReplaceAll(row[i], "\r\n", "\n")
			}
		}
		if wantErr == nil && !marks && !cmp.Equal(want, whole) {
			t.Fatalf("cells (-encoding/csv +ours):\n%s", cmp.Diff(want, whole))
		}
	})
}

// csvSeeds are texts of tables with every oddity of lines and quotes.
func csvSeeds(f *testing.F) (texts []string) {
	raw, err := os.ReadFile("testdata/seeds.json")
	if err == nil {
		err = json.Unmarshal(raw, &texts)
	}
	if err != nil {
		f.Fatal(err)
	}
	return texts
}
