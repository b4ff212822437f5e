package score

import (
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/predict"
	"d3p/internal/privacy"
)

const drawn = `d3p: 1
name: digits
data:
  unit: {entity: image, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    label: {type: category, levels: [a, b, c]}
  tensors:
    img: {from: columns("px0".."px3"), dims: [x], shape: [4], lower: 0, upper: 1, scale: {center: 0, by: 1}, source: x}
  binarize: {column: img, mode: stochastic}
nets:
  net:
    input: [x]
    layers:
      - dense: {units: class}
core:
  dims: {class: levels(label)}
  rows:
    observe:
      label: categorical(logits=net(img))
`

// The random numbers of a drawn prediction depend on the record's place: removing a record
// would move every later one to another cell. So d3p refuses to score a model with drawn
// predictions.
func TestDrawnPredictionsAreNotScored(t *testing.T) {
	m := modelstest.Compile(t, "digits.yaml", drawn)
	posterior := predict.Posterior{S: 20, Prob: 0.9, Draw: func(theta []float64, s int) {
		rng := rand.New(rand.NewPCG(uint64(s), 1))
		for i := range theta {
			theta[i] = 3 * rng.NormFloat64()
		}
	}}
	table, err := New(m, posterior, "", normals{rand.New(rand.NewPCG(1, 1))})
	if err != nil && strings.Contains(err.Error(), "binarize") {
		return
	}
	t.Errorf("the model is scored: %v", err)
	for _, records := range []int{30, 29} {
		path := modelstest.File(t, "digits.csv", "px0,px1,px2,px3,label\n"+strings.Repeat("0.5,0.4,0.6,0.3,a\n", records))
		rows, _, err := privacy.ReadNewRows(path, m.Encoding)
		if err != nil {
			t.Fatal(err)
		}
		cells := make([]int, rows.N)
		if err := table.Place([]privacy.Placed{{Cells: cells}}, privacy.RowRange{Rows: rows, High: rows.N, Most: 1}); err != nil {
			t.Fatal(err)
		}
		t.Logf("cells of %d equal records: %d", records, cells)
	}
}
