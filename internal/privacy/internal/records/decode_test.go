package records

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
)

// place is a level with a letter that is no ASCII, and one that is.
func place(text string) encoding.Encoding {
	e := one(encoding.Field{
		Column: "größe", Type: data.Category, Kind: encoding.LevelCode, Levels: []string{"klein", "groß", "š", "none"},
		Unknown: encoding.UnknownMissing, Missing: encoding.MissingImpute, Impute: 3, Out: []int{0},
	})
	e.Text = text
	return e
}

func TestEncodedText(t *testing.T) {
	text := "größe\nklein\ngroß\ngroß\nš\n"
	for _, c := range []struct{ name, encoding, text string }{
		{"UTF-8", "", text},
		{"UTF-8, said", "utf-8", text},
		{"UTF-8 with a mark", "windows-1252", "\xef\xbb\xbf" + text},
		{"windows-1252", "windows-1252", "gr\xf6\xdfe\nklein\ngro\xdf\ngro\xdf\n\x9a\n"},
		{"latin1", "latin1", "gr\xf6\xdfe\nklein\ngro\xdf\ngro\xdf\n\x9a\n"},
		{"windows-1250", "windows-1250", "gr\xf6\xdfe\nklein\ngro\xdf\ngro\xdf\n\x9a\n"},
		{"UTF-16, little end first", "", wide(text, 0, 1)},
		{"UTF-16, big end first", "latin1", wide(text, 1, 0)},
		{"windows-1252, compressed", "windows-1252", string(zipped([]byte("gr\xf6\xdfe\nklein\ngro\xdf\ngro\xdf\n\x9a\n")))},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, check := encode(t, place(c.encoding), c.text)
			if want := [][]float64{{0}, {1}, {1}, {2}}; !cmp.Equal(got, want) || check.Columns[0].NotUTF8 != 0 {
				t.Errorf("records %v, want %v; %d cells not in UTF-8", got, want, check.Columns[0].NotUTF8)
			}
		})
	}
}

// wide is UTF-16 of letters below U+0800, with its mark.
func wide(text string, low, high int) string {
	var out []byte
	for _, r := range "\ufeff" + text {
		var pair [2]byte
		pair[low], pair[high] = byte(r), byte(r>>8)
		out = append(out, pair[:]...)
	}
	return string(out)
}

// Cells that are no text in the declared encoding are no error, which would tell of
// them; the private check counts those that say that a declaration is missing.
func TestCellsInAnotherEncoding(t *testing.T) {
	_, check := encode(t, place(""), "größe\nklein\ngro\xdf\n\xff\nmittel\n")
	if c := check.Columns[0]; c.UnknownLevel != 3 || c.NotUTF8 != 2 {
		t.Errorf("%d unknown levels, %d not in UTF-8, want 3, 2", c.UnknownLevel, c.NotUTF8)
	}
	_, check = encode(t, place(""), wide("größe\nklein\n", 0, 1)+"\x00\xd8\x20")
	if check.Records != 2 {
		t.Errorf("%d records, want 2", check.Records)
	}
}

// Ids that have no letters in the declared encoding are those of different people.
func TestUndecodableIds(t *testing.T) {
	for name, c := range map[string]struct{ encoding, text string }{
		"windows-1252": {"windows-1252", "id,x\nÁ17,1\nÍ17,2\nÁ17,3\n"},
		"latin1":       {"latin1", "id,x\n\x8117,1\n\x8f17,2\n\x8117,3\n"},
		"UTF-8":        {"", "id,x\n\xc117,1\n\xcd17,2\n\xc117,3\n"},
		"UTF-16":       {"", wide("id,x\n", 0, 1) + "\x00\xd8" + wide(",1\n", 0, 1)[2:] + "\x01\xd8" + wide(",2\n", 0, 1)[2:] + "\x00\xd8" + wide(",3\n", 0, 1)[2:]},
		"NUL":          {"", "id,x\na\x00,1\na,2\na\x00,3\n"},
		"normal forms": {"", "id,x\n\u00e9,1\ne\u0301,2\n\u00e9,3\n"},
	} {
		e := visits(2, encoding.KeepFirst)
		e.Text = c.encoding
		rows, _, err := readOne(modelstest.File(t, "data.csv", c.text), e, Options{})
		if err != nil || rows.N != 2 {
			t.Errorf("%s: %d units, want 2: %v", name, rows.N, err)
		}
	}
}
