package synthesis

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/marginals"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/simulate"
)

// Drawer draws synthetic records from a released table.
type Drawer struct {
	table        *Table
	twin         *simulate.Twin
	declared     []*data.Column
	measured     []marginals.Measurement
	associations []marginals.Association // of pairs of numbers
	inference    bool                    // for tables by Perturb
	rules        []rule
	tree         *marginals.Tree
	sets         []marginals.Set // whose tables a sample keeps; nil: too many
	triples      []marginals.Set // whose tables a sample keeps, too, if it is small
	fitted       [][]float64     // parameters of the fit to the released counts
	counts       [][]float64     // of each column, on which the released tables agree; some are negative
	expected     [][]float64     // of each column, by the fit
	records      float64
	shrunk       bool // relations in tables by Perturb are shrunk as those of the fit are
}

// Iterations of the fits: to the released counts, and from there to simulated ones.
const (
	fitIterations   = 400
	refitIterations = 150
)

// widening multiplies the trust in measured tables for Perturb. With the trust of the
// release single cells are closest to the true ones, and a weak relation, such as a
// slope, is shrunk.
const widening = 5

// NewDrawer fits the family to the released counts: as close to the records as can be,
// or, with inference, with less shrinkage, for tables by Perturb.
func NewDrawer(t *Table, m *models.Model, inference bool, workers int) (*Drawer, error) {
	d, domain, err := unfitted(t, m, inference)
	if err != nil {
		return nil, err
	}
	if d.rules, err = rulesOf(m, t.Columns); err != nil {
		return nil, err
	}
	d.records = marginals.Records(d.measured)
	var precision []float64
	d.counts, precision = domain.Columns(d.measured, d.records)
	columns := make([][]float64, len(d.counts))
	if inference {
		columns = d.nonnegative(d.counts)
	} else {
		for k := range columns {
			columns[k] = t.Columns[k].estimated(d.counts[k], 1/precision[k])
		}
	}
	d.associate(domain, columns)
	var tables []marginals.Table
	for _, x := range d.measured {
		tables = append(tables, x.Table)
	}
	for _, x := range d.associations {
		tables = append(tables, x.Table)
	}
	d.sets, d.triples = t.compared(domain)
	if d.tree, err = marginals.NewTree(domain, tables, zerosOf(d.rules), 4*treeCells, workers); err != nil {
		return nil, err
	}
	d.tree.Start(d.measured)
	for range fits {
		d.fit(d.measured, columns, fitIterations)
	}
	for k := range t.Columns { // the first tables are those of columns
		d.expected = append(d.expected, slices.Clone(d.tree.Means[k]))
		for c := range d.expected[k] {
			d.expected[k][c] *= d.records
		}
	}
	for _, theta := range d.tree.Theta {
		d.fitted = append(d.fitted, slices.Clone(theta))
	}
	return d, nil
}

// unfitted is a drawer with everything that needs no fit.
func unfitted(t *Table, m *models.Model, inference bool) (*Drawer, marginals.Domain, error) {
	twin, err := simulate.NewTwin(m)
	if err != nil {
		return nil, nil, err
	}
	d := &Drawer{table: t, twin: twin, declared: m.Spec.Data.AllColumns(), inference: inference}
	if err := t.check(columnsOf(m)); err != nil {
		return nil, nil, err
	}
	domain := make(marginals.Domain, len(t.Columns))
	for k := range t.Columns {
		domain[k] = t.Columns[k].cells()
	}
	for _, x := range t.Tables {
		of := marginals.Table{Set: x.Columns, Groups: x.Groups}
		d.measured = append(d.measured, marginals.Measurement{Table: of, Counts: x.Counts, Variance: x.Variance, Trust: x.Trust})
	}
	if inference {
		d.widen(domain)
	}
	return d, domain, nil
}

// Limits are those of intervals from the separate tables of a release.
type Limits struct {
	// Shrunk: relations are nearer to independence than the released counts. Intervals may
	// miss the truth.
	Shrunk bool
	// Noise is the mean noise of the counts of single columns, as a part of the records.
	Noise float64
}

// LimitsOf are the limits of intervals from tables by Perturb.
func LimitsOf(t *Table, m *models.Model) (Limits, error) {
	d, _, err := unfitted(t, m, true)
	if err != nil {
		return Limits{}, err
	}
	noise := 0.0
	for k := range t.Columns { // the first tables are those of columns
		noise += math.Sqrt(d.measured[k].Variance) / float64(len(t.Columns))
	}
	return Limits{d.shrunk, noise / marginals.Records(d.measured)}, nil
}

// mostTrends is the most that a drawer frees: the fit to more of them converges slowly.
const mostTrends = 150

// widen ends the shrinkage of trends and lessens that of cells, unless trends are too many.
func (d *Drawer) widen(domain marginals.Domain) {
	scores := make([][]float64, len(domain))
	for k := range scores {
		scores[k] = d.table.Columns[k].scores()
	}
	count, trends := 0, make([][][]float64, len(d.measured))
	for i, m := range d.measured {
		if len(m.Set) == 2 && scores[m.Set[0]] != nil && scores[m.Set[1]] != nil {
			continue // they have an association
		}
		trends[i] = domain.Trends(m, scores)
		count += len(trends[i])
	}
	if d.shrunk = count > mostTrends; d.shrunk {
		return
	}
	for i := range d.measured {
		d.measured[i].Trends = trends[i]
		d.measured[i].Trust *= widening
	}
}

// compared are the sets of the workload, or nil if their tables have more than thinnedCells
// cells; triples are those of all columns that are not among them, or nil if that is too many.
func (t *Table) compared(domain marginals.Domain) (sets, triples []marginals.Set) {
	index := make(map[string]int)
	for k := range t.Columns {
		index[t.Columns[k].Name] = k
	}
	total, asked := 0.0, make(map[[3]int]bool)
	for _, x := range t.Distances {
		var s []int
		for _, name := range x.Columns {
			k, ok := index[name]
			if !ok {
				return nil, nil
			}
			s = append(s, k)
		}
		set := marginals.NewSet(s...)
		if len(set) == 3 {
			asked[[3]int(set)] = true
		}
		sets, total = append(sets, set), total+float64(domain.Cells(set))
	}
	if total > thinnedCells {
		return nil, nil
	}
	for c := range domain {
		for b := range c {
			for a := range b {
				if asked[[3]int{a, b, c}] {
					continue
				}
				s := marginals.Set{a, b, c}
				if total += float64(domain.Cells(s)); total > thinnedCells {
					return sets, nil
				}
				triples = append(triples, s)
			}
		}
	}
	return sets, triples
}

// check reports faults of a released table, because it comes from a file.
func (t *Table) check(want []Column) error {
	if len(t.Columns) != len(want) {
		return fmt.Errorf("it has %d columns, and the model %d", len(t.Columns), len(want))
	}
	for k, c := range t.Columns {
		w := want[k]
		if c.Name != w.Name || c.Levels != w.Levels || c.Missing != w.Missing || c.Whole != w.Whole || c.Lower != w.Lower || c.Upper != w.Upper || !slices.Equal(c.Cuts, w.Cuts) {
			return fmt.Errorf("column %s differs from the model's", c.Name)
		}
		if c.Levels > 0 {
			continue
		}
		if len(c.Shape) != c.fine() || len(c.Bins) == 0 || c.Bins[0] != 0 || c.Bins[len(c.Bins)-1] >= c.fine() {
			return fmt.Errorf("column %s has no bins", c.Name)
		}
		for i := range c.Bins[1:] {
			if c.Bins[i+1] <= c.Bins[i] {
				return fmt.Errorf("the bins of column %s are not ascending", c.Name)
			}
		}
		for _, w := range c.Shape {
			if !(w >= 0) || math.IsInf(w, 0) {
				return fmt.Errorf("column %s has an invalid weight", c.Name)
			}
		}
	}
	for _, x := range t.Tables {
		if x.Groups != nil && len(x.Groups) != len(x.Columns) {
			return fmt.Errorf("a table of %d columns has the groups of %d", len(x.Columns), len(x.Groups))
		}
		cells := 1
		for i, k := range x.Columns {
			if k < 0 || k >= len(t.Columns) || i > 0 && k <= x.Columns[i-1] || cells > marginals.MostCells {
				return fmt.Errorf("a table is over columns that it has not")
			}
			n := t.Columns[k].cells()
			if x.Groups != nil && x.Groups[i] != nil {
				if !ascending(x.Groups[i], n) {
					return fmt.Errorf("a table's groups of column %s are not its cells, in order", t.Columns[k].Name)
				}
				n = int(x.Groups[i][n-1]) + 1
			}
			cells *= n
		}
		if len(x.Counts) != cells || !(x.Variance > 0) || !(x.Trust > 0) || slices.ContainsFunc(x.Counts, func(y float64) bool { return math.IsNaN(y) || math.IsInf(y, 0) }) {
			return fmt.Errorf("a table of %d columns has other cells or no variance", len(x.Columns))
		}
	}
	return nil
}

// ascending reports whether groups are of n cells, from 0 on, without a gap.
func ascending(groups []int32, n int) bool {
	at := int32(0)
	for _, g := range groups {
		if g != at && g != at+1 {
			return false
		}
		at = g
	}
	return len(groups) == n && groups[0] == 0
}

// Close ends the workers.
func (d *Drawer) Close() { d.tree.Close() }

// Perturb replaces the family by one that could as well have been fitted: to counts of
// as many records as there are, drawn from the fit to the released counts, with new
// noise of the same variance. Tables at such parameters vary as the estimate does over
// records and noise: a parametric bootstrap, in the place of the posterior of
// Räisä et al. 2023 (arXiv:2205.14485).
func (d *Drawer) Perturb(random Random) {
	d.restore()
	d.tree.Infer()
	sample := d.tree.Sample(int(math.Round(d.records)), random, true)
	simulated := make([]marginals.Measurement, len(d.measured))
	for i, x := range d.measured {
		simulated[i] = x
		simulated[i].Counts = make([]float64, len(x.Counts))
		d.tree.Domain.Count(simulated[i].Counts, x.Table, sample)
		noise := math.Sqrt(x.Variance)
		for c := range simulated[i].Counts {
			simulated[i].Counts[c] += noise * random.Normal()
		}
	}
	// Without its negative counts the fit has too many records in rare cells, and a fit to counts
	// simulated from it still more. The released counts have the right mean.
	counts, _ := d.tree.Domain.Columns(simulated, marginals.Records(simulated))
	for k := range counts {
		for c := range counts[k] {
			counts[k][c] += d.counts[k][c] - d.expected[k][c]
		}
	}
	columns := d.nonnegative(counts)
	d.fit(simulated, columns, refitIterations)
}

// nonnegative are columns' counts, none negative, without smoothness.
func (d *Drawer) nonnegative(counts [][]float64) [][]float64 {
	columns := make([][]float64, len(counts))
	for k := range counts {
		columns[k] = marginals.Nonnegative(counts[k], d.table.Columns[k].ordered())
	}
	return columns
}

// restore returns to the parameters of the fit to the released counts.
func (d *Drawer) restore() {
	for i, theta := range d.fitted {
		copy(d.tree.Theta[i], theta)
	}
}

// hopeless is how many rounds draw in vain before Fill gives up.
const hopeless = 100

// mostRedrawn is how often the values of a record are drawn in its cells.
const mostRedrawn = 30

// Thinning draws more records than it keeps: mostSpare times as many, as far as they are at
// most spareNumbers cells, and are looked up in tables at most mostCompared times.
const (
	mostSpare    = 20
	spareNumbers = 5e7
	thinnedCells = 1 << 22 // of the tables that it compares
	mostCompared = 5e8     // records times tables
)
