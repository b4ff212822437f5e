package records

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"d3p/internal/models"
	"d3p/internal/models/spec"
)

// place is a level with a letter that is no ASCII, and one that is.
func place(encoding string) models.Encoding {
	e := one(models.Field{
		Column: "größe", Type: models.Category, Kind: models.LevelCode, Levels: []string{"klein", "groß", "š", "none"},
		Unknown: models.UnknownMissing, Missing: models.MissingImpute, Impute: 3, Out: []int{0},
	})
	e.Text = encoding
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

// Every encoding that a model file may name has its table.
func TestEveryEncodingIsThere(t *testing.T) {
	for _, name := range spec.Encodings() {
		if charmaps[name] == nil && name != "utf-8" {
			t.Errorf("no table for %s", name)
		}
	}
}
