package table1

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/models/data"
	"d3p/internal/models/law"
)

// LawOf is the law that Rows states, to the digits of the rows; without rows the
// declared one.
func LawOf(rows []Row, d *data.Data) (*law.Law, error) {
	l := law.Declared(d)
	n := len(l.Columns)
	at, deviations := make(map[string]int), make([]Row, n)
	for i, c := range l.Columns {
		at[c.Name] = i
	}
	for _, r := range rows {
		i, known := at[r.Column]
		if !known && r.Statistic != Units {
			return nil, fmt.Errorf("table 1: the model has no column %s", r.Column)
		}
		switch r.Statistic {
		case Units:
			l.Records, l.RecordsSD = r.Value, r.NoiseSD
		case Missing:
			l.Columns[i].Missing, l.Columns[i].MissingSD = r.Value, r.NoiseSD
		case Undeclared:
			l.Columns[i].Undeclared, l.Columns[i].UndeclaredSD = r.Value, r.NoiseSD
		case OwnShare:
			l.Columns[i].Own, l.Columns[i].OwnSD = r.Value, r.NoiseSD
		case SD:
			deviations[i] = r
		case Share, Cell, Part:
			if err := addShare(&l.Columns[i], r); err != nil {
				return nil, err
			}
		case Correlation:
			j, known := at[r.Of]
			if !known {
				return nil, fmt.Errorf("table 1: the model has no column %s", r.Of)
			}
			addCorrelation(l, r, i, j)
		case JointShare, MeanScore, GroupScore:
			j := columnNamed(l, r.Of)
			if j < 0 {
				return nil, fmt.Errorf("table 1: the model has no column of %q", r.Of)
			}
			addLevel(l, r, i, j)
		case SDWithin:
			if err := addSDWithin(l, r, i); err != nil {
				return nil, err
			}
		}
	}
	for i, sd := range deviations {
		if sd.Value > 0 {
			l.Columns[i].ScaleSD = math.Log1p(cmp.Or(sd.ShapeSD, sd.NoiseSD) / sd.Value)
		}
	}
	if l.Correlation != nil {
		law.MakePositive(l.Correlation, n) // rounded
	}
	slices.Sort(l.Coded)
	return l, l.Bind(d)
}

// columnNamed is the column whose levels these words name, see of; -1 for none.
func columnNamed(l *law.Law, words string) int {
	best := -1
	for j, c := range l.Columns {
		if strings.HasPrefix(words, of(c.Name, "")) && (best < 0 || len(c.Name) > len(l.Columns[best].Name)) {
			best = j
		}
	}
	return best
}

// addLevel adds the next number about columns i and j, in the order of Rows.
func addLevel(l *law.Law, r Row, i, j int) {
	if r.Statistic == GroupScore {
		l.Groups = addScore(l.Groups, r, i, j)
		return
	}
	coded := []int{j}
	if r.Statistic == JointShare {
		coded = append(coded, i)
	}
	for _, c := range coded {
		if !slices.Contains(l.Coded, c) {
			l.Coded = append(l.Coded, c)
		}
	}
	if r.Statistic == JointShare {
		at := slices.IndexFunc(l.Pairs, func(p law.Pair) bool { return p.Of == [2]int{i, j} })
		if at < 0 {
			at = len(l.Pairs)
			l.Pairs = append(l.Pairs, law.Pair{Of: [2]int{i, j}, SD: r.NoiseSD})
		}
		l.Pairs[at].Shares = append(l.Pairs[at].Shares, r.Value)
		return
	}
	l.Within = addScore(l.Within, r, i, j)
}

// addScore adds the score of the next level of category j to those of column i.
func addScore(list []law.Within, r Row, i, j int) []law.Within {
	at := slices.IndexFunc(list, func(w law.Within) bool { return w.Column == i && w.Category == j })
	if at < 0 {
		at = len(list)
		list = append(list, law.Within{Column: i, Category: j})
	}
	w := &list[at]
	w.Mean, w.SD = append(w.Mean, r.Value), append(w.SD, r.NoiseSD)
	return list
}

// addCorrelation adds that of columns i and j.
func addCorrelation(l *law.Law, r Row, i, j int) {
	n := len(l.Columns)
	if l.Correlation == nil {
		l.Correlation, l.CorrelationSD = make([]float64, n*n), make([]float64, n*n)
		for k := range n {
			l.Correlation[k*n+k] = 1
		}
	}
	set(l.Correlation, n, i, j, r.Value)
	set(l.CorrelationSD, n, i, j, r.NoiseSD)
}

// addSDWithin adds to the scores of column i by groups how it varies within them.
func addSDWithin(l *law.Law, r Row, i int) error {
	for k := range l.Groups {
		if w := &l.Groups[k]; w.Column == i && l.Columns[w.Category].Name == r.Of {
			w.Rest, w.RestSD = r.Value, r.NoiseSD
			return nil
		}
	}
	return fmt.Errorf("table 1: column %s has no scores by %s", r.Column, r.Of)
}

// addShare adds the share of a level, or of a cell or part with its ends. The first part of a cell takes
// the place of the cell.
func addShare(c *law.Column, r Row) error {
	if r.Statistic == Share {
		c.Shares, c.ShareSD = append(c.Shares, r.Value), append(c.ShareSD, r.NoiseSD)
		return nil
	}
	from, to, _ := strings.Cut(r.Of, " to ")
	low, errLow := strconv.ParseFloat(from, 64)
	high, errHigh := strconv.ParseFloat(to, 64)
	if errLow != nil || errHigh != nil || !(low <= high) {
		return fmt.Errorf("table 1: %q of column %s is no cell", r.Of, r.Column)
	}
	last := len(c.Shares)
	switch {
	case r.Statistic == Cell:
		c.Counted = append(c.Counted, law.Counted{Parts: 1, Share: r.Value, SD: r.NoiseSD})
	case c.Counted == nil:
		return fmt.Errorf("table 1: part %q of column %s has no cell", r.Of, r.Column)
	case low < c.Edges[last]:
		c.Edges, c.Shares, c.ShareSD = c.Edges[:last], c.Shares[:last-1], c.ShareSD[:last-1]
	default:
		c.Counted[len(c.Counted)-1].Parts++
	}
	if c.Edges == nil {
		c.Edges = []float64{low}
	}
	c.Edges = append(c.Edges, high)
	c.Shares, c.ShareSD = append(c.Shares, r.Value), append(c.ShareSD, cmp.Or(r.ShapeSD, r.NoiseSD))
	return nil
}
