package models_test

import (
	"os"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/spec"
)

// TestManual compiles every YAML example of docs/reference/models.md.
func TestManual(t *testing.T) {
	for i, example := range manualExamples(t) {
		s, errs := spec.Parse("docs/reference/models.md", []byte(example), loadConfig)
		if len(errs) > 0 {
			t.Errorf("example %d: %v\n%s", i+1, errs, example)
			continue
		}
		if _, err := models.Compile(s); err != nil {
			t.Errorf("example %d: %v\n%s", i+1, err, example)
		}
	}
}

// TestCard compiles every YAML example of docs/guide/card.md.
func TestCard(t *testing.T) {
	src, err := os.ReadFile("../../docs/guide/card.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Split(string(src), "```yaml\n")[1:]
	if len(examples) < 4 {
		t.Errorf("%d examples, want at least 4", len(examples))
	}
	for i, example := range examples {
		example, _, _ = strings.Cut(example, "```")
		if s, errs := spec.Parse("docs/guide/card.md", []byte(example), loadConfig); len(errs) > 0 {
			t.Errorf("example %d: %v\n%s", i+1, errs, example)
		} else if _, err := models.Compile(s); err != nil {
			t.Errorf("example %d: %v\n%s", i+1, err, example)
		}
	}
}

// manualExamples returns the YAML examples of docs/reference/models.md: whole files as
// they are, blocks together with the data declaration of the page and, where
// they lack one, its first formula.
func manualExamples(t *testing.T) []string {
	t.Helper()
	src, err := os.ReadFile("../../docs/reference/models.md")
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
		case strings.HasPrefix(block, "model:"), strings.HasPrefix(block, "core:"), strings.HasPrefix(block, "twin:"):
			if formula == "" {
				formula = block
			}
			block = data + block
		default:
			block = data + formula + block
		}
		examples = append(examples, block)
	}
	if len(examples) < 7 {
		t.Fatalf("%d examples, want at least 7", len(examples))
	}
	return examples
}
