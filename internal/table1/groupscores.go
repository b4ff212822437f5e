package table1

import (
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/law"
	"d3p/internal/privacy"
	"d3p/internal/stats"
)

// The tables of groups and of the columns that are constant within them show a group's value
// where its records are many more than the noise of a count: goodGroups times as many, for
// leastGroups of them at most mostGroups of μ².
const goodGroups, leastGroups, mostGroups = 5.0, 2.5, 0.03

// groupColumns are the fields of numbers that are constant within a category that the model
// reads, each with the field of that category.
func groupColumns(m *models.Model) (list [][2]encoding.Field) {
	fields := m.Encoding.Columns()
	for _, f := range fields {
		d := find(m, f.Column)
		group := (*data.Column)(nil)
		if d != nil && f.Levels == nil {
			group = m.Spec.Data.Group(d)
		}
		for _, g := range fields {
			if group != nil && g.Column == group.HeaderName() && g.Levels != nil {
				list = append(list, [2]encoding.Field{f, g})
			}
		}
	}
	return list
}

// groupsShare is the part of μ² that the tables of groups take by default; 0 for none.
func groupsShare(m *models.Model, mu float64, records int) float64 {
	list, levels := groupColumns(m), 0.0
	for _, of := range list {
		levels = max(levels, float64(len(of[1].Levels)))
	}
	unit := float64(len(list)) * math.Pow(levels/(mu*float64(records)), 2)
	if unit*leastGroups*leastGroups > mostGroups {
		return 0
	}
	return min(unit*goodGroups*goodGroups, mostGroups)
}

// groups buys the tables of groups and of the columns that are constant within them, and gives
// the law the normal score of each group. histograms are the partitions of single columns, with
// the cuts of numbers.
func (p *Plan) groups(c *privacy.Curator, m *models.Model, l *law.Law, histograms []privacy.Partition) error {
	r := p.release(Groups)
	if r == nil {
		return nil
	}
	var partitions []privacy.Partition
	list := groupColumns(m)
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
		for level, share := range l.Columns[w.Category].Shares {
			cells := counts[k][level*width : (level+1)*width-1]
			mean, sd := groupScore(&l.Columns[w.Column], cuts, cells, share*l.Records, r.Noise)
			w.Mean, w.SD = append(w.Mean, mean), append(w.SD, sd)
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
			high = math.Sqrt2 * math.Erfinv(2*above-1)
		}
		if share := above - below; share > 1e-9 {
			// moments of a normal between two ends
			logs = append(logs, math.Log(share)+x*records/(noise*noise))
			means = append(means, (density(low)-density(high))/share)
			squares = append(squares, 1+(slope(high)-slope(low))/share)
		}
		low, below = high, above
	}
	mean, _ = stats.GridMoments(means, logs)
	square, _ := stats.GridMoments(squares, logs)
	return mean, math.Sqrt(max(square-mean*mean, 0))
}

// density is that of a standard normal, slope its derivative.
func density(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

func slope(z float64) float64 {
	if math.IsInf(z, 0) {
		return 0
	}
	return -z * density(z)
}
