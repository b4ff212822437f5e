package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"d3p/internal/experiments/tables"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/privacy/noise"
	"d3p/internal/stats"
)

// twinTask measures synthetic tables by the program: distances from the records on public
// cells, and the predictions of other records by a regression that is fitted to the twin.
type twinTask struct{}

const twinDelta = "1e-5"

func (twinTask) judge(opt options, _ []threshold, dir string, out *report) error {
	epsilons, err := numbers(opt.epsilons, "0.3,1,4")
	if err != nil {
		return err
	}
	for _, s := range allTwinSources() {
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

// mostTriples bounds the number of compared sets of three columns.
const mostTriples = 1000

// measured prints how far a table is from the records.
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

// share is the share of the rows at a level that are also at another column's level.
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

// shuffled has the records' columns, each in a random order.
func shuffled(d discretised) discretised {
	random := noise.NewRandom(noise.Public(2).Stream(noise.Twin))
	out := discretised{d.names, d.sizes, nil}
	for _, cells := range d.cells {
		cells = slices.Clone(cells)
		stats.Shuffle(cells, random)
		out.cells = append(out.cells, cells)
	}
	return out
}

// twinSource is a table to make twins of.
type twinSource struct {
	name   string
	folder string        // of the shared data
	table  *tables.Table // simulated; nil: shared
	id     string        // column of the ids, one for each row
	rules  []string      // constraints of the model file
	target string        // column that a logistic regression predicts
	one    string        // its level
	never  [2]string
	within [2]string // never: rows with column never[0] at never[1] that have within[0] at within[1]
}

var twinSources = []twinSource{
	{name: "adult", folder: "adult", rules: []string{"relationship != 'Husband' or sex == 'Male'"}, target: "income", one: ">50K",
		never: [2]string{"sex", "Female"}, within: [2]string{"relationship", "Husband"}},
	{name: "nhanes", folder: "nhanes", id: "ID", target: "Diabetes", one: "Yes",
		never: [2]string{"SmokeNow", "Yes"}, within: [2]string{"Smoke100", "No"}},
}

// allTwinSources are the shared tables, then the simulated ones.
func allTwinSources() []twinSource {
	list := slices.Clone(twinSources)
	for i := range tables.List {
		t := &tables.List[i]
		list = append(list, twinSource{name: t.Name, table: t, target: t.Target, one: t.One, never: t.Never, within: t.Within})
	}
	return list
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
	if s.table != nil {
		t.header, rows = s.table.Draw(s.table.Records, opt.first+1)
		_, test = s.table.Draw(s.table.Records/2, opt.first+2)
		t.model = []byte(s.table.Model(len(rows)))
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

// complete declares one row per person, and adds the rules, in a model file of `d3p init
// --twin`.
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
