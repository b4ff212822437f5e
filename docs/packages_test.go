package docs

import (
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named begins the comment of a package.
var named = regexp.MustCompile(`^(Package|Command) \w+ `)

// packages lists every package with the first sentence of its comment, without tests.
func packages(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, root := range []string{"../cmd", "../internal"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() || d.Name() == "testdata" {
				return err
			}
			files, err := filepath.Glob(path + "/*.go")
			if err != nil {
				return err
			}
			code, sentence := false, ""
			for _, name := range files {
				if strings.HasSuffix(name, "_test.go") {
					continue
				}
				file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
				if err != nil {
					return err
				}
				code = true
				if text := file.Doc.Text(); text != "" {
					sentence = new(doc.Package).Synopsis(text)
				}
			}
			if code {
				fmt.Fprintf(&b, "%-42s %s\n", strings.TrimPrefix(filepath.ToSlash(path), "../"), named.ReplaceAllString(sentence, ""))
			}
			if code && sentence == "" {
				t.Errorf("package %s has no comment", path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// design/packages.txt has every package; make docs writes it.
func TestPackagesAreListed(t *testing.T) {
	const file = "design/packages.txt"
	want := packages(t)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Errorf("docs/%s is not the list of packages (%v); run make docs", file, err)
	}
	if strings.Count(want, "\n") < 60 {
		t.Errorf("found few packages:\n%s", want)
	}
}
