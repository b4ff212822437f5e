// Package spectest compares the mistakes found in a model file with those that its own
// lines announce.
package spectest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"d3p/internal/models/expr"
)

// announced is one mistake on a line, `### column: message` without the hint.
var announced = regexp.MustCompile(`### (\d+): (.*?)\s*(?:### |$)`)

// Each reads every file that matches pattern and checks that exactly the
// announced mistakes are found, each at its line and column. find returns all
// mistakes of a file.
func Each(t *testing.T, pattern string, find func(file string, src []byte) expr.Errors) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, src, find(file, src))
		})
	}
}

// compare checks that errs are the mistakes that the lines of src announce.
func compare(t *testing.T, src []byte, errs expr.Errors) {
	t.Helper()
	want := make(map[string]bool)
	for i, line := range strings.Split(string(src), "\n") {
		for {
			at := announced.FindStringSubmatchIndex(line)
			if at == nil {
				break
			}
			want[fmt.Sprintf("%d:%s: %s", i+1, line[at[2]:at[3]], line[at[4]:at[5]])] = true
			line = line[at[5]:]
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
