package table1

import (
	"math"
	"strconv"

	"d3p/internal/models/data"
	"d3p/internal/models/law"
)

// Row is a number of Table 1 with the standard deviation of its noise.
type Row struct {
	Column    string    `json:"column"`
	Statistic Statistic `json:"statistic"`
	// Of is the level of a share, the ends of a cell, or the other column.
	Of      string  `json:"of,omitempty"`
	Value   float64 `json:"value"`
	NoiseSD float64 `json:"noise_sd"`
	// Low and High are the limits of a mean, a standard deviation and a quartile, see law.Limits.
	// NoiseSD is then the larger distance from them. ShapeSD is the error of a mean, a standard
	// deviation, a cell and a part of one if the column has a shape of those that Table 1 knows: a fit goes by it.
	Low     *float64 `json:"low,omitempty"`
	High    *float64 `json:"high,omitempty"`
	ShapeSD float64  `json:"shape_sd,omitempty"`
	// Open marks a standard deviation that records far out may have made larger, see law.Limits.
	Open bool `json:"open,omitempty"`
}

// Statistic is the statistic of a Row.
type Statistic string

// The statistics. Mean and SD are in the unit after the declared transform, quantiles in
// the unit of the file. Shares of levels and cells are among the rows with a value.
const (
	Units      Statistic = "units"
	Share      Statistic = "share"
	Missing    Statistic = "missing"
	Undeclared Statistic = "undeclared"
	Mean       Statistic = "mean"
	SD         Statistic = "sd"
	Quartile1  Statistic = "quartile 1"
	Median     Statistic = "median"
	Quartile3  Statistic = "quartile 3"
	Cell       Statistic = "cell"
	// Correlation is that of two columns' normal scores; of numbers that have an OwnShare, that of the
	// numbers.
	Correlation Statistic = "correlation"
	// Part is the share of a part of the cell before it, by the shape of the column.
	Part Statistic = "part"
	// JointShare is the share of a level of the column together with a level of another
	// one, MeanScore the mean normal score of the column in a level of another one.
	JointShare Statistic = "joint share"
	MeanScore  Statistic = "mean score"
	// GroupScore is the normal score of the column in a level of the category within which it
	// is constant, or may be: its mean.
	GroupScore Statistic = "group score"
	// SDWithin is the standard deviation of the column's normal score, 1 over all records, among
	// those of one level of a category.
	SDWithin Statistic = "sd within"
	// OwnShare is the part of a number's variance that the other numbers do not explain: 1 less R² of
	// its linear regression on them.
	OwnShare Statistic = "own share"
)

// Rows are the numbers of a law that was bought, for readers: the columns that the
// purchase was about, in the order of the model file.
func Rows(l *law.Law, d *data.Data) []Row {
	rows := []Row{{Statistic: Units, Value: l.Records, NoiseSD: l.RecordsSD}}
	for i := range l.Columns {
		c := &l.Columns[i]
		if c.Shares == nil {
			continue
		}
		add := func(s Statistic, of string, value, noise float64) {
			rows = append(rows, Row{Column: c.Name, Statistic: s, Of: of, Value: value, NoiseSD: noise})
		}
		if c.Edges == nil {
			for k, level := range d.Column(c.Name).LevelNames() {
				add(Share, level, c.Shares[k], c.ShareSD[k])
			}
			add(Undeclared, "", c.Undeclared, c.UndeclaredSD)
		} else {
			rows = append(rows, numbers(c, columnOf(d.Column(c.Name)))...)
			rows = append(rows, cells(c)...)
		}
		add(Missing, "", c.Missing, c.MissingSD)
		if c.OwnSD > 0 {
			add(OwnShare, "", c.Own, c.OwnSD)
		}
	}
	n := len(l.Columns)
	for i := range l.Columns {
		for j := range i {
			if l.Correlation != nil && l.CorrelationSD[i*n+j] > 0 {
				rho, sd := l.Correlated(i, j)
				rows = append(rows, Row{Column: l.Columns[j].Name, Statistic: Correlation, Of: l.Columns[i].Name, Value: rho, NoiseSD: sd})
			}
		}
	}
	for _, p := range l.Pairs {
		first, second := l.Columns[p.Of[0]].Name, l.Columns[p.Of[1]].Name
		others := d.Column(second).LevelNames()
		for i, level := range d.Column(first).LevelNames() {
			for j, other := range others {
				rows = append(rows, Row{Column: first, Statistic: JointShare, Of: of(second, level+", "+other), Value: p.Shares[i*len(others)+j], NoiseSD: p.SD})
			}
		}
	}
	rows = append(rows, scoresOf(l, l.Within, MeanScore, d)...)
	rows = append(rows, scoresOf(l, l.Groups, GroupScore, d)...)
	for _, w := range l.Groups {
		if name := l.Columns[w.Column].Name; d.Group(d.Column(name)) == nil {
			rows = append(rows, Row{Column: name, Statistic: SDWithin, Of: l.Columns[w.Category].Name, Value: w.Rest, NoiseSD: w.RestSD})
		}
	}
	for i := range rows {
		rows[i].Value, rows[i].NoiseSD = digits(rows[i].Value), digits(rows[i].NoiseSD)
	}
	return rows
}

// numbers are the rows of the mean, the standard deviation and the quartiles of a column.
func numbers(c *law.Column, of column) []Row {
	mean, sd := c.Moments()
	meanSD, sdSD := c.MomentsSD()
	rows := []Row{
		{Column: c.Name, Statistic: Mean, Value: mean, NoiseSD: meanSD}, {Column: c.Name, Statistic: SD, Value: sd, NoiseSD: sdSD},
		{Column: c.Name, Statistic: Quartile1, Value: c.Quantile(0.25)},
		{Column: c.Name, Statistic: Median, Value: c.Quantile(0.5)},
		{Column: c.Name, Statistic: Quartile3, Value: c.Quantile(0.75)},
	}
	if l := c.Limits; l != nil {
		rows[0].limit([2]float64{l.MeanLow, l.MeanHigh}, of.lower, of.upper)
		rows[1].limit([2]float64{l.SDLow, l.SDHigh}, 0, (of.upper-of.lower)/2)
		rows[1].Open = l.Open
		for k, quartile := range l.Quartiles {
			r := &rows[2+k]
			r.Value = min(max(r.Value, quartile[0]), quartile[1])
			r.limit(quartile, of.rawLower, of.rawUpper)
		}
	}
	return rows
}

// cells are the rows of the counted cells of a column of numbers, each before those of its parts if there
// are several. NoiseSD holds whatever the shape of the column.
func cells(c *law.Column) (rows []Row) {
	counted, list := c.AsCounted(), c.Counted
	add := func(s Statistic, edges []float64, share, noise, shape float64) {
		rows = append(rows, Row{Column: c.Name, Statistic: s, Of: number(edges[0]) + " to " + number(edges[1]), Value: share, NoiseSD: noise, ShapeSD: digits(shape)})
	}
	next := 0
	for k, share := range counted.Shares {
		if list == nil || list[k].Parts == 1 {
			add(Cell, counted.Edges[k:], share, counted.ShareSD[k], c.ShareSD[next])
			next++
			continue
		}
		add(Cell, counted.Edges[k:], share, counted.ShareSD[k], 0)
		for range list[k].Parts {
			add(Part, c.Edges[next:], c.Shares[next], law.PartSD(c.Shares[next], share, counted.ShareSD[k]), c.ShareSD[next])
			next++
		}
	}
	return rows
}

// limit gives r, whose noise is that of a known shape, its limits, within bounds.
func (r *Row) limit(limits [2]float64, lower, upper float64) {
	r.ShapeSD = digits(r.NoiseSD)
	low := min(r.Value, max(lower, min(limits[0], r.Value-limitReach*r.NoiseSD)))
	high := max(r.Value, min(upper, max(limits[1], r.Value+limitReach*r.NoiseSD)))
	r.NoiseSD = max(r.Value-low, high-r.Value) / limitReach
	low, high = digits(low), digits(high)
	r.Low, r.High = &low, &high
}

// scoresOf are the rows of scores by level.
func scoresOf(l *law.Law, list []law.Within, s Statistic, d *data.Data) (rows []Row) {
	for _, w := range list {
		category := l.Columns[w.Category].Name
		for k, level := range d.Column(category).LevelNames() {
			rows = append(rows, Row{Column: l.Columns[w.Column].Name, Statistic: s, Of: of(category, level), Value: w.Mean[k], NoiseSD: w.SD[k]})
		}
	}
	return rows
}

// of names levels of another column.
func of(column, levels string) string { return column + ": " + levels }

func number(x float64) string { return strconv.FormatFloat(digits(x), 'g', -1, 64) }

// digits rounds to six significant digits: no more are known.
func digits(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	unit := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(x))))
	if math.IsInf(unit, 0) || unit == 0 {
		return x
	}
	return math.Round(x*unit) / unit
}
