package privacy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// visits is a model of patients with up to two visits, of whom the first two
// are kept, or of rows that are units of their own.
func visits(t *testing.T, unit string) *models.Model {
	t.Helper()
	return modelstest.Compile(t, "visits.yaml", `d3p: 1
data:
  unit: `+unit+`
  rows: {upper_bound: 100}
  columns:
    x: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}
    g: {type: category, levels: [a, b, c]}
    y: {type: binary}
model:
  formula: y ~ 1 + x + (1 | g)
  family: bernoulli
`)
}

// patient is the rows of one unit.
type patient []string

// patients draws n units of one to five rows. Their gradients are long.
func patients(n int, rng *rand.Rand) []patient {
	all := make([]patient, n)
	for i := range all {
		y := rng.IntN(2)
		for range 1 + rng.IntN(5) {
			all[i] = append(all[i], fmt.Sprintf("p%d,%.3f,%c,%d\n", i, 4*rng.NormFloat64(), 'a'+rng.IntN(3), y))
		}
	}
	return all
}

// file is the rows of units in random order, those of one unit in their own.
func file(all []patient, rng *rand.Rand) string {
	var order []int
	for i, rows := range all {
		for range rows {
			order = append(order, i)
		}
	}
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	var b strings.Builder
	b.WriteString("id,x,g,y\n")
	next := make([]int, len(all))
	for _, i := range order {
		b.WriteString(all[i][next[i]])
		next[i]++
	}
	return b.String()
}

// spy is an engine that shows the records and the exact sums.
type spy struct {
	privacy.Engine
	privacy.Worker
	rows *privacy.Rows
	sum  []float64
}

func (s *spy) Open(t *graph.Tape, rows *privacy.Rows) (privacy.Worker, error) {
	var err error
	s.rows = rows
	s.Worker, err = s.Engine.Open(t, rows)
	return s, err
}

func (s *spy) ClippedSum(dst []float64, in privacy.StepInput, batch []uint32, all bool, clip privacy.Clip) (float64, error) {
	count, err := s.Worker.ClippedSum(dst, in, batch, all, clip)
	s.sum = slices.Clone(dst)
	return count, err
}

// point is a θ of p scalars.
func point(p int) []float64 {
	theta := make([]float64, p)
	for i := range theta {
		theta[i] = 0.3 * math.Sin(float64(i))
	}
	return theta
}

// exactSum is the sum that a step over all of a table would add noise to.
func exactSum(t *testing.T, m *models.Model, root noise.Root, text string, clipNorm float64) []float64 {
	t.Helper()
	return step(t, m, root, text, clipNorm).sum
}

// step is what the engine of such a step has seen.
func step(t *testing.T, m *models.Model, root noise.Root, text string, clipNorm float64) *spy {
	t.Helper()
	engine := &spy{Engine: cpu.New(cpu.Options{Threads: 1})}
	cfg := config(t, engine)
	cfg.Table = privacy.NewTable(privacy.TableConfig{Data: writeFile(t, "visits.csv", text), Encoding: m.Encoding, Root: root})
	cfg.Root = root
	mechanism := mechanism(t, 1)
	mechanism.Tape = m.Likelihood
	s := begin(t, newCurator(t, cfg), mechanism)
	defer s.Close()
	if _, err := s.Step(make([]float64, m.P), privacy.StepRequest{Params: point(m.P), ClipNorm: clipNorm}); err != nil {
		t.Fatal(err)
	}
	return engine
}

func distance(a, b []float64) float64 {
	d := 0.0
	for i := range a {
		d = math.Hypot(d, a[i]-b[i])
	}
	return d
}

// TestUnitsOnAnEngine compares the clipped sum of an engine with the gradients
// of units from the reference machine, clipped one by one.
func TestUnitsOnAnEngine(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	text := file(append(patients(40, rng), patient{"rejected,,a,1\n"}), rng)
	for _, k := range []int{1, 2, 3, 16} {
		for _, clipNorm := range []float64{0.1, 1, 1e6} {
			m := visits(t, fmt.Sprintf("{entity: patient, id: id, rows_per_unit: %d}", k))
			seen := step(t, m, noise.Insecure(1), text, clipNorm)
			machine := graph.NewMachine(m.Likelihood, 1)
			machine.Globals(point(m.P), nil)
			want, g, record := make([]float64, m.P), make([]float64, m.P), make([]float64, seen.rows.K)
			if seen.rows.N != 41 {
				t.Fatalf("%d units, want 41", seen.rows.N)
			}
			for i := range seen.rows.N {
				if !seen.rows.Valid[i] {
					continue
				}
				seen.rows.Row(i, record)
				machine.Records(record[:m.Likelihood.K0], m.Likelihood.K0, 1, nil)
				machine.Gradient(0, g)
				factor := privacy.Clip{Kind: privacy.Flat, Norm: clipNorm}.Factor(distance(g, make([]float64, m.P)))
				for p := range g {
					want[p] += factor * g[p]
				}
			}
			if d := distance(want, seen.sum); d > 1e-11 {
				t.Errorf("%d rows per unit, C %g: the sum is %g away", k, clipNorm, d)
			}
		}
	}
}

// TestOneUnitMovesTheSumByC leaves out one unit of a table at a time: the sum
// moves by at most C, namely by what that unit adds alone. With rows as units
// it moves further, which is what units are for.
func TestOneUnitMovesTheSumByC(t *testing.T) {
	const clipNorm, n = 0.5, 12
	rng := rand.New(rand.NewPCG(1, 2))
	all := patients(n, rng)
	units, rows := visits(t, "{entity: patient, id: id, rows_per_unit: 2, keep: first}"), visits(t, "{entity: row, rows_per_unit: 1}")
	whole, wholeRows := exactSum(t, units, noise.Insecure(1), file(all, rng), clipNorm), exactSum(t, rows, noise.Insecure(1), file(all, rng), clipNorm)
	furthest, furthestRows := 0.0, 0.0
	for i := range all {
		others := append(slices.Clone(all[:i]), all[i+1:]...)
		without := exactSum(t, units, noise.Insecure(1), file(others, rng), clipNorm)
		furthest = max(furthest, distance(whole, without))
		alone := exactSum(t, units, noise.Insecure(1), file(all[i:i+1], rng), clipNorm)
		for j := range alone {
			alone[j] += without[j]
		}
		if d := distance(whole, alone); d > 1e-12 {
			t.Errorf("unit %d adds to the sum what it does not add alone: %g apart", i, d)
		}
		furthestRows = max(furthestRows, distance(wholeRows, exactSum(t, rows, noise.Insecure(1), file(others, rng), clipNorm)))
	}
	if furthest > clipNorm*(1+1e-12) || furthest < 0.99*clipNorm {
		t.Errorf("a unit moves the sum by up to %g, want C = %g", furthest, clipNorm)
	}
	if furthestRows < 2*clipNorm {
		t.Errorf("with rows as units a patient moves the sum by up to %g, expected more than 2C", furthestRows)
	}
}

// TestOrderOfRowsDoesNotMatter checks that a table whose units need not leave
// out a row gives one sum in every order of its rows.
func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	all := patients(20, rng)
	m := visits(t, "{entity: patient, id: id, rows_per_unit: 5, keep: random}")
	want := exactSum(t, m, noise.Insecure(1), file(all, rng), 1)
	for range 5 {
		for _, rows := range all {
			rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
		if d := distance(want, exactSum(t, m, noise.Insecure(1), file(all, rng), 1)); d > 1e-12 {
			t.Errorf("the sum of a shuffled file is %g away", d)
		}
	}
}

// TestRowSelectionIsSecret checks that curators with roots of their own choose
// other rows, and that one root chooses the same ones.
func TestRowSelectionIsSecret(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	text := file(patients(30, rng), rng)
	m := visits(t, "{entity: patient, id: id, rows_per_unit: 2}")
	sum := func(seed uint64) []float64 { return exactSum(t, m, noise.Insecure(seed), text, 1) }
	if !slices.Equal(sum(1), sum(1)) {
		t.Error("one root chooses twice")
	}
	if slices.Equal(sum(1), sum(2)) {
		t.Error("two roots choose the same rows")
	}
}
