package modelstest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/models"
)

const narrowModel = `d3p: 1
data:
  unit: {entity: patient%s}
  rows: {public: 3000}
  columns:
    x: {type: real, lower: -3, upper: 3}
    g: {type: category, levels: [%s], unknown: reject_row_silently}
    n: {type: integer, lower: 0, upper: 100}
    m: {type: integer, lower: -50, upper: 5000, missing: {impute: 20}}
    y: {type: binary}
model: {formula: y ~ 1 + x + g + n + m, family: bernoulli}
`

// NarrowTable is a model of columns that take one byte, two or four, with a category of
// that many levels, and the path of 3000 records of it; a few are rejected. Unit is the
// rest of the declaration of the unit.
func NarrowTable(t testing.TB, levels int, unit string) (m *models.Model, path string) {
	t.Helper()
	var names []string
	for l := range levels {
		names = append(names, fmt.Sprint("l", l))
	}
	state := uint64(5)
	below := func(n int) int { // Knuth's generator of MMIX
		state = state*6364136223846793005 + 1442695040888963407
		return int(state >> 33 % uint64(n))
	}
	var text strings.Builder
	text.WriteString("id,x,g,n,m,y\n")
	for i := range 3000 {
		g := names[below(levels)]
		if below(30) == 0 {
			g = "other"
		}
		fmt.Fprintf(&text, "%d,%g,%s,%d,%s,%d\n", i/2, float64(below(600))/100-3, g, below(120), []string{"NA", fmt.Sprint(below(6000))}[below(2)], below(2))
	}
	path = filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return Compile(t, "m.yaml", fmt.Sprintf(narrowModel, unit, strings.Join(names, ", "))), path
}
