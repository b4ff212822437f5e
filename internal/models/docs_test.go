package models

import (
	"os"
	"strings"
	"testing"

	"d3p/internal/models/spec"
)

// TestManual compiles every YAML example of docs/models.md: whole files as they
// are, blocks together with the data declaration of the page and, where they
// lack one, its first formula.
func TestManual(t *testing.T) {
	src, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	var data, formula string
	examples := 0
	for i, block := range strings.Split(string(src), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		switch {
		case strings.HasPrefix(block, "d3p:"):
		case strings.HasPrefix(block, "data:"):
			data = "d3p: 1\n" + block
			block = ""
		case strings.HasPrefix(block, "model:") && formula == "":
			formula = block
			block = data + block
		case strings.HasPrefix(block, "model:"), strings.HasPrefix(block, "core:"):
			block = data + block
		default:
			block = data + formula + block
		}
		if block == "" {
			continue
		}
		examples++
		s, errs := spec.Parse("docs/models.md", []byte(block), loadConfig)
		if len(errs) > 0 {
			t.Errorf("example %d: %v\n%s", i+1, errs, block)
			continue
		}
		if _, err := Compile(s); err != nil {
			t.Errorf("example %d: %v\n%s", i+1, err, block)
		}
	}
	if examples < 8 {
		t.Errorf("%d examples, want at least 8", examples)
	}
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
