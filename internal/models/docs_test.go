package models

import (
	"os"
	"strings"
	"testing"

	"d3p/internal/models/spec"
)

// TestManual compiles every YAML example of docs/models.md.
func TestManual(t *testing.T) {
	for i, example := range manualExamples(t) {
		s, errs := spec.Parse("docs/models.md", []byte(example), loadConfig)
		if len(errs) > 0 {
			t.Errorf("example %d: %v\n%s", i+1, errs, example)
			continue
		}
		if _, err := Compile(s); err != nil {
			t.Errorf("example %d: %v\n%s", i+1, err, example)
		}
	}
}

// manualExamples returns the YAML examples of docs/models.md: whole files as
// they are, blocks together with the data declaration of the page and, where
// they lack one, its first formula.
func manualExamples(t *testing.T) []string {
	t.Helper()
	src, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	var data, formula string
	var examples []string
	for _, block := range strings.Split(string(src), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		switch {
		case strings.HasPrefix(block, "d3p:"):
		case strings.HasPrefix(block, "data:"):
			data = "d3p: 1\n" + block
			continue
		case strings.HasPrefix(block, "model:"), strings.HasPrefix(block, "core:"):
			if formula == "" {
				formula = block
			}
			block = data + block
		default:
			block = data + formula + block
		}
		examples = append(examples, block)
	}
	if len(examples) < 8 {
		t.Fatalf("%d examples, want at least 8", len(examples))
	}
	return examples
}

// TestManualNamesFamilies checks that the manual's table has every family.
func TestManualNamesFamilies(t *testing.T) {
	src, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range spec.FamilyNames() {
		if !strings.Contains(string(src), "`"+name+"`") {
			t.Errorf("docs/models.md does not mention family %s", name)
		}
	}
}
