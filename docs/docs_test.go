// Package docs holds the documents to what they promise.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// documents returns the paths of all documents below this folder.
func documents(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) < 10 {
		t.Fatalf("found %d documents: %v", len(paths), err)
	}
	return append(paths, "../README.md", "../CONTRIBUTING.md", "../SECURITY.md", "../CHANGELOG.md", "../configs/README.md", "../datasets/README.md")
}

// Every file of the repository that a document names in code exists; names in capitals
// stand for others.
func TestNamedFilesExist(t *testing.T) {
	named := regexp.MustCompile("`((?:internal|cmd|docs|configs|datasets)/[\\w./-]+)`")
	for _, doc := range documents(t) {
		src, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(src), -1) {
			if strings.Contains(m[1], "NAME") {
				continue
			}
			if _, err := os.Stat("../" + m[1]); err != nil {
				t.Errorf("%s names %s: %v", doc, m[1], err)
			}
		}
	}
}

// Every test that a document names exists, so that a claim cannot outlive the
// test that holds it.
func TestNamedTestsExist(t *testing.T) {
	defined := map[string]bool{}
	definition := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, m := range definition.FindAllStringSubmatch(string(src), -1) {
			defined[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w+)`")
	for _, doc := range documents(t) {
		src, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(src), -1) {
			if !defined[m[1]] {
				t.Errorf("%s names %s, which no package defines", doc, m[1])
			}
		}
	}
}

// Every numbered claim names at least one test.
func TestEveryClaimNamesATest(t *testing.T) {
	src, err := os.ReadFile("privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	claims := regexp.MustCompile(`(?ms)^\*\*(\d+)\. .*?(?:\n\n|\z)`).FindAllStringSubmatch(string(src), -1)
	if len(claims) < 10 {
		t.Fatalf("found %d claims", len(claims))
	}
	for i, c := range claims {
		if c[1] != strconv.Itoa(i+1) {
			t.Errorf("claim %d has the number %s", i+1, c[1])
		}
		if !regexp.MustCompile("\\*Tests:\\*.*`Test").MatchString(c[0]) {
			t.Errorf("claim %s names no test", c[1])
		}
	}
}

// Links between documents lead somewhere.
func TestLinksResolve(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	for _, doc := range documents(t) {
		src, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(src), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(doc), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", doc, m[1], err)
			}
		}
	}
}

// design/dependencies.md has every direct requirement of go.mod, and no other.
func TestDependenciesAreExplained(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("design/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	required := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(string(mod), -1) {
		required[m[1]] = true // a line with "// indirect" does not match
	}
	explained := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\S+)` \\|").FindAllStringSubmatch(string(page), -1) {
		explained[m[1]] = true
	}
	for name := range required {
		if !explained[name] {
			t.Errorf("design/dependencies.md does not explain %s", name)
		}
	}
	for name := range explained {
		if !required[name] {
			t.Errorf("design/dependencies.md explains %s, which go.mod does not require directly", name)
		}
	}
	if len(required) < 5 {
		t.Errorf("found %d requirements", len(required))
	}
}
