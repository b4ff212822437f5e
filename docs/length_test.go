package docs

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// mostWords is the number of words that all pages together may have: whoever adds a page
// shortens others.
const mostWords = 20_000

// The pages have few enough words, as `wc -w` counts them; those of the gallery have a
// test of their own in CI.
func TestPagesAreShort(t *testing.T) {
	total := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" || strings.HasPrefix(name, "gallery/") {
			return err
		}
		text, err := os.ReadFile(name)
		total += len(strings.Fields(string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if total > mostWords || total < mostWords/2 {
		t.Errorf("the pages have %d words, want at most %d", total, mostWords)
	}
}
