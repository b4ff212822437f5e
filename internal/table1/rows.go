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
}

// Statistic is the statistic of a Row.
type Statistic string

// The statistics. Mean and SD are in the unit after the declared transform, quantiles in
// the unit of the file. Shares of levels and cells are among the rows with a value.
const (
	Units       Statistic = "units"
	Share       Statistic = "share"
	Missing     Statistic = "missing"
	Undeclared  Statistic = "undeclared"
	Mean        Statistic = "mean"
	SD          Statistic = "sd"
	Quartile1   Statistic = "quartile 1"
	Median      Statistic = "median"
	Quartile3   Statistic = "quartile 3"
	Cell        Statistic = "cell"
	Correlation Statistic = "correlation"
	// JointShare is the share of a level of the column together with a level of another
	// one, MeanScore the mean normal score of the column in a level of another one.
	JointShare Statistic = "joint share"
	MeanScore  Statistic = "mean score"
	// GroupScore is the normal score of the column in a level of the category within which it
	// is constant.
	GroupScore Statistic = "group score"
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
			rows = append(rows, Row{c.Name, s, of, value, noise})
		}
		if c.Edges == nil {
			for k, level := range d.Column(c.Name).LevelNames() {
				add(Share, level, c.Shares[k], c.ShareSD[k])
			}
			add(Undeclared, "", c.Undeclared, c.UndeclaredSD)
		} else {
			mean, sd := c.Moments()
			meanSD, sdSD := c.MomentsSD()
			hiddenMean, hiddenSD := hiddenRecords(c, sd, d.Column(c.Name))
			add(Mean, "", mean, math.Hypot(meanSD, hiddenMean))
			add(SD, "", sd, math.Hypot(sdSD, hiddenSD))
			add(Quartile1, "", c.Quantile(0.25), c.QuantileSD(0.25))
			add(Median, "", c.Quantile(0.5), c.QuantileSD(0.5))
			add(Quartile3, "", c.Quantile(0.75), c.QuantileSD(0.75))
			for k, share := range c.Shares {
				add(Cell, number(c.Edges[k])+" to "+number(c.Edges[k+1]), share, c.ShareSD[k])
			}
		}
		add(Missing, "", c.Missing, c.MissingSD)
	}
	n := len(l.Columns)
	for i := range l.Columns {
		for j := range i {
			if l.Correlation != nil && l.CorrelationSD[i*n+j] > 0 {
				rows = append(rows, Row{l.Columns[j].Name, Correlation, l.Columns[i].Name, l.Correlation[i*n+j], l.CorrelationSD[i*n+j]})
			}
		}
	}
	for _, p := range l.Pairs {
		first, second := l.Columns[p.Of[0]].Name, l.Columns[p.Of[1]].Name
		others := d.Column(second).LevelNames()
		for i, level := range d.Column(first).LevelNames() {
			for j, other := range others {
				rows = append(rows, Row{first, JointShare, of(second, level+", "+other), p.Shares[i*len(others)+j], p.SD})
			}
		}
	}
	rows = append(rows, scoresOf(l, l.Within, MeanScore, d)...)
	rows = append(rows, scoresOf(l, l.Groups, GroupScore, d)...)
	for i := range rows {
		rows[i].Value, rows[i].NoiseSD = digits(rows[i].Value), digits(rows[i].NoiseSD)
	}
	return rows
}

// scoresOf are the rows of scores by level.
func scoresOf(l *law.Law, list []law.Within, s Statistic, d *data.Data) (rows []Row) {
	for _, w := range list {
		category := l.Columns[w.Category].Name
		for k, level := range d.Column(category).LevelNames() {
			rows = append(rows, Row{l.Columns[w.Column].Name, s, of(category, level), w.Mean[k], w.SD[k]})
		}
	}
	return rows
}

// hiddenRecords is a part of the noise of the mean and of the standard deviation sd that readers
// are told. In a column much narrower than declared the noise of a count may hide records at the
// declared scale, such as a few ones beside zeros. Nothing that is bought shows them, and they
// move both numbers. A fit goes by the law without them: if the declaration is too wide, there are
// none. The bounds alone say less: of a column much narrower than them it must be nearly constant.
func hiddenRecords(c *law.Column, sd float64, d *data.Column) (ofMean, ofSD float64) {
	_, scale := d.Scale()
	narrow := clippedAt
	if !d.By.IsSet() {
		narrow = constantAt
	} else if d.Whole() {
		return 0, 0
	}
	if sd*narrow >= scale {
		return 0, 0
	}
	share := c.MissingSD // the noise of any share
	return share * scale, math.Sqrt(sd*sd+share*scale*scale) - sd
}

// constantAt times its standard deviation is less than that of the uniform on the bounds where a
// column is nearly constant.
const constantAt = 40

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
