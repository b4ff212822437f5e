package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/privacy/noise"
)

// twinTask measures synthetic tables by the program: distances from the records on public
// cells, and what a regression that is fitted to the twin predicts of other records.
type twinTask struct{}

const twinDelta = "1e-5"

func (twinTask) judge(opt options, _ []threshold, dir string, out *report) error {
	epsilons, err := numbers(opt.epsilons, "0.3,1,4")
	if err != nil {
		return err
	}
	for _, s := range twinSources {
		if !asked(opt.models, s.name) {
			continue
		}
		folder := filepath.Join(dir, s.name)
		t, err := s.read(opt, folder)
		if err != nil {
			return err
		}
		line, err := s.measured(t, resampled(t.train))
		if err != nil {
			return err
		}
		out.note(s.name+", records drawn with replacement", "-", line)
		line, err = s.measured(t, shuffled(t.train))
		if err != nil {
			return err
		}
		out.note(s.name+", independent columns, no privacy", "-", line)
		if err := s.peers(opt, t, out); err != nil {
			return err
		}
		for _, e := range epsilons {
			for run := range max(opt.runs, 1) {
				started := time.Now()
				twin, err := s.twin(opt, t, folder, fmt.Sprintf("%g", e), run)
				if err != nil {
					return err
				}
				if line, err = s.measured(t, twin); err != nil {
					return err
				}
				out.note(s.name+", marginals", fmt.Sprintf("%g", e), fmt.Sprintf("%s  %.0f s", line, time.Since(started).Seconds()))
			}
		}
	}
	return nil
}

// twin fits and draws with the program.
func (s twinSource) twin(opt options, t *publicTable, folder, epsilon string, run int) (discretised, error) {
	model, fit := filepath.Join(folder, "model.yaml"), filepath.Join(folder, fmt.Sprintf("run-%s-%d", epsilon, run))
	if err := os.WriteFile(model, t.model, 0o644); err != nil {
		return discretised{}, err
	}
	table := fit + ".csv"
	if err := command(opt.d3p, "fit", "--epsilon", epsilon, "--delta", twinDelta, "--model", model, t.path, "--out", fit, "--quiet"); err != nil {
		return discretised{}, err
	}
	if err := command(opt.d3p, "twin", fit, "--out", table, "--quiet"); err != nil {
		return discretised{}, err
	}
	header, rows, err := readCells(table)
	if err != nil {
		return discretised{}, err
	}
	return discretise(t.columns, header, rows)
}

// mostTriples bounds the sets of three columns that are compared.
const mostTriples = 1000

// measured states how far a table is from the records.
func (s twinSource) measured(t *publicTable, d discretised) (string, error) {
	k := slices.IndexFunc(t.columns, func(c *data.Column) bool { return c.Name.V == s.target })
	if k < 0 {
		return "", fmt.Errorf("%s has no column %s", s.name, s.target)
	}
	var b strings.Builder
	one, _ := distances(t.train, d, 1)
	two, most := distances(t.train, d, 2)
	fmt.Fprintf(&b, "1-way %.4f  2-way %.4f  largest %.3f", one, two, most)
	if n := len(d.sizes); n*(n-1)*(n-2)/6 <= mostTriples {
		three, _ := distances(t.train, d, 3)
		fmt.Fprintf(&b, "  3-way %.4f", three)
	}
	fmt.Fprintf(&b, "  AUC %.3f", transferred(d, t.test, s.target, t.columns[k].Level(s.one)))
	if s.never[0] != "" {
		fmt.Fprintf(&b, "  %s in %s %.4f", s.never[1], s.within[1], share(t.columns, d, s.never, s.within))
	}
	return b.String(), nil
}

// share is the share of the rows at a level that are at another column's level too.
func share(columns []*data.Column, d discretised, of, within [2]string) float64 {
	find := func(x [2]string) (int, int32) {
		k := slices.IndexFunc(columns, func(c *data.Column) bool { return c.Name.V == x[0] })
		return k, int32(columns[k].Level(x[1]))
	}
	a, levelA := find(of)
	b, levelB := find(within)
	both, all := 0.0, 1e-9
	for i := range d.cells[b] {
		if d.cells[b][i] == levelB {
			all++
			both += indicator(d.cells[a][i] == levelA)
		}
	}
	return both / all
}

// resampled are as many records, drawn with replacement.
func resampled(d discretised) discretised {
	random := noise.NewRandom(noise.Public(1).Stream(noise.Twin))
	n := len(d.cells[0])
	out := discretised{d.names, d.sizes, make([][]int32, len(d.cells))}
	for range n {
		i := int(random.Uniform() * float64(n))
		for k := range d.cells {
			out.cells[k] = append(out.cells[k], d.cells[k][i])
		}
	}
	return out
}

// shuffled has the records' columns, each in an order of its own.
func shuffled(d discretised) discretised {
	random := noise.NewRandom(noise.Public(2).Stream(noise.Twin))
	out := discretised{d.names, d.sizes, nil}
	for _, cells := range d.cells {
		cells = slices.Clone(cells)
		for i := len(cells) - 1; i > 0; i-- {
			j := int(random.Uniform() * float64(i+1))
			cells[i], cells[j] = cells[j], cells[i]
		}
		out.cells = append(out.cells, cells)
	}
	return out
}

// twinSource is a table that twins are made of.
type twinSource struct {
	name   string
	folder string   // of the shared data; "": simulated
	id     string   // column of the ids, one for each row
	rules  []string // constraints of the model file
	target string   // column that a logistic regression predicts
	one    string   // its level
	never  [2]string
	within [2]string // never: rows with column never[0] at never[1] that have within[0] at within[1]
}

var twinSources = []twinSource{
	{name: "adult", folder: "adult", rules: []string{"relationship != 'Husband' or sex == 'Male'"}, target: "income", one: ">50K",
		never: [2]string{"sex", "Female"}, within: [2]string{"relationship", "Husband"}},
	{name: "nhanes", folder: "nhanes", id: "ID", target: "Diabetes", one: "Yes",
		never: [2]string{"SmokeNow", "Yes"}, within: [2]string{"Smoke100", "No"}},
	{name: "households", target: "ill", one: "yes", never: [2]string{"smoker", "yes"}, within: [2]string{"band", "child"}},
}

// publicTable is a source as files and as public cells.
type publicTable struct {
	model       []byte
	path        string // of the training table
	columns     []*data.Column
	header      []string
	train, test discretised
}

// read writes the model file and the training table of the source into folder.
func (s twinSource) read(opt options, folder string) (*publicTable, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	t := &publicTable{}
	var rows, test [][]string
	var err error
	if s.folder == "" {
		t.header, rows = households(20000, 1)
		_, test = households(10000, 2)
		t.model = []byte(fmt.Sprintf(householdsModel, len(rows)))
		t.path = filepath.Join(folder, "train.csv")
		if err := writeCells(t.path, t.header, rows); err != nil {
			return nil, err
		}
	} else {
		dir := filepath.Join(opt.shared, "data", s.folder)
		t.path = filepath.Join(dir, "train.csv")
		if t.header, rows, err = readCells(t.path); err != nil {
			return nil, err
		}
		if _, test, err = readCells(filepath.Join(dir, "test.csv")); err != nil {
			return nil, err
		}
		text, err := output(opt.d3p, "init", "--from", filepath.Join(dir, "columns.csv"), "--entity", "person", "--records", fmt.Sprint(len(rows)), "--twin")
		if err != nil {
			return nil, err
		}
		t.model = s.complete(text)
	}
	m, err := models.Read(s.name, t.model, nil)
	if err != nil {
		return nil, err
	}
	t.columns = m.Spec.Data.Columns
	if t.train, err = discretise(t.columns, t.header, rows); err != nil {
		return nil, err
	}
	t.test, err = discretise(t.columns, t.header, test)
	return t, err
}

// complete says that a person has one row, and adds the rules, in a model file of
// `d3p init --twin`.
func (s twinSource) complete(text []byte) []byte {
	var b bytes.Buffer
	for _, line := range strings.SplitAfter(string(text), "\n") {
		if s.id != "" {
			line = strings.Replace(line, "id: "+s.id+", rows_per_unit: FILL_IN", "rows_per_unit: 1", 1)
		}
		b.WriteString(line)
		if strings.HasPrefix(line, "  engine: marginals") && len(s.rules) > 0 {
			fmt.Fprintf(&b, "  constraints:\n")
			for _, rule := range s.rules {
				fmt.Fprintf(&b, "    - %q\n", rule)
			}
		}
	}
	return b.Bytes()
}

func writeCells(path string, header []string, rows [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	w.Write(header)
	w.WriteAll(rows)
	if err := w.Error(); err != nil {
		return err
	}
	return f.Close()
}

const householdsModel = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: %d}
  columns:
    age: {type: integer, lower: 0, upper: 105}
    band: {type: category, levels: [child, working, retired]}
    sex: {type: binary, levels: [female, male]}
    region: {type: category, levels: [r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11]}
    school: {type: ordinal, levels: [none, primary, secondary, college, degree]}
    hours: {type: integer, lower: 0, upper: 80}
    income: {type: real, lower: 0, upper: 500000}
    rooms: {type: integer, lower: 1, upper: 12}
    weight: {type: real, lower: 2, upper: 250}
    pressure: {type: real, lower: 50, upper: 260}
    smoker: {type: binary, levels: ["no", "yes"]}
    visits: {type: integer, lower: 0, upper: 60}
    ill: {type: binary, levels: ["no", "yes"]}
  missing: {default: model}
twin:
  engine: marginals
  constraints: ["band != 'child' or smoker == 'no'"]
privacy: {epsilon: 1}
`

// households simulates people: spikes at zero hours and income, steps at 20 and 40 hours,
// skewed incomes and counts, missing values that follow age, and a rule.
func households(n int, seed uint64) (header []string, rows [][]string) {
	header = []string{"age", "band", "sex", "region", "school", "hours", "income", "rooms", "weight", "pressure", "smoker", "visits", "ill"}
	random := noise.NewRandom(noise.Public(seed).Stream(noise.Twin))
	chance := func(p float64) bool { return random.Uniform() < p }
	pick := func(yes bool, a, b string) string {
		if yes {
			return a
		}
		return b
	}
	for range n {
		age := math.Floor(100 * math.Pow(random.Uniform(), 1.2) * (0.8 + 0.2*random.Uniform()))
		band := "working"
		if age < 16 {
			band = "child"
		} else if age >= 66 {
			band = "retired"
		}
		male := chance(0.49)
		region := int(12 * math.Pow(random.Uniform(), 2))
		ability := random.Normal() + 0.1*float64(6-region)/6
		school := int(min(4, max(0, math.Floor(2+ability+min(0, (age-20)/6)))))
		hours := 0.0
		if band == "working" && chance(0.78) || band == "retired" && chance(0.08) {
			hours = 40
			if chance(0.5) {
				hours = math.Round(min(80, max(5, 36+9*random.Normal())))
			} else if !male && chance(0.4) {
				hours = 20
			}
		}
		income := 0.0
		if hours > 0 || band == "retired" && chance(0.9) {
			income = math.Round(min(500000, math.Exp(9.3+0.3*float64(school)+0.012*hours+0.2*indicator(male)+0.4*random.Normal())))
		}
		rooms := math.Round(min(12, max(1, 3+math.Log1p(income)/8+1.3*random.Normal())))
		weight := 3 + 72*(1-math.Exp(-age/11)) + 9*indicator(male)*indicator(age > 14) + (4+0.12*min(age, 60))*random.Normal()
		pressure := 95 + 0.45*age + 0.25*(weight-60) + 11*random.Normal()
		smoker := age >= 16 && chance(1/(1+math.Exp(0.6+0.5*float64(school)-0.3*indicator(male)+0.02*(age-40))))
		risk := 1 / (1 + math.Exp(5.2-0.05*age-0.02*(pressure-120)-0.7*indicator(smoker)-0.25*float64(region%3)))
		ill := chance(risk)
		visits := math.Floor(-math.Log(random.Uniform()) * (1 + 3*indicator(ill) + age/60))
		row := []string{plainNumber(age), band, pick(male, "male", "female"), fmt.Sprintf("r%d", region),
			[]string{"none", "primary", "secondary", "college", "degree"}[school], plainNumber(hours), plainNumber(income), plainNumber(rooms),
			plainNumber(math.Round(min(250, max(2, weight))*10) / 10), plainNumber(math.Round(min(260, max(50, pressure)))), pick(smoker, "yes", "no"),
			plainNumber(min(60, visits)), pick(ill, "yes", "no")}
		if chance(0.25) && age < 30 {
			row[9] = ""
		}
		if chance(0.08) {
			row[6] = ""
		}
		rows = append(rows, row)
	}
	return header, rows
}

func plainNumber(x float64) string { return fmt.Sprintf("%g", x) }
