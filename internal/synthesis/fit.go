package synthesis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"d3p/internal/marginals"
	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
)

// Table is the release: noisy tables of counts, and the bins of columns.
type Table struct {
	SchemaVersion int        `json:"schema_version"`
	Privacy       string     `json:"privacy,omitempty"`
	Records       float64    `json:"records"` // estimated from the counts
	Steps         int        `json:"steps"`   // the price of the releases, in Gaussians of the noise multiplier
	Columns       []Column   `json:"columns"`
	Tables        []Counts   `json:"tables"`
	Distances     []Distance `json:"distances"`
}

// Counts is a noisy table of counts over columns, by their index, last fastest.
type Counts struct {
	Columns  []int     `json:"columns"`
	Groups   [][]int32 `json:"groups,omitempty"` // by column: the group of each of its cells; null: itself
	Counts   []float64 `json:"counts"`
	Variance float64   `json:"variance"` // of the noise of each
	Trust    float64   `json:"trust"`    // how far true counts may deviate from the other tables' prediction
}

// Distance is the total variation, over columns, between the true table and the
// synthetic one that the noisy counts predict.
type Distance struct {
	Columns   []string `json:"columns"`
	Predicted float64  `json:"predicted"`
	Measured  bool     `json:"measured"`
}

// treeCells bounds the junction tree.
const treeCells = 1 << 22

// Config has the settings of learning a table.
type Config struct {
	Relation event.Relation
	// NoiseMultiplier is the noise multiplier of a step; a release of k steps costs k
	// Gaussians of it.
	NoiseMultiplier float64
	Workers         int
	Stop            func() error // after each release; its error ends the fit; nil: none
}

// Check reports, before any record is read, a workload or constraints that cannot be
// learnt.
func Check(m *models.Model) error {
	if len(m.Spec.Data.Tensors) > 0 {
		return fmt.Errorf("the engine marginals has no arrays (write `engine: mixture`)")
	}
	columns := columnsOf(m)
	if len(columns) == 0 {
		return fmt.Errorf("the engine marginals has no columns")
	}
	for i := range columns {
		if c := &columns[i]; c.Levels == 0 { // the most bins it can have
			c.Bins = make([]int, min(c.fine(), binsWanted+1))
		}
	}
	if err := contradicted(m, columns); err != nil {
		return err
	}
	questions, err := workload(m, columns)
	if err != nil {
		return err
	}
	total := 0.0
	for _, q := range questions {
		cells := 1.0
		var names []string
		for _, k := range q.Set {
			cells *= float64(columns[k].cells())
			names = append(names, columns[k].Name)
		}
		if cells > marginals.MostCells {
			return fmt.Errorf("the table over %s has %.3g cells, more than %d (declare fewer levels, or leave it out of `workload:`)", strings.Join(names, ", "), cells, marginals.MostCells)
		}
		total += cells
	}
	if total > mostNumbers {
		return fmt.Errorf("the workload has %.3g cells, more than %.3g (declare fewer levels, or name fewer tables under `workload:`)", total, float64(mostNumbers))
	}
	return nil
}

// mostNumbers bounds all tables together, for memory.
const mostNumbers = 1e8

// workload lists the sets of the model file, all pairs by default; a repeated set weighs
// more.
func workload(m *models.Model, columns []Column) ([]marginals.Question, error) {
	var sets []marginals.Set
	subsets := func(size int) {
		var grow func(s marginals.Set, from int)
		grow = func(s marginals.Set, from int) {
			if len(s) == size {
				sets = append(sets, slices.Clone(s))
				return
			}
			for k := from; k < len(columns); k++ {
				grow(append(s, k), k+1)
			}
		}
		grow(nil, 0)
	}
	for _, q := range m.Spec.Twin.Workload {
		if q.All > 0 {
			subsets(q.All)
			continue
		}
		var s []int
		for _, name := range q.Columns {
			header := m.Spec.Data.Column(name.V).HeaderName()
			s = append(s, slices.IndexFunc(columns, func(c Column) bool { return c.Name == header }))
		}
		sets = append(sets, marginals.NewSet(s...))
	}
	if len(m.Spec.Twin.Workload) == 0 {
		subsets(2)
	}
	if len(sets) > 20000 {
		return nil, fmt.Errorf("the workload has %d tables, more than 20000 (name the ones that matter under `workload:`)", len(sets))
	}
	var questions []marginals.Question
	at := make(map[string]int)
	for _, s := range sets {
		key := fmt.Sprint(s)
		if i, ok := at[key]; ok {
			questions[i].Weight++
			continue
		}
		at[key] = len(questions)
		questions = append(questions, marginals.Question{Set: s, Weight: 1})
	}
	return questions, nil
}

// fitter asks the curator.
type fitter struct {
	curator *privacy.Curator
	cfg     Config
	columns []Column
	noise   float64 // of one table as a separate step
	spent   float64 // in steps
	done    int     // steps
}

// Fit releases noisy counts of the curator's records and learns from them. That costs at
// most marginals.Steps Gaussians of the noise multiplier.
func Fit(c *privacy.Curator, m *models.Model, cfg Config, random Random) (*Table, error) {
	f := &fitter{curator: c, cfg: cfg, columns: columnsOf(m)}
	one := privacy.CountsEvent([]privacy.Partition{{Noise: 1}}, cfg.Relation).(event.Gaussian)
	f.noise = cfg.NoiseMultiplier / one.NoiseMultiplier * (1 + 1e-9)
	questions, err := workload(m, f.columns)
	if err != nil {
		return nil, err
	}
	measured, err := f.measureColumns(len(questions) == 0)
	if err != nil {
		return nil, err
	}
	domain, ordered := make(marginals.Domain, len(f.columns)), make([]int, len(f.columns))
	for k := range f.columns {
		domain[k], ordered[k] = f.columns[k].cells(), f.columns[k].ordered()
	}
	zeros, err := impossible(m, f.columns)
	if err != nil {
		return nil, err
	}
	learned, err := marginals.Learn(marginals.Config{
		Domain: domain, Zeros: zeros, Columns: measured, Ordered: ordered, Workload: questions, Sigma: f.noise, Limit: treeCells, Workers: cfg.Workers,
	}, f.measure, random)
	if err != nil {
		return nil, err
	}
	learned.Tree.Close()
	t := &Table{SchemaVersion: 1, Steps: f.done, Records: math.Round(learned.Records), Columns: f.columns, Distances: []Distance{}}
	for _, x := range learned.Measurements {
		counts := make([]float64, len(x.Counts))
		for i, y := range x.Counts {
			counts[i] = math.Round(y*100) / 100
		}
		t.Tables = append(t.Tables, Counts{x.Set, x.Groups, counts, x.Variance, x.Trust})
	}
	for _, d := range learned.Distances {
		x := Distance{Predicted: d.Predicted, Measured: d.Measured}
		for _, k := range d.Set {
			x.Columns = append(x.Columns, f.columns[k].Name)
		}
		t.Distances = append(t.Distances, x)
	}
	slices.SortStableFunc(t.Distances, func(a, b Distance) int {
		return cmp.Compare(b.Predicted, a.Predicted)
	})
	return t, nil
}

// measureColumns releases numbers by fine cells and makes bins of them, then every column
// by bins. That takes over the steps of numbers where there are none, and all steps if it is
// all that is asked.
func (f *fitter) measureColumns(all bool) ([]marginals.Measurement, error) {
	var partitions []privacy.Partition
	for k := range f.columns {
		if c := &f.columns[k]; c.coarse() {
			partitions = append(partitions, privacy.Partition{Axes: []privacy.Axis{{Column: c.Name, Cuts: c.Cuts}}, Usable: true})
		}
	}
	fine, noise := [][]float64{}, f.noise*math.Sqrt(float64(len(partitions))/marginals.FineSteps)
	if len(partitions) > 0 {
		for i := range partitions {
			partitions[i].Noise = noise
		}
		var err error
		if fine, err = f.release(partitions); err != nil {
			return nil, err
		}
	}
	counted := make([][]float64, len(f.columns))
	for k := range f.columns {
		switch c := &f.columns[k]; {
		case c.coarse():
			counted[k], fine = fine[0], fine[1:]
			c.bin(counted[k], noise)
		case c.Levels == 0:
			c.Bins = make([]int, c.fine())
			for i := range c.Bins {
				c.Bins[i] = i
			}
		}
	}
	var tables []marginals.Table
	var sigma []float64
	left := marginals.FineSteps + marginals.ColumnSteps - f.spent
	if all {
		left = marginals.Steps - f.spent
	}
	weights, total := make([]float64, len(f.columns)), 0.0
	for k := range f.columns {
		// Least total error for a given cost: the standard deviation falls as cells^(-1/3).
		weights[k] = math.Pow(float64(f.columns[k].cells()), 2.0/3)
		total += weights[k]
	}
	for k := range f.columns {
		tables = append(tables, marginals.Table{Set: marginals.Set{k}})
		sigma = append(sigma, f.noise*math.Sqrt(total/weights[k]/left))
	}
	counts, err := f.measure(tables, sigma)
	if err != nil {
		return nil, err
	}
	var list []marginals.Measurement
	for k := range f.columns {
		if c := &f.columns[k]; c.Levels == 0 {
			c.shape(counts[k], sigma[k]*sigma[k], counted[k], noise)
		}
		list = append(list, marginals.Measurement{Table: tables[k], Counts: counts[k], Variance: sigma[k] * sigma[k]})
	}
	return list, nil
}

// mostPartitions is the most that a curator releases in a call. Several calls cost the
// same as one Gaussian of all their noise.
const mostPartitions = 1000

// release asks the curator for tables of counts.
func (f *fitter) release(partitions []privacy.Partition) ([][]float64, error) {
	var counts [][]float64
	for part := range slices.Chunk(partitions, mostPartitions) {
		more, err := f.curator.Counts("synthetic table", part)
		if err != nil {
			return nil, err
		}
		counts = append(counts, more...)
	}
	for _, p := range partitions {
		f.spent += f.noise * f.noise / (p.Noise * p.Noise)
	}
	f.done = int(math.Round(f.spent))
	var err error
	if f.cfg.Stop != nil {
		err = f.cfg.Stop()
	}
	return counts, err
}

// measure releases tables by bins, or by groups of bins.
func (f *fitter) measure(tables []marginals.Table, sigma []float64) ([][]float64, error) {
	var partitions []privacy.Partition
	for i, t := range tables {
		p := privacy.Partition{Usable: true, Noise: sigma[i]}
		for j, k := range t.Set {
			a := privacy.Axis{Column: f.columns[k].Name}
			if c := &f.columns[k]; c.Levels == 0 {
				a.Cuts = c.groupCuts(groupsOf(t, j))
			}
			p.Axes = append(p.Axes, a)
		}
		partitions = append(partitions, p)
	}
	counts, err := f.release(partitions)
	if err != nil {
		return nil, err
	}
	for i, t := range tables {
		counts[i] = f.gather(counts[i], t)
	}
	return counts, nil
}

func groupsOf(t marginals.Table, j int) []int32 {
	if t.Groups == nil {
		return nil
	}
	return t.Groups[j]
}

// gather leaves out the cells of a curator's table that no usable row has: levels that
// are not declared, and values missing where the rules reject that.
func (f *fitter) gather(counts []float64, t marginals.Table) []float64 {
	var out []float64
	var visit func(i, at int)
	visit = func(i, at int) {
		if i == len(t.Set) {
			out = append(out, counts[at])
			return
		}
		c := &f.columns[t.Set[i]]
		bins := c.bins()
		if g := groupsOf(t, i); g != nil {
			bins = int(g[bins-1]) + 1
		}
		size, cells := c.counted(bins-1), bins
		if c.Missing {
			cells++
		}
		for cell := range cells {
			if cell == bins {
				cell = size - 1
			}
			visit(i+1, at*size+cell)
		}
	}
	visit(0, 0)
	return out
}
