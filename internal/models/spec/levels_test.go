package spec

import (
	"fmt"
	"strings"
	"testing"
)

// withLevels is a model file whose column g has these levels.
func withLevels(levels, formula string) string {
	return fmt.Sprintf(`d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    g: {type: category, levels: %s}
    n: {type: integer, lower: 1, upper: 12}
    y: {type: binary}
model: {formula: "%s", family: bernoulli}
`, levels, formula)
}

// Two whole numbers stand for all levels between them; what is no such pair is said.
func TestWholeLevels(t *testing.T) {
	s, errs := Parse("m.yaml", []byte(withLevels("-1..3", "y ~ g")), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if got := strings.Join(s.Data.Column("g").LevelNames(), " "); got != "-1 0 1 2 3" {
		t.Errorf("levels %s", got)
	}
	for levels, want := range map[string]string{
		"a..c":          "levels must be a list",
		"north":         "levels must be a list",
		"3..1":          "stands for no levels",
		"1..1000000000": "or for more than 65536",
		"1.5..2":        "levels must be a list",
	} {
		_, errs := Parse("m.yaml", []byte(withLevels(levels, "y ~ 1")), nil)
		if !strings.Contains(errs.Error(), "m.yaml:6:33: ") || !strings.Contains(errs.Error(), want) {
			t.Errorf("%s: %v, want %s", levels, errs, want)
		}
	}
}

// Groups by whole numbers are one mistake, with what to write instead.
func TestGroupsByNumbers(t *testing.T) {
	_, errs := Parse("m.yaml", []byte(withLevels("[a, b]", "y ~ g + (1 | n)")), nil)
	if len(errs) != 1 || !strings.Contains(errs[0].Hint, "{type: category, levels: 1..12}") {
		t.Errorf("%v", errs)
	}
}

// Cells of public lists lose the spaces around them, as those of data files do,
// and an empty one is no level.
func TestLevelsAreTrimmed(t *testing.T) {
	src := `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    g: {type: category, levels_from: list.csv#g}
    y: {type: binary}
model: {formula: y ~ g, family: bernoulli}
`
	s, errs := Parse("m.yaml", []byte(src), func(string) ([]byte, error) { return []byte("\ufeff g \r\r\na\r\r\n b\n\"\"\na\n"), nil })
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if got := strings.Join(s.Data.Columns[0].LevelNames(), "|"); got != "a|b" {
		t.Errorf("levels %q, want a|b", got)
	}
}
