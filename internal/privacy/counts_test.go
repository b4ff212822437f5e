package privacy_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"d3p/internal/models"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// survey is an encoding with every rule that decides about rows: a number that
// rejects what is outside its bounds, one that is imputed, and levels.
func survey(t *testing.T, unit string) encoding.Encoding {
	t.Helper()
	m := modelstest.Compile(t, "survey.yaml", `d3p: 1
data:
  unit: `+unit+`
  rows: {upper_bound: 100}
  out_of_range: reject
  columns:
    x: {type: real, lower: -4, upper: 4}
    k: {type: integer, lower: 0, upper: 9, missing: {impute: 2}}
    g: {type: category, levels: [a, b, c]}
    y: {type: binary}
model:
  formula: y ~ 1 + x + k + g
  family: bernoulli
`)
	return m.Encoding
}

const aRow, threeRows = "{entity: visit, rows_per_unit: 1}", "{entity: patient, id: id, rows_per_unit: 3, keep: first}"

func columnsOf(t *testing.T, e encoding.Encoding, text string) *privacy.Columns {
	t.Helper()
	return privacy.NewColumns(privacy.TableConfig{Data: writeFile(t, "survey.csv", text), Encoding: e, Root: noise.Insecure(1)})
}

// surveyPartitions has every kind of axis, alone and together.
func surveyPartitions() []privacy.Partition {
	x, k, g := privacy.Axis{Column: "x", Cuts: []float64{-4, 0, 4}}, privacy.Axis{Column: "k", Cuts: []float64{1}}, privacy.Axis{Column: "g"}
	return []privacy.Partition{
		{Usable: true, Noise: 1},
		{Axes: []privacy.Axis{x}, Noise: 1}, {Axes: []privacy.Axis{g}, Noise: 2},
		{Axes: []privacy.Axis{x, g}, Noise: 1}, {Axes: []privacy.Axis{k, x}, Usable: true, Noise: 3},
		{Axes: []privacy.Axis{{Column: "y"}}, Noise: 1},
	}
}

// cell is what a hostile unit may write into a column.
var hostileCells = []string{"0", "1", "-4", "4", "4.0000001", "a", "b", "c", "d", "", "NA", "NaN", "inf", "-inf", "1e400", "1e308", "-1e-320", "0x1p3", "\x00", "\"a\"", "x,y", "2.5", "1"}

// hostileRows is one unit's rows.
func hostileRows(rng *rand.Rand, id string, rows int) string {
	var b strings.Builder
	sound := rng.IntN(2) == 0
	for range rows {
		if sound {
			fmt.Fprintf(&b, "%s,%d,%d,%c,%d\n", id, rng.IntN(9)-4, rng.IntN(9), 'a'+rng.IntN(3), rng.IntN(2))
			continue
		}
		b.WriteString(id)
		for range 4 {
			b.WriteString("," + hostileCells[rng.IntN(len(hostileCells))])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// placed puts a unit's rows behind or before those of others.
func placed(trial int, others, unit string) string {
	if trial%2 == 0 {
		return others + unit
	}
	return unit + others
}

// A unit, whatever its rows hold and however many there are, moves every partition by
// numbers of one sign that add up to at most 1, and no other unit's weights. So it
// moves all of them by what CountsEvent says, and a substituted one by √2 of it.
func TestOneUnitMovesCountsByOne(t *testing.T) {
	partitions := surveyPartitions()
	for name, unit := range map[string]string{"rows": aRow, "units": threeRows} {
		rng := rand.New(rand.NewPCG(5, uint64(len(name))))
		e := survey(t, unit)
		most, far := 0.0, 0.0
		for trial := range 100 {
			header := "id,x,k,g,y\n"
			var others strings.Builder
			for i := range rng.IntN(4) {
				others.WriteString(hostileRows(rng, fmt.Sprintf("u%d", i), 1+rng.IntN(4)))
			}
			rows := 1
			if name == "units" {
				rows = 1 + rng.IntN(6)
			}
			tables := [3][][]float64{}
			for i, text := range []string{"", hostileRows(rng, "me", rows), hostileRows(rng, "me", rows)} {
				sums, err := privacy.CountExactly(columnsOf(t, e, header+placed(trial, others.String(), text)), partitions)
				if err != nil {
					t.Fatalf("%s, trial %d: %v", name, trial, err)
				}
				tables[i] = sums
			}
			joint, substituted := 0.0, 0.0
			for p := range partitions {
				total := 0.0
				for i := range tables[0][p] {
					d := tables[1][p][i] - tables[0][p][i]
					if d < 0 {
						t.Fatalf("%s, trial %d: a unit takes %g from a count", name, trial, -d)
					}
					if math.Trunc(d*(1<<20)) != d*(1<<20) {
						t.Fatalf("%s: a weight of %g is no multiple of 2^-20", name, d)
					}
					total += d
					joint += d * d / (partitions[p].Noise * partitions[p].Noise)
					s := tables[2][p][i] - tables[1][p][i]
					substituted += s * s / (partitions[p].Noise * partitions[p].Noise)
				}
				if total > 1 {
					t.Fatalf("%s, trial %d: a unit adds %g to partition %d", name, trial, total, p)
				}
			}
			most, far = max(most, math.Sqrt(joint)), max(far, math.Sqrt(substituted))
		}
		mu := 1 / privacy.CountsEvent(partitions, event.AddRemove).(event.Gaussian).NoiseMultiplier
		if most > mu || most < 0.99*mu {
			t.Errorf("%s: a unit moves counts by %g of their noise, charged is %g", name, most, mu)
		}
		// the accountant takes a shift of 2 under substitution
		mu = 2 / privacy.CountsEvent(partitions, event.Substitute).(event.Gaussian).NoiseMultiplier
		if far > mu || far < 0.8*mu {
			t.Errorf("%s: substitution moves counts by %g of their noise, charged is %g", name, far, mu)
		}
		if zero := 1 / privacy.CountsEvent(partitions, event.ZeroOut).(event.Gaussian).NoiseMultiplier; zero < mu*(1-1e-12) {
			t.Errorf("under zero_out %g is charged, a record may become one in a cell of its own: %g", zero, mu)
		}
	}
}

// Rows without the numbers of levels have the same counts, and those of levels alone take no
// memory but their codes'.
func TestCountedRowsHaveTheSameCounts(t *testing.T) {
	for name, unit := range map[string]string{"rows": aRow, "units": threeRows} {
		rng := rand.New(rand.NewPCG(6, uint64(len(name))))
		text := "id,x,k,g,y\n"
		for i := range 300 {
			text += hostileRows(rng, fmt.Sprintf("u%d", i), 1+rng.IntN(4))
		}
		full := survey(t, unit)
		for _, c := range []struct {
			fields     []encoding.Field
			k          int
			partitions []privacy.Partition
		}{
			{full.Fields, 2, surveyPartitions()},
			{slices.DeleteFunc(slices.Clone(full.Fields), func(f encoding.Field) bool { return f.Levels == nil }), 0, []privacy.Partition{{Axes: []privacy.Axis{{Column: "g"}, {Column: "y"}}, Usable: true, Noise: 1}}},
		} {
			e := full
			e.Fields = c.fields
			want, err := privacy.CountExactly(columnsOf(t, e, text), c.partitions)
			if err != nil {
				t.Fatal(err)
			}
			counted := e.Counted()
			got, err := privacy.CountExactly(columnsOf(t, counted, text), c.partitions)
			if err != nil || counted.K != c.k {
				t.Fatal(name, counted.K, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: counted %v, want %v", name, got, want)
			}
		}
	}
}

// The counts are what a person would count.
func TestCountsAreThoseOfTheFile(t *testing.T) {
	text := "id,x,k,g,y\n" +
		"p,-5,0,a,1\n" + // below the bounds: not usable, counted at -4
		"p,-4,1,b,0\n" +
		"q,0,,c,1\n" + // imputed: usable
		"q,3,2,d,1\n" + // undeclared level: not usable
		"q,,2,a,\n" + // not usable
		"q,1,1,a,1\n" + // the fourth row of a unit of three, of which it is the second usable one
		",1,1,a,1\n" // nobody's
	x := privacy.Axis{Column: "x", Cuts: []float64{-4, 0, 4}}
	g := privacy.Axis{Column: "g"}
	for name, c := range map[string]struct {
		unit string
		p    privacy.Partition
		want []float64
	}{
		"usable rows":  {aRow, privacy.Partition{Usable: true}, []float64{4}},
		"usable units": {threeRows, privacy.Partition{Usable: true}, []float64{2}},
		"a number":     {aRow, privacy.Partition{Axes: []privacy.Axis{x}}, []float64{0, 2, 4, 0, 1}},
		"levels":       {aRow, privacy.Partition{Axes: []privacy.Axis{g}}, []float64{4, 1, 1, 1, 0}},
		"of units":     {threeRows, privacy.Partition{Axes: []privacy.Axis{g}}, []float64{0.5 + third, 0.5, third, third, 0}},
		"usable":       {threeRows, privacy.Partition{Axes: []privacy.Axis{g}, Usable: true}, []float64{0.5, 1, 0.5, 0, 0}},
		"both": {aRow, privacy.Partition{Axes: []privacy.Axis{{Column: "k", Cuts: []float64{1}}, g}}, []float64{
			1, 0, 0, 0, 0, // k < 1
			3, 1, 0, 1, 0,
			0, 0, 1, 0, 0}},
		"outcome": {aRow, privacy.Partition{Axes: []privacy.Axis{{Column: "y"}}}, []float64{1, 5, 0, 1}},
	} {
		c.p.Noise = 1
		got, err := privacy.CountExactly(columnsOf(t, survey(t, c.unit), text), []privacy.Partition{c.p})
		if err != nil {
			t.Fatal(name, err)
		}
		if !slices.Equal(got[0], c.want) {
			t.Errorf("%s: %v, want %v", name, got[0], c.want)
		}
	}
}

// The counts of a long table are the sums of those of its pieces.
func TestCountsOfPiecesAddUp(t *testing.T) {
	const pieces, units = 9, 300
	rng := rand.New(rand.NewPCG(7, 8))
	for _, unit := range []string{aRow, threeRows} {
		e := survey(t, unit)
		count := func(text string) [][]float64 {
			sums, err := privacy.CountExactly(columnsOf(t, e, "id,x,k,g,y\n"+text), surveyPartitions())
			if err != nil {
				t.Fatal(err)
			}
			return sums
		}
		var whole strings.Builder
		var want [][]float64
		for p := range pieces {
			var piece strings.Builder
			for i := range units {
				piece.WriteString(hostileRows(rng, fmt.Sprintf("u%d-%d", p, i), 1+rng.IntN(3)))
			}
			whole.WriteString(piece.String())
			for i, sum := range count(piece.String()) {
				if p == 0 {
					want = append(want, make([]float64, len(sum)))
				}
				floats.Add(want[i], sum)
			}
		}
		if got := count(whole.String()); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", unit, got, want)
		}
	}
}

// Counts of all pairs of 40 columns.
func BenchmarkCounts(b *testing.B) {
	const columns, n = 40, 30000
	yaml, text, formula := "", "", "y ~ 1"
	var partitions []privacy.Partition
	for c := range columns {
		yaml += fmt.Sprintf("    c%d: {type: category, levels: [a, b, c, d, e, f, g, h]}\n", c)
		text += fmt.Sprintf("c%d,", c)
		formula += fmt.Sprintf(" + c%d", c)
		for other := range c {
			partitions = append(partitions, privacy.Partition{Axes: []privacy.Axis{{Column: fmt.Sprintf("c%d", c)}, {Column: fmt.Sprintf("c%d", other)}}, Noise: 1})
		}
	}
	m, err := models.Read("wide.yaml", []byte("d3p: 1\ndata:\n  unit: "+aRow+"\n  rows: {public: 30000}\n  columns:\n"+yaml+"    y: {type: binary}\nmodel:\n  formula: "+formula+"\n  family: bernoulli\n"), nil)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 10))
	var rows strings.Builder
	rows.WriteString(text + "y\n")
	for range n {
		for range columns {
			rows.WriteString(string(rune('a'+rng.IntN(8))) + ",")
		}
		rows.WriteString("1\n")
	}
	file := filepath.Join(b.TempDir(), "wide.csv")
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	c := privacy.NewColumns(privacy.TableConfig{Data: file, Encoding: m.Encoding, Root: noise.Insecure(1)})
	for b.Loop() {
		if _, err := privacy.CountExactly(c, partitions); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n/float64(len(partitions)), "ns/record/pair")
}

// third is the weight of one of three rows.
const third = (1 << 20) / 3 / float64(1<<20)

func surveyor(t *testing.T, text string, root noise.Root, rel event.Relation) *privacy.Curator {
	t.Helper()
	cfg := config(t, &fakeEngine{sum: []float64{0, 0}})
	cfg.Columns, cfg.Table, cfg.Root, cfg.Relation = columnsOf(t, survey(t, aRow), text), nil, root, rel
	return newCurator(t, cfg)
}

// Each partition gets independent normal noise of its own deviation, and no two calls
// the same.
func TestCountsNoise(t *testing.T) {
	const n = 4000
	cuts := make([]float64, n)
	for i := range cuts {
		cuts[i] = float64(i)
	}
	c := surveyor(t, "id,x,k,g,y\n1,0.5,1,a,1\n", noise.Insecure(3), event.AddRemove)
	p := privacy.Partition{Axes: []privacy.Axis{{Column: "x", Cuts: cuts}}}
	wide, narrow := p, p
	wide.Noise, narrow.Noise = 900, 30
	first, err := c.Counts("table 1", []privacy.Partition{wide, narrow})
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Counts("table 1", []privacy.Partition{wide, narrow})
	if err != nil {
		t.Fatal(err)
	}
	for i, sigma := range []float64{900, 30} {
		z, both := make([]float64, n), 0.0
		for j := range z {
			z[j] = first[i][j] / sigma // the one record is lost in it
			both += z[j] * second[i][j] / sigma
			if m := math.Abs(math.Mod(first[i][j], noise.LatticeSpacing(sigma))); m != 0 {
				t.Fatalf("count %g is not on the lattice", first[i][j])
			}
		}
		stattest.Require(t, "normal", stattest.KolmogorovSmirnov(z, func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }))
		if math.Abs(both) > 6.5*math.Sqrt(n) { // P < 1e-10
			t.Errorf("two calls share noise: correlation %g", both/n)
		}
	}
	z := 0.0
	for j := range first[0] {
		z += first[0][j] / 900 * first[1][j] / 30
	}
	if math.Abs(z) > 6.5*math.Sqrt(n) {
		t.Errorf("two partitions share noise: correlation %g", z/n)
	}
}

// A call is one entry of the ledger. Its price composes with what was spent before and with
// the fit that follows.
func TestCountsAreCharged(t *testing.T) {
	c := surveyor(t, "id,x,k,g,y\n1,0.5,1,a,1\n", noise.Insecure(3), event.AddRemove)
	partitions := []privacy.Partition{{Usable: true, Noise: 40}, {Axes: []privacy.Axis{{Column: "g"}}, Noise: 30}}
	if _, err := c.Counts("table 1", partitions); err != nil {
		t.Fatal(err)
	}
	entries := c.Ledger().Entries
	if len(entries) != 1 || entries[0].Purpose != "table 1" || entries[0].Steps != 1 || entries[0].Authorised != 1 {
		t.Fatalf("entries %+v", entries)
	}
	sigma := entries[0].Event.(event.Gaussian).NoiseMultiplier
	if want := 24.; sigma > want || sigma < want*(1-1e-9) { // 1/√(1/40² + 1/30²)
		t.Errorf("noise multiplier %g, want %g", sigma, want)
	}
	var over *privacy.BudgetError
	if _, err := c.Counts("more", []privacy.Partition{{Usable: true, Noise: 1}}); !errors.As(err, &over) {
		t.Errorf("epsilon 5 of 1: error %v", err)
	}
	if len(c.Ledger().Entries) != 1 {
		t.Error("what was refused is in the ledger")
	}

	// a fit that fits alone does not fit beside the counts
	m := mechanism(t, 10)
	m.GradientNoise, m.CountNoise = 12, 0
	alone, err := accountant.Epsilon(m.Event(10), event.AddRemove, 1e-5)
	if err != nil || alone.Upper > 1.2 {
		t.Fatalf("the fit alone costs %v (%v)", alone, err)
	}
	cfg := config(t, &fakeEngine{sum: []float64{0, 0}})
	cfg.Budget.Epsilon = alone.Upper
	cfg.Columns, cfg.Table = columnsOf(t, survey(t, aRow), "id,x,k,g,y\n"), nil
	c = newCurator(t, cfg)
	if err := c.Authorise(privacy.CountsEvent(partitions, event.AddRemove), m.Event(10)); !errors.As(err, &over) {
		t.Errorf("counts and a fit over budget are authorised: %v", err)
	}
	if err := c.Authorise(m.Event(10)); err != nil {
		t.Error(err)
	}
	if _, err := c.Counts("table 1", partitions); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Begin(m); !errors.As(err, &over) {
		t.Errorf("a fit over budget beside the counts begins: %v", err)
	}
	m.GradientNoise = 20
	if _, err := c.Begin(m); err == nil || !strings.Contains(err.Error(), "no table") {
		t.Errorf("a session without a table: %v", err)
	}
	if err := c.Encode(tableAt(writeFile(t, "data.csv", table))); err != nil {
		t.Fatal(err)
	}
	s := begin(t, c, m)
	if _, err := s.Step(make([]float64, 2), privacy.StepRequest{Params: make([]float64, 2), ClipNorm: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Counts("table 1", partitions); err == nil {
		t.Error("counts during a session")
	}
	s.Close()
	entries = c.Ledger().Entries
	if len(entries) != 2 || entries[1].Steps != 1 {
		t.Errorf("entries %+v", entries)
	}
	together, err := accountant.Epsilon(event.Composed{Events: []event.Event{entries[0].Event, m.Event(1)}}, event.AddRemove, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := accountant.Epsilon(c.Ledger().Event(), event.AddRemove, 1e-5); err != nil || got.Upper != together.Upper {
		t.Errorf("the ledger costs %v, want %v", got, together)
	}

}

// An invalid partition is refused before anything is charged or read.
func TestPartitionsAreRefused(t *testing.T) {
	c := surveyor(t, "id,x,k,g,y\n1,0.5,1,a,1\n", noise.Insecure(3), event.AddRemove)
	of := func(a ...privacy.Axis) []privacy.Partition { return []privacy.Partition{{Axes: a, Noise: 50}} }
	many := make([]float64, 5000)
	for i := range many {
		many[i] = float64(i)
	}
	for name, p := range map[string][]privacy.Partition{
		"none":          {},
		"no noise":      {{Usable: true}},
		"little noise":  {{Usable: true, Noise: 1. / 65}},
		"NaN noise":     {{Usable: true, Noise: math.NaN()}},
		"endless noise": {{Usable: true, Noise: math.Inf(1)}},
		"no column":     of(privacy.Axis{Column: "id"}),
		"cut levels":    of(privacy.Axis{Column: "g", Cuts: []float64{1}}),
		"descending":    of(privacy.Axis{Column: "x", Cuts: []float64{1, 0}}),
		"equal cuts":    of(privacy.Axis{Column: "x", Cuts: []float64{1, 1}}),
		"NaN cut":       of(privacy.Axis{Column: "x", Cuts: []float64{math.NaN()}}),
		"NaN cuts":      of(privacy.Axis{Column: "x", Cuts: []float64{0, math.NaN()}}),
		"many cells":    of(privacy.Axis{Column: "x", Cuts: many}, privacy.Axis{Column: "k", Cuts: many}),
	} {
		if _, err := c.Counts("table 1", p); err == nil || errors.As(err, new(*privacy.BudgetError)) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if len(c.Ledger().Entries) > 0 {
		t.Error("what was refused is in the ledger")
	}
	if _, err := newCurator(t, config(t, &fakeEngine{})).Counts("table 1", of(privacy.Axis{Column: "x"})); err == nil {
		t.Error("counts of no columns")
	}
}

// No table causes an error, not even an empty one or one of malformed lines, and all cost
// the same.
func TestCountsOfBadTables(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "short": "1,2\n", "long": "1,2,3,4,5,6\n", "quotes": "\"1,2\n", "noise": "\xff\x00\xfe,,,,\n", "nobody": ",,,,\n",
	} {
		for _, unit := range []string{aRow, threeRows} {
			cfg := config(t, &fakeEngine{})
			cfg.Columns, cfg.Table = columnsOf(t, survey(t, unit), "id,x,k,g,y\n"+text), nil
			c := newCurator(t, cfg)
			partitions := surveyPartitions()
			for i := range partitions {
				partitions[i].Noise = 100
			}
			counts, err := c.Counts("table 1", partitions)
			if err != nil || len(counts) != len(partitions) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// byFirst puts rows in the cell of x, by the part that k says; both are encoded by their
// bounds, a distance of the square root of 12.
type byFirst struct{}

func (byFirst) Cells() []int { return []int{3} }

// hostileParts are parts of a weight, also those that do not exist.
var hostileParts = []float64{0, 0.3, 1, 7, -2, math.NaN(), math.Inf(1), math.Inf(-1)}

func (byFirst) Place(tables []privacy.Placed, block privacy.RowRange) error {
	record := make([]float64, block.K)
	most, cells, parts := block.Most, tables[0].Cells, tables[0].Parts
	width := block.K / most
	for i := range block.High - block.Low {
		block.Row(block.Low+i, record)
		for r := range most {
			row := record[r*width : (r+1)*width]
			cells[i*most+r] = -1
			if block.Valid[block.Low+i] && (most == 1 || row[width-1] == 1) {
				cells[i*most+r] = int(math.Round(8 / math.Sqrt(12) * row[0])) // also places that do not exist
				parts[i*most+r] = hostileParts[int(math.Round(9/math.Sqrt(12)*row[1]+4.5))%len(hostileParts)]
			}
		}
	}
	return nil
}

// One unit moves each table of placed counts by at most 1 in L1, however many rows it has
// and wherever they are placed. All tables are one event.
func TestPlacedCountsOfAUnit(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, unit := range []string{aRow, threeRows} {
		e := survey(t, unit)
		release := func(text string) []float64 {
			c, err := privacy.NewCurator(privacy.CuratorConfig{
				Table: privacy.NewTable(privacy.TableConfig{Data: writeFile(t, "survey.csv", text), Encoding: e, Root: noise.Insecure(1)}),
				Root:  noise.Insecure(1), Budget: privacy.Budget{Epsilon: 100, Delta: 1e-5}, Relation: event.AddRemove,
			})
			if err != nil {
				t.Fatal(err)
			}
			counts, err := c.CountPlaced("score", 0.5, byFirst{}, byFirst{})
			if err != nil {
				t.Fatal(err)
			}
			entries := c.Ledger().Entries
			if got := entries[0].Event; len(entries) != 1 || !reflect.DeepEqual(got, privacy.CountsEvent([]privacy.Partition{{Noise: 0.5}, {Noise: 0.5}}, event.AddRemove)) {
				t.Fatalf("the ledger has %v", entries)
			}
			if len(counts) != 2 || len(counts[1]) != 3 || slices.Equal(counts[0], counts[1]) {
				t.Fatalf("two tables of the same cells: %v", counts) // whose noise differs
			}
			return slices.Concat(counts...)
		}
		for range 20 {
			text := "id,x,k,g,y\n"
			for i := range 30 {
				text += fmt.Sprintf("p%d,%d,%d,a,1\n", i%9, rng.IntN(9)-4, rng.IntN(10))
			}
			own := ""
			for range 1 + rng.IntN(4) {
				own += fmt.Sprintf("other,%d,%d,b,0\n", rng.IntN(9)-4, rng.IntN(10))
			}
			if unit == aRow {
				own = own[:strings.IndexByte(own, '\n')+1]
			}
			with, without := release(text+own), release(text)
			moved := 0.0
			for i := range with {
				by := with[i] - without[i]
				if moved += math.Abs(by); by < -1e-9 {
					t.Errorf("one unit of %s took %g from a count", unit, -by)
				}
			}
			if moved > 2+1e-9 {
				t.Errorf("one unit of %s moved two tables of counts by %g", unit, moved)
			}
		}
	}
}

// A table of counts has every record once, however many there are.
func TestPlacedCountsOfManyRecords(t *testing.T) {
	const n = 10_001
	rows := &privacy.Rows{N: n, K: 2, Stride: 2, F64: make([]float64, 2*n), Valid: make([]bool, n)}
	want := make([]float64, 3)
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range n {
		cell := rng.IntN(3)
		rows.F64[2*i] = math.Sqrt(12) / 8 * float64(cell)
		if rows.Valid[i] = rng.IntN(4) > 0; rows.Valid[i] {
			want[cell]++
		}
		rows.F64[2*i+1] = -math.Sqrt(12) / 2 // no part of a weight
	}
	counts, err := privacy.CountPublic(rows, 1, byFirst{}, byFirst{})
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range counts {
		if !slices.Equal(got, want) {
			t.Errorf("counts %v, want %v", got, want)
		}
	}
}
