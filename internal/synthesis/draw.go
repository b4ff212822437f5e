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

// Fill fills in a table of simulate.Twin.Table. Independent records vary as records of
// the family do; the others vary less. Records that break a constraint are drawn again.
func (d *Drawer) Fill(out simulate.Table, random Random, independent bool) error {
	n := len(out.Values[0])
	all := make([][]float64, len(d.declared))
	place := make([]int, len(d.table.Columns))
	for k, c := range d.table.Columns {
		place[k] = slices.IndexFunc(d.declared, func(x *data.Column) bool { return x.HeaderName() == c.Name })
	}
	first, vain := 0, 0
	for first < n {
		need := n - first
		if first > 0 || vain > 0 {
			need = max(need, 1000)
		}
		cells := d.sample(need, random, independent)
		for k := range all {
			all[k] = make([]float64, need)
		}
		var quantiles [][]float64
		if !independent {
			quantiles = d.quantiles(cells, random)
		}
		ok := d.values(all, cells, quantiles, place, random)
		before := first
		for i := 0; i < need && first < n; i++ {
			if !ok[i] {
				continue
			}
			for k, c := range out.Columns {
				at := slices.IndexFunc(d.declared, func(x *data.Column) bool { return x == c })
				out.Values[k][first] = all[at][i]
			}
			first++
		}
		if vain++; before < first {
			vain = 1
		}
		if vain > hopeless {
			return fmt.Errorf("hardly any synthetic record meets the constraints: they contradict the fitted table")
		}
	}
	shuffle(out, random)
	return nil
}

// mostRedrawn is how often the values of a record are drawn in its cells.
const mostRedrawn = 30

// values draws values in the cells of records and reports which records meet the constraints.
// Those that do not exchange values with others, see exchange, and else are drawn again in the
// same cells: to leave the record out would move the shares of cells. In cells that a rule divides, the rule's columns have one quantile: of two
// dates in one order, or two amounts, each keeps its own distribution within the cell. place is
// the index in all of each column. quantiles are those of the first try by column; nil: random.
func (d *Drawer) values(all [][]float64, cells [][]int32, quantiles [][]float64, place []int, random Random) (ok []bool) {
	n := len(cells[0])
	ok = make([]bool, n)
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	some, met := make([][]float64, len(all)), make([]bool, n)
	for try := range mostRedrawn {
		for k := range some {
			some[k] = make([]float64, len(left))
		}
		for j, i := range left {
			for k := range cells {
				u := 0.0
				if try == 0 && quantiles != nil {
					u = quantiles[k][i]
				} else {
					u = random.Uniform()
				}
				some[place[k]][j] = d.table.Columns[k].value(int(cells[k][i]), u)
			}
			if try%2 == 0 {
				d.together(some, j, cells, i, place, random)
			}
		}
		d.twin.Met(met[:len(left)], some, -1)
		vain := left[:0]
		for j, i := range left {
			for k := range all {
				all[k][i] = some[k][j]
			}
			if ok[i] = met[j]; !ok[i] {
				vain = append(vain, i)
			}
		}
		if try == 0 {
			vain = d.exchange(all, ok, cells, place, random)
		}
		if left = vain; len(left) == 0 {
			break
		}
	}
	return ok
}

// quantiles gives the records of each cell of a column evenly spaced quantiles in random order,
// so that the values within a cell are as close to its shape as their number allows.
func (d *Drawer) quantiles(cells [][]int32, random Random) [][]float64 {
	list := make([][]float64, len(cells))
	order := make([]int, len(cells[0]))
	for i := range order {
		order[i] = i
	}
	for k := range cells {
		list[k] = make([]float64, len(order))
		c := &d.table.Columns[k]
		if c.Levels > 0 {
			continue // its cells are its values
		}
		for i := len(order) - 1; i > 0; i-- {
			j := int(random.Uniform() * float64(i+1))
			order[i], order[j] = order[j], order[i]
		}
		counts, place := make([]float64, c.cells()), make([]float64, c.cells())
		for _, cell := range cells[k] {
			counts[cell]++
		}
		for _, i := range order {
			cell := cells[k][i]
			list[k][i] = (place[cell] + random.Uniform()) / counts[cell]
			place[cell]++
		}
	}
	return list
}

// together gives all columns of a rule the same quantile, in row j of the values, if the
// rule divides the cells of record i.
func (d *Drawer) together(values [][]float64, j int, cells [][]int32, i int, place []int, random Random) {
	u := -1.0
	for _, r := range d.rules {
		if len(r.Set) < 2 {
			continue
		}
		cell := 0
		for _, k := range r.Set {
			cell = cell*d.table.Columns[k].cells() + int(cells[k][i])
		}
		if !r.some[cell] {
			continue
		}
		if u < 0 {
			u = random.Uniform()
		}
		for _, k := range r.Set {
			values[place[k]][j] = d.table.Columns[k].value(int(cells[k][i]), u)
		}
	}
}

// Thinning draws more records than it keeps: mostSpare times as many, as far as they are at
// most spareNumbers cells, and are looked up in tables at most mostCompared times.
const (
	mostSpare    = 20
	spareNumbers = 5e7
	thinnedCells = 1 << 22 // of the tables that it compares
	mostCompared = 5e8     // records times tables
)

// sample draws n records. Those that are not independent have tables, over the sets of the
// workload and over triples, as close to the family's as their number allows.
func (d *Drawer) sample(n int, random Random, independent bool) [][]int32 {
	if independent || d.sets == nil {
		return d.tree.Sample(n, random, independent)
	}
	spare := int(min(mostSpare, spareNumbers/float64(n*len(d.tree.Domain)), mostCompared/float64(n*len(d.sets))))
	if spare < 2 {
		return d.tree.Sample(n, random, false)
	}
	sets := d.sets
	if all := slices.Concat(sets, d.triples); float64(len(all))*float64(spare*n) <= mostCompared {
		sets = all
	}
	return d.tree.Domain.Thin(d.tree.Sample(spare*n, random, false), n, sets, random)
}

// shuffle puts the records in random order: the sampler draws them by cell.
func shuffle(out simulate.Table, random Random) {
	for i := len(out.Values[0]) - 1; i > 0; i-- {
		j := int(random.Uniform() * float64(i+1))
		for _, column := range out.Values {
			column[i], column[j] = column[j], column[i]
		}
	}
}
