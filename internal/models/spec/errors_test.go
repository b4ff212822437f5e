package spec

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wanted is a message that a line of a testdata file announces as
// `### column: message`, the message without its hint.
var wanted = regexp.MustCompile(`### (\d+): (.*?)\s*(?:$|### )`)

// TestErrors reads every file of testdata/errors, whose lines announce their
// mistakes: exactly those must be found, each at its line and column.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, errs := Parse(file, src, loadTestdata)
			if len(errs) == 0 && (s.Model != nil || s.Core != nil) {
				_, errs = s.Lower()
			}
			compareErrors(t, src, errs)
		})
	}
}

// loadTestdata reads the public files of the test models.
func loadTestdata(path string) ([]byte, error) { return os.ReadFile(path) }

// compareErrors checks that errs are what the lines of src announce.
func compareErrors(t *testing.T, src []byte, errs Errors) {
	t.Helper()
	want := make(map[string]bool)
	for i, line := range strings.Split(string(src), "\n") {
		for at := strings.Index(line, "### "); at >= 0; {
			m := wanted.FindStringSubmatch(line[at:])
			if m == nil {
				t.Fatalf("line %d: no `### column: message`", i+1)
			}
			want[fmt.Sprintf("%d:%s: %s", i+1, m[1], m[2])] = true
			next := strings.Index(line[at+4:], "### ")
			if next < 0 {
				break
			}
			at += 4 + next
		}
	}
	for _, e := range errs {
		got := fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
		if !want[got] {
			t.Errorf("unexpected: %s (%s)", got, e.Hint)
		}
		delete(want, got)
	}
	for w := range want {
		t.Errorf("missing: %s", w)
	}
}

// TestErrorText pins the form of a message, which users and editors parse.
func TestErrorText(t *testing.T) {
	src := "d3p: 1\ndata:\n  unti: {entity: patient}\n"
	_, errs := Parse("cohort.yaml", []byte(src), nil)
	if len(errs) == 0 {
		t.Fatal("no errors")
	}
	want := "cohort.yaml:3:3: unknown key unti in data (did you mean unit?)"
	found := false
	for _, e := range errs {
		found = found || e.Error() == want
	}
	if !found {
		t.Errorf("want %q among\n%v", want, errs)
	}
}
