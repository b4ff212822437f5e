package verdict

import (
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/law"
	"d3p/internal/table1"
)

// hardlyWithin is how many standard deviations of its noise the spread of a column within groups must be, or
// the column may have one value in each.
const hardlyWithin = 2

// open are the predictors that may have one value for all records of a group: the group, by column.
func open(m *models.Model, bought []table1.Row) map[string]string {
	found := map[string]string{}
	if m.Spec.Model == nil {
		return found
	}
	l, err := table1.LawOf(bought, &m.Spec.Data)
	if err != nil { // rows of another model
		l = &law.Law{}
	}
	for _, open := range m.Spec.Model.Open(&m.Spec.Data) {
		for _, c := range open.Columns {
			for _, source := range m.Spec.Data.OpenSources(c, m.Spec.Data.Column(open.Group)) {
				if !variesWithin(&m.Spec.Data, l, source.Name.V, open.Group) && !slices.ContainsFunc(bought, func(r table1.Row) bool {
					return r.Statistic == table1.SDWithin && r.Column == source.Name.V && r.Of == open.Group
				}) {
					found[c.Name.V] = open.Group
				}
			}
		}
	}
	return found
}

// widelyWithin is the part of a category's spread, Σ p(1 − p) over its levels, that must lie within groups. Then its
// interval is right also where simulated records do not follow the tables of pairs.
const widelyWithin = 0.7

// variesWithin reports whether the table of a category and a group, in l, shows that the category varies within
// groups g. Noise in cell n(g,l) moves the spread within groups, Σ n(g,l) (1 − n(g,l)/n(g)), by 1 − 2p(l|g) + Σ p(·|g)²
// times as much, at most twice, and lowers it; with more noise than spread the table shows nothing.
func variesWithin(d *data.Data, l *law.Law, column, group string) bool {
	groups, noise := sharesByGroup(d, l, column, group)
	if groups == nil {
		return false
	}
	levels := make([]float64, len(groups[0]))
	known, within, variance := 0, 0.0, 0.0
	for _, g := range groups {
		share, squares := 0.0, 0.0
		for level, x := range g {
			share, squares, levels[level] = share+x, squares+x*x, levels[level]+x
		}
		if share <= hardlyWithin*noise*math.Sqrt(float64(len(g))) { // nothing is known of g
			continue
		}
		known++
		within += share - squares/share
		for _, x := range g {
			variance += math.Pow(noise*(1-2*x/share+squares/(share*share)), 2)
		}
	}
	all := 1.0
	for _, share := range levels {
		all -= share * share
	}
	most := 2 * noise * math.Sqrt(float64(known*len(levels)))
	return all > hardlyWithin*most && within-hardlyWithin*math.Sqrt(variance) > widelyWithin*all
}

// sharesByGroup are the shares of a category's levels in each group [groups x levels], of all records, and the standard
// deviation of their noise; nil if l has no table of the two.
func sharesByGroup(d *data.Data, l *law.Law, column, group string) (groups [][]float64, noise float64) {
	for _, p := range l.Pairs {
		first, second := l.Columns[p.Of[0]].Name, l.Columns[p.Of[1]].Name
		width := len(d.Column(second).LevelNames())
		switch {
		case width == 0:
		case first == group && second == column:
			return slices.Collect(slices.Chunk(p.Shares, width)), p.SD
		case first == column && second == group:
			groups = make([][]float64, width)
			for cell, share := range p.Shares {
				groups[cell%width] = append(groups[cell%width], share)
			}
			return groups, p.SD
		}
	}
	return nil, 0
}
