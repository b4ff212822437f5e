package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/settings"
)

const classifier = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    z: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    y: {type: category, levels: [u, v, w]}
nets:
  net:
    input: [features]
    layers:
      - dense: {units: 37, activation: tanh}
      - dense: {units: 29, activation: relu}
      - dense: {units: class}
core:
  dims: {class: levels(y), features: [x, z]}
  rows:
    observe:
      y: categorical(logits=net(columns(features)))
`

// The loss of a row under a network has the same bits wherever the row is, whatever the
// engine multiplies together.
func TestLossUnderANetworkIsOfItsRowAlone(t *testing.T) {
	m := modelstest.Compile(t, "net.yaml", classifier)
	rng := rand.New(rand.NewPCG(5, 6))
	theta := make([]float64, m.P)
	for i := range theta {
		theta[i] = rng.NormFloat64() / 2
	}
	measure, err := NewIterate(m, []string{settings.TraceLoss}, theta)
	if err != nil {
		t.Fatal(err)
	}
	parts := func(lines []string) []float64 {
		path := modelstest.File(t, "net.csv", "x,z,y\n"+strings.Join(lines, ""))
		rows, _, err := privacy.ReadNewRows(path, m.Encoding)
		if err != nil {
			t.Fatal(err)
		}
		cells, parts := make([]int, rows.N), make([]float64, rows.N)
		if err := measure.Place([]privacy.Placed{{Cells: cells, Parts: parts}}, privacy.RowRange{Rows: rows, High: rows.N, Most: 1}); err != nil {
			t.Fatal(err)
		}
		for i, cell := range cells {
			if cell != 0 || !(parts[i] > 0) {
				t.Fatalf("row %d is in cell %d with part %g", i, cell, parts[i])
			}
		}
		return parts
	}
	const places = 1 << 10
	var lines []string
	for range places + 300 {
		lines = append(lines, fmt.Sprintf("%.4f,%.4f,%c\n", 6*rng.Float64()-3, 6*rng.Float64()-3, 'u'+rune(rng.IntN(3))))
	}
	all := parts(lines)
	for _, from := range []int{1, 2, 5, 300, places - 1, places + 299} {
		for i, part := range parts(lines[from:]) {
			if math.Float64bits(part) != math.Float64bits(all[from+i]) {
				t.Fatalf("without the first %d rows, row %d has the part %.17g, not %.17g", from, from+i, part, all[from+i])
			}
		}
	}
}
