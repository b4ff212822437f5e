package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/privacy/noise"
)

// twinSource is a table that twins are made of.
type twinSource struct {
	name   string
	folder string // of the shared data; "": simulated
	drop   []string
	rules  []string // constraints of the model file
	target string   // column that a logistic regression predicts
	one    string   // its level
	never  [2]string
	within [2]string // never: rows with column never[0] at never[1] that have within[0] at within[1]
}

var twinSources = []twinSource{
	{name: "adult", folder: "adult", rules: []string{"relationship != 'Husband' or sex == 'Male'"}, target: "income", one: ">50K",
		never: [2]string{"sex", "Female"}, within: [2]string{"relationship", "Husband"}},
	{name: "nhanes", folder: "nhanes", drop: []string{"ID"}, target: "Diabetes", one: "Yes",
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

// complete leaves columns out of a model file of `d3p init --twin` and adds the rules.
func (s twinSource) complete(text []byte) []byte {
	var b bytes.Buffer
lines:
	for _, line := range strings.SplitAfter(string(text), "\n") {
		for _, name := range s.drop {
			if strings.HasPrefix(line, "    "+name+": {") {
				continue lines
			}
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
