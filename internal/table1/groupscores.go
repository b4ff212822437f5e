package table1

import (
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/law"
	"d3p/internal/models/special"
	"d3p/internal/privacy"
	"d3p/internal/stats"
)

// The tables of groups and of the columns that are constant within them show a group's value
// where its records are many more than the noise of a count: goodGroups times as many, for
// leastGroups of them at most mostGroups of μ². Columns that may be constant take goodGroups, which
// show how constant they are, and up to bestGroups for at most cheapGroups of μ².
const (
	goodGroups, leastGroups, mostGroups = 5.0, 2.5, 0.03
	bestGroups, cheapGroups             = 100.0, 0.002
)

// groupColumns are the fields of numbers that are constant within a category that the model
// reads, each with the field of that category; if open also those that may be, within groups of the formula.
func groupColumns(m *models.Model, open bool) (list [][2]encoding.Field) {
	fields := m.Encoding.Columns()
	add := func(c, group *data.Column) {
		for _, f := range fields {
			for _, g := range fields {
				if f.Column == c.HeaderName() && f.Levels == nil && g.Column == group.HeaderName() && g.Levels != nil &&
					!slices.ContainsFunc(list, func(of [2]encoding.Field) bool { return of[0].Column == f.Column && of[1].Column == g.Column }) {
					list = append(list, [2]encoding.Field{f, g})
				}
			}
		}
	}
	for _, f := range fields {
		if d := find(m, f.Column); d != nil && f.Levels == nil {
			if group := m.Spec.Data.Group(d); group != nil {
				add(d, group)
			}
		}
	}
	if open && m.Spec.Model != nil {
		for _, o := range m.Spec.Model.Open(&m.Spec.Data) {
			group := m.Spec.Data.Column(o.Group)
			for _, c := range o.Columns {
				for _, source := range m.Spec.Data.OpenSources(c, group) {
					add(source, group)
				}
			}
		}
	}
	return list
}

// groupTables are the tables of groups that are bought by default: the part of μ² that they take, 0 for
// none, and whether they are of open columns, too.
func groupTables(m *models.Model, mu float64, records int) (share float64, open bool) {
	declared, all := groupColumns(m, false), groupColumns(m, true)
	if len(all) > len(declared) {
		if unit := groupUnit(all, mu, records); unit*goodGroups*goodGroups <= mostGroups {
			return max(unit*goodGroups*goodGroups, min(unit*bestGroups*bestGroups, cheapGroups)), true
		}
	}
	if unit := groupUnit(declared, mu, records); unit*leastGroups*leastGroups <= mostGroups {
		return min(unit*goodGroups*goodGroups, mostGroups), false
	}
	return 0, false
}

// groupUnit is the part of μ² that tables of these columns and groups take if the noise of a count is
// the mean number of records of the largest category's levels.
func groupUnit(list [][2]encoding.Field, mu float64, records int) float64 {
	levels := 0.0
	for _, of := range list {
		levels = max(levels, float64(len(of[1].Levels)))
	}
	return float64(len(list)) * math.Pow(levels/(mu*float64(records)), 2)
}

// groups buys the tables of groups and of the columns that are constant within them, or may be, and
// gives the law the normal score of each group. histograms are the partitions of single columns, with
// the cuts of numbers.
func (p *Plan) groups(c *privacy.Curator, m *models.Model, l *law.Law, histograms []privacy.Partition) error {
	r := p.release(Groups)
	if r == nil {
		return nil
	}
	var partitions []privacy.Partition
	list := groupColumns(m, r.Open)
	for _, of := range list {
		number := slices.IndexFunc(histograms, func(h privacy.Partition) bool { return h.Axes[0].Column == of[0].Column })
		partitions = append(partitions, privacy.Partition{Axes: []privacy.Axis{{Column: of[1].Column}, histograms[number].Axes[0]}, Noise: r.Noise})
	}
	counts, err := c.Counts(string(Groups), partitions)
	if err != nil {
		return err
	}
	for k, of := range list {
		w := law.Within{Column: indexOf(l, m, of[0].Column), Category: indexOf(l, m, of[1].Column)}
		cuts := partitions[k].Axes[1].Cuts
		width := len(cuts) + 2 // with missing values
		t := groupTable{column: &l.Columns[w.Column], cuts: cuts, noise: r.Noise}
		for level, share := range l.Columns[w.Category].Shares {
			t.counts = append(t.counts, counts[k][level*width:(level+1)*width-1])
			t.records = append(t.records, share*l.Records)
			t.recordsSD = append(t.recordsSD, math.Hypot(l.Columns[w.Category].ShareSD[level], unlikeGroup*share)*l.Records)
		}
		if m.Spec.Data.Group(find(m, of[0].Column)) == nil {
			t.spread(&w)
		} else {
			for level, cells := range t.counts {
				mean, sd := groupScore(t.column, cuts, cells, t.records[level], r.Noise)
				w.Mean, w.SD = append(w.Mean, mean), append(w.SD, sd)
			}
		}
		l.Groups = append(l.Groups, w)
	}
	return nil
}

// groupScore is the posterior mean and standard deviation of the normal score of a group of
// that many records, all in one cell between cuts, by the noisy counts of the cells.
func groupScore(c *law.Column, cuts, counts []float64, records, noise float64) (mean, sd float64) {
	var logs, means, squares []float64
	low, below := math.Inf(-1), 0.0
	for k, x := range counts {
		high, above := math.Inf(1), 1.0
		if k < len(cuts) {
			above = c.Below(cuts[k])
			high = special.NormalQuantile(above)
		}
		if share := above - below; share > leastCell {
			logs = append(logs, math.Log(share)+x*records/(noise*noise))
			mean, square := normalWithin(low, high, share)
			means, squares = append(means, mean), append(squares, square)
		}
		low, below = high, above
	}
	mean, _ = stats.GridMoments(means, logs)
	square, _ := stats.GridMoments(squares, logs)
	return mean, math.Sqrt(max(square-mean*mean, 0))
}

// leastCell is the least share of a cell that a group may be in.
const leastCell = 1e-9

// normalWithin are the mean and the mean square of a standard normal between two ends, where this share of it is.
func normalWithin(low, high, share float64) (mean, square float64) {
	return (density(low) - density(high)) / share, 1 + (slope(high)-slope(low))/share
}

// density is that of a standard normal, slope its derivative.
func density(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

func slope(z float64) float64 {
	if math.IsInf(z, 0) {
		return 0
	}
	return -z * density(z)
}
