package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/predict"
	"d3p/internal/privacy"
	"d3p/internal/settings"
)

const visits = `d3p: 1
name: visits
data:
  unit: {entity: patient, id: id, rows_per_unit: 3, keep: first}
  rows: {public: 1000}
  columns:
    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    g: {type: category, levels: [a, b, c]}
    y: {type: %s}
model:
  formula: y ~ 1 + x + g
  family: %s
`

// cellsOf are the cells of the rows of a file, by unit: those of the scores, of a number
// those of a check, and of the measures of an iterate with their parts.
func cellsOf(t *testing.T, column, family string, lines []string) [][]int {
	t.Helper()
	m := modelstest.Compile(t, "visits.yaml", fmt.Sprintf(visits, column, family))
	path := modelstest.File(t, "visits.csv", "id,x,g,y\n"+strings.Join(lines, ""))
	rows, _, err := privacy.ReadNewRows(path, m.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	posterior := predict.Posterior{S: 20, Prob: 0.9, Draw: func(theta []float64, s int) {
		rng := rand.New(rand.NewPCG(uint64(s), 1))
		for i := range theta {
			theta[i] = rng.NormFloat64()
		}
	}}
	table, err := New(m, posterior, "", normals{rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		t.Fatal(err)
	}
	placers := []privacy.Placer{table}
	if table.Target.Levels == 0 {
		check, err := table.Exceedance(2)
		if err != nil {
			t.Fatal(err)
		}
		placers = append(placers, check)
	}
	theta := make([]float64, m.P)
	posterior.Draw(theta, 1)
	quantities := settings.TraceQuantities()
	if table.Target.Levels == 0 {
		quantities = []string{settings.TraceLoss}
	}
	measure, err := NewIterate(m, quantities, theta)
	if err != nil {
		t.Fatal(err)
	}
	placers = append(placers, measure)
	units := make([][]int, rows.N)
	for _, p := range placers {
		tables := make([]privacy.Placed, len(p.Cells()))
		for i := range tables {
			tables[i] = privacy.Placed{Cells: make([]int, 3*rows.N), Parts: make([]float64, 3*rows.N)}
		}
		if err := p.Place(tables, privacy.RowRange{Rows: rows, High: rows.N, Most: 3}); err != nil {
			t.Fatal(err)
		}
		for _, table := range tables {
			for i, part := range table.Parts {
				table.Cells[i] += 10 * int(math.Float64bits(part)) // one number of both
			}
			for i := range units {
				unit := table.Cells[3*i : 3*i+3]
				slices.Sort(unit)
				units[i] = append(units[i], unit...)
			}
		}
	}
	return units
}

// The column of a file may have another name than in the model; a censored time has no
// error; a computed response is in no column.
func TestWhatIsScored(t *testing.T) {
	named := strings.Replace(fmt.Sprintf(visits, "real, lower: 0.5, upper: 9", "weibull"), "y: {", `y: {header: "length of stay", `, 1)
	posterior := predict.Posterior{S: 1, Prob: 0.9}
	table, err := New(modelstest.Compile(t, "visits.yaml", named), posterior, "", normals{})
	if err != nil || table.response.Column != "length of stay" || table.Range != 8.5 {
		t.Errorf("a column with a header of its own: %+v, %v", table, err)
	}
	censored := strings.Replace(strings.Replace(named, "formula: y ~", "formula: surv(y, died) ~", 1), "    g: {", "    died: {type: binary}\n    g: {", 1)
	if _, err := New(modelstest.Compile(t, "visits.yaml", censored), posterior, "", normals{}); err == nil || !strings.Contains(err.Error(), "y is known from below alone") {
		t.Errorf("a censored time is scored: %v", err)
	}
	computed := strings.NewReplacer("formula: y ~", "formula: costly ~", "model:\n", "  derive: {costly: y > 4}\nmodel:\n").
		Replace(fmt.Sprintf(visits, "real, lower: 0.5, upper: 9", "bernoulli"))
	if _, err := New(modelstest.Compile(t, "visits.yaml", computed), posterior, "", normals{}); err == nil || !strings.Contains(err.Error(), "costly is computed from other columns") {
		t.Errorf("a computed response is scored: %v", err)
	}
}

// A row's cell depends on that row and the release: not on the rows around it.
func TestACellIsOfItsRowAlone(t *testing.T) {
	families := map[string][]string{
		"binary":                               {"bernoulli"},
		"category, levels: [u, v, w]":          {"categorical"},
		"real, lower: -9, upper: 9":            {"normal", "student_t", "laplace", "skew_normal"},
		"real, lower: 0.5, upper: 9":           {"gamma", "exponential", "weibull", "log_normal", "gompertz", "inverse_gaussian"},
		"integer, lower: 0, upper: 40":         {"poisson", "negative_binomial", "zero_inflated_poisson", "hurdle_poisson"},
		"ordinal, levels: [low, middle, high]": {"cumulative", "sratio", "acat"},
	}
	for column, list := range families {
		for _, family := range list {
			rowsAlone(t, column, family)
		}
	}
}

// rowsAlone compares the cells of each unit alone and among others.
func rowsAlone(t *testing.T, column, family string) {
	t.Helper()
	outcome := map[string]string{"bernoulli": "01", "categorical": "uvw", "cumulative": "", "sratio": "", "acat": ""}[family]
	if outcome == "" && !strings.HasPrefix(column, "ordinal") {
		outcome = "057"
	}
	rng := rand.New(rand.NewPCG(2, 3))
	var groups [][]string
	for i := range 60 {
		var group []string
		for range 1 + rng.IntN(4) {
			y := "middle"
			if outcome != "" {
				y = outcome[rng.IntN(len(outcome)):][:1]
			}
			group = append(group, fmt.Sprintf("p%d,%.3g,%c,%s\n", i, 6*rng.Float64()-3, 'a'+rune(rng.IntN(4)), y))
		}
		groups = append(groups, group)
	}
	all := cellsOf(t, column, family, slices.Concat(groups...))
	placed := 0
	for i, group := range groups {
		alone := cellsOf(t, column, family, group)
		if !slices.Equal(alone[0], all[i]) {
			t.Fatalf("%s: unit %d has cells %d alone, %d among others", family, i, alone[0], all[i])
		}
		for _, cell := range alone[0] {
			if cell >= 0 {
				placed++
			}
		}
	}
	if placed < 60 {
		t.Errorf("%s: %d rows have a cell", family, placed)
	}
}
