package table1

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"d3p/internal/models"
	"d3p/internal/privacy/event"
)

// closeTable has three numbers with a common cause, a total of two of them, and one far out in a long tail.
func closeTable(t *testing.T, n int) (m *models.Model, data string) {
	t.Helper()
	m, err := models.Read("close.yaml", []byte(fmt.Sprintf(`d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: %d}
  columns:
    u: {type: real, lower: -10, upper: 20}
    v: {type: real, lower: -100, upper: 200}
    w: {type: real, lower: 0, upper: 500}
    total: {type: real, lower: -200, upper: 400}
    sex: {type: category, levels: [f, m]}
    y: {type: binary}
model:
  formula: y ~ u + v + w + total + sex
  family: bernoulli
`, n)), nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString("u,v,w,total,sex,y\n")
	for range n {
		z := rng.NormFloat64()
		u, v, w := 5+z, 50+10*z+2*rng.NormFloat64(), 20*math.Exp(0.7*rng.NormFloat64())
		fmt.Fprintf(&b, "%.4f,%.4f,%.4f,%.4f,%s,%d\n", u, v, min(w, 500), v+10*u+rng.NormFloat64(), []string{"f", "m"}[rng.IntN(2)], rng.IntN(2))
	}
	path := tableFile(t, b.String())
	return m, path
}

// What the others do not explain of a column is known within half of the noise of a
// correlation, also where it is a twentieth of that noise.
func TestCloserLook(t *testing.T) {
	const seeds = 20
	m, data := closeTable(t, 4000)
	want := map[string]float64{"u": 0.0079, "v": 0.0077, "total": 0.0025, "w": 1}
	square, said := map[string]float64{}, map[string]float64{}
	for seed := range uint64(seeds) {
		p := Auto(m, muOf(1, event.AddRemove), 4000, event.AddRemove)
		if last := p.Releases[len(p.Releases)-1]; last.Kind != Closer {
			t.Fatalf("the last release is %q", last.Kind)
		}
		l, _ := buy(t, m, data, 1, p, seed, event.AddRemove)
		for name, own := range want {
			c := l.Column(name)
			said[name] += c.OwnSD / seeds
			square[name] += math.Pow((c.Own-own)/c.OwnSD, 2) / seeds
		}
		for _, r := range Rows(l, &m.Spec.Data) {
			if r.Statistic == OwnShare && (r.Value != digits(l.Column(r.Column).Own) || r.NoiseSD != digits(l.Column(r.Column).OwnSD)) {
				t.Errorf("row %+v", r)
			}
		}
		read, err := LawOf(Rows(l, &m.Spec.Data), &m.Spec.Data)
		if err != nil {
			t.Fatal(err)
		}
		if c := read.Column("total"); c.Own != digits(l.Column("total").Own) {
			t.Errorf("%g of its own is read as %g", l.Column("total").Own, c.Own)
		}
	}
	// The seeds are fixed: 1.03 to 1.53.
	for name, x := range square {
		t.Logf("%s: ± %.4f, error %.2f in units of that", name, said[name], math.Sqrt(x))
		if math.Sqrt(x) > 2 || said[name] > max(0.02, 0.4*want[name]) {
			t.Errorf("%s: ± %.4f, error %.2f in units of that", name, said[name], math.Sqrt(x))
		}
	}
}

// Correlations of numbers that lie along curves, whose law does not and which clipping and scales bend, are
// right within what is said of them, whether records are few for the noise or many.
func TestCloserLookAtCurves(t *testing.T) {
	const n, seeds = 4000, 8
	m, err := models.Read("curves.yaml", []byte(fmt.Sprintf(`d3p: 1
data:
  unit: {entity: animal, rows_per_unit: 1}
  rows: {public: %d}
  columns:
    long: {type: real, lower: 0, upper: 1}
    wide: {type: real, lower: 0, upper: 1}
    weight: {type: real, lower: 0, upper: 3}
    y: {type: binary}
model:
  formula: y ~ long + wide + weight
  family: bernoulli
`, n)), nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	var text strings.Builder
	text.WriteString("long,wide,weight,y\n")
	columns := make([][]float64, 3)
	for range n {
		long := min(max(0.8-0.15*rng.ExpFloat64()-0.05*rng.NormFloat64(), 0.05), 1)
		wide := min(max(0.8*long+0.015*rng.NormFloat64(), 0.01), 1)
		weight := min(5*long*long*wide*math.Exp(0.12*rng.NormFloat64()), 3)
		for i, x := range []float64{long, wide, weight} {
			columns[i] = append(columns[i], x)
		}
		fmt.Fprintf(&text, "%.5f,%.5f,%.5f,%d\n", long, wide, weight, rng.IntN(2))
	}
	path := tableFile(t, text.String())
	for _, epsilon := range []float64{1, 8} {
		square := 0.0
		for seed := range uint64(seeds) {
			l, _ := buy(t, m, path, epsilon, Auto(m, muOf(epsilon, event.AddRemove), n, event.AddRemove), seed, event.AddRemove)
			for i, x := range columns {
				for j, y := range columns[:i] {
					rho, sd := l.Correlated(i, j)
					square += math.Pow((rho-stat.Correlation(x, y, nil))/sd, 2) / (3 * seeds)
				}
			}
		}
		t.Logf("epsilon %g: error %.2f in units of what is said of it", epsilon, math.Sqrt(square))
		// The seeds are fixed: 1.22 and 1.65. Without what clipping may take from curves it is 7.6 at epsilon 8.
		if math.Sqrt(square) > 1.9 {
			t.Errorf("epsilon %g: error %.2f in units of what is said of it", epsilon, math.Sqrt(square))
		}
	}
}

// Nothing is looked at closer where that would say nothing: one number, few records, a number that
// may be missing, a share of μ² that somebody states for other things.
func TestWhatIsLookedAtCloser(t *testing.T) {
	m, _ := closeTable(t, 4000)
	has := func(records int, epsilon float64) bool {
		return Auto(m, muOf(epsilon, event.AddRemove), records, event.AddRemove).release(Closer) != nil
	}
	if !has(4000, 1) || !has(100000, 0.3) || has(400, 1) {
		t.Error("it depends on the number of records otherwise")
	}
	if got := closerColumns(m); fmt.Sprint(got) != "[total u v w]" {
		t.Errorf("columns %v", got)
	}
	if got := closerColumns(cohort(t)); len(got) > 3 {
		t.Errorf("columns %v", got)
	}
}
