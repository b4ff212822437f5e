package docs

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"unicode"
)

// mostWords is the number of words that all pages together may have: whoever adds a page
// shortens others.
const mostWords = 18_000

// The pages are few enough to be read. Generated ones do not count, nor do signs, numbers
// and names of tests.
func TestPagesAreShort(t *testing.T) {
	total := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" || strings.HasPrefix(name, "gallery/") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, word := range strings.Fields(string(text)) {
			if strings.ContainsFunc(word, unicode.IsLetter) && !strings.Contains(word, "`Test") {
				total++
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if total > mostWords || total < mostWords/2 {
		t.Errorf("the pages have %d words, want at most %d", total, mostWords)
	}
}
