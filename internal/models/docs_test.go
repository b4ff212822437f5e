package models_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/dist"
	"d3p/internal/models/expr"
	"d3p/internal/models/formula"
	"d3p/internal/models/spec"
	"d3p/internal/models/support"
	"d3p/internal/settings"
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

// TestCard compiles every YAML example of docs/guide/card.md, and checks that it
// names every family.
func TestCard(t *testing.T) {
	src, err := os.ReadFile("../../docs/guide/card.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Split(string(src), "```yaml\n")[1:]
	if len(examples) < 5 {
		t.Errorf("%d examples, want at least 5", len(examples))
	}
	for i, example := range examples {
		example, _, _ = strings.Cut(example, "```")
		if s, errs := spec.Parse("docs/guide/card.md", []byte(example), loadConfig); len(errs) > 0 {
			t.Errorf("example %d: %v\n%s", i+1, errs, example)
		} else if _, err := models.Compile(s); err != nil {
			t.Errorf("example %d: %v\n%s", i+1, err, example)
		}
	}
	for _, name := range formula.FamilyNames() {
		if !strings.Contains(string(src), "`"+name+"`") {
			t.Errorf("docs/guide/card.md does not name family %s", name)
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
	if len(examples) < 8 {
		t.Fatalf("%d examples, want at least 8", len(examples))
	}
	return examples
}

// TestManualNamesFamilies checks that the manual's table has every family.
func TestManualNamesFamilies(t *testing.T) {
	src, err := os.ReadFile("../../docs/reference/models.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range formula.FamilyNames() {
		if !strings.Contains(string(src), "`"+name+"`") {
			t.Errorf("docs/reference/models.md does not mention family %s", name)
		}
	}
}

// manualDistributions is the manual's table of distributions.
func manualDistributions() string {
	var b strings.Builder
	b.WriteString("| distribution | values | |\n|---|---|---|\n")
	for _, d := range dist.Table {
		var args []string
		for _, a := range d.Args {
			switch text := a.Name; {
			case a.Instead != "":
				i := slices.IndexFunc(args, func(s string) bool { return s == a.Instead })
				if i < 0 {
					i = len(args) - 1
				}
				args[i] += " or " + text
			case a.Optional:
				args = append(args, fmt.Sprintf("%s=%g", text, a.Default))
			default:
				args = append(args, text)
			}
		}
		unknown := make([]float64, len(d.Args))
		for i := range unknown {
			unknown[i] = math.NaN()
		}
		values := d.Support(unknown).String()
		if d.Support(unknown).Kind == support.Interval {
			values = "between its bounds"
		}
		fmt.Fprintf(&b, "| `%s(%s)` | %s | %s |\n", d.Name, strings.Join(args, ", "), values, d.Summary)
	}
	return b.String()
}

// TestManualNamesSettings checks that the manual has the key of every setting that a
// model file may have.
func TestManualNamesSettings(t *testing.T) {
	src, err := os.ReadFile("../../docs/reference/models.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(src), "\n## `guide`, `fit`, `privacy`, `output`\n")
	for _, row := range settings.Table() {
		key := row.Key[strings.LastIndex(row.Key, ".")+1:]
		if strings.HasPrefix(row.Key, "data.") || regexp.MustCompile(`\b`+key+`\b`).MatchString(section) {
			continue
		}
		t.Errorf("docs/reference/models.md does not name the setting %s", row.Key)
	}
}

// wrapped breaks a paragraph into lines of at most 110 bytes.
func wrapped(text string) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		if column > 0 && column+1+len(word) > 110 {
			b.WriteByte('\n')
			column = 0
		} else if column > 0 {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String() + "\n"
}

// TestManualReference checks that the manual has every distribution, with its
// arguments, and every function; with -update it writes them.
func TestManualReference(t *testing.T) {
	const file = "../../docs/reference/models.md"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	src := string(raw)
	functions := expr.FunctionNames()
	slices.Sort(functions)
	list := wrapped("Functions of expressions: `" + strings.Join(functions, "`, `") + "`.")
	if *update {
		before, rest, _ := strings.Cut(src, "\n| distribution | values | |\n")
		_, after, _ := strings.Cut(rest, "\nFunctions of expressions: ")
		_, after, _ = strings.Cut(after, "\n\n")
		src = before + "\n" + manualDistributions() + "\n" + list + "\n" + after
		if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(src, manualDistributions()) || !strings.Contains(src, list) {
		t.Errorf("%s does not list the distributions and functions of the code; run this test with -update", file)
	}
}
