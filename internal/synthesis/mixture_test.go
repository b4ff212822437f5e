package synthesis_test

import (
	"math"
	"testing"

	"d3p/internal/models/law"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
	"d3p/internal/synthesis"
)

const twoColumns = `
d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 6000}
  columns:
    a: {type: category, levels: [x, y, z]}
    b: {type: integer, lower: 0, upper: 9}
twin:
  components: 2
  constraints: [b < 9 or a != 'z']
`

// A table has the bought columns whatever the mixture says. It has the mixture's relations
// where these agree with the bought correlation, and none of a mixture that contradicts it.
func TestMixtureIsNoWorseThanTable1(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", twoColumns)
	twin, err := simulate.NewTwin(m)
	if err != nil {
		t.Fatal(err)
	}
	l := law.Declared(&m.Spec.Data)
	if synthesis.NewMixture(l, twin) != nil {
		t.Error("a law that was not bought is accepted")
	}
	l.Columns[0].Shares = []float64{0.5, 0.3, 0.2}
	l.Columns[1].Edges, l.Columns[1].Shares = []float64{-0.5, 0.5, 9.5}, []float64{0.6, 0.4}
	l.Correlation, l.CorrelationSD = []float64{1, 0.6, 0.6, 1}, []float64{0, 0.02, 0.02, 0}
	for sign, want := range map[float64][2]float64{1: {0.5, 1}, -1: {0, 0}} {
		random := public(uint64(2 + sign))
		x := synthesis.NewMixture(l, twin)
		out := twin.Table(6000)
		err := x.Fill(twin, out, func(t simulate.Table) error {
			for i := range t.Values[0] {
				z := random.Normal()
				t.Values[0][i] = min(max(math.Round(0.6+z), 0), 2)
				t.Values[1][i] = min(max(math.Round(3+3*sign*(0.6*z+0.8*random.Normal())), 0), 9)
			}
			return nil
		}, random)
		if err != nil {
			t.Fatal(err)
		}
		if x.Share < want[0] || x.Share > want[1] {
			t.Errorf("sign %g: %g of the records are the mixture's", sign, x.Share)
		}
		var last, zero float64
		for i := range out.Values[0] {
			if out.Values[0][i] == 2 {
				last++
				if out.Values[1][i] == 9 {
					t.Fatal("a record breaks the constraint")
				}
			}
			if out.Values[1][i] == 0 {
				zero++
			}
		}
		// standard deviations .006; the constraint takes .02 of the records, of level z
		if math.Abs(last/6000-0.19) > 0.035 || math.Abs(zero/6000-0.61) > 0.035 {
			t.Errorf("sign %g: shares %.3f and %.3f, want .19 and .61", sign, last/6000, zero/6000)
		}
	}
}
