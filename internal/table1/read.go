package table1

import (
	"fmt"
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
	at := make(map[string]int)
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
		case Share, Cell:
			if err := addShare(&l.Columns[i], r); err != nil {
				return nil, err
			}
		case Correlation:
			j, known := at[r.Of]
			if !known {
				return nil, fmt.Errorf("table 1: the model has no column %s", r.Of)
			}
			if l.Correlation == nil {
				l.Correlation, l.CorrelationSD = make([]float64, n*n), make([]float64, n*n)
				for k := range n {
					l.Correlation[k*n+k] = 1
				}
			}
			set(l.Correlation, n, i, j, r.Value)
			set(l.CorrelationSD, n, i, j, r.NoiseSD)
		}
	}
	if l.Correlation != nil {
		makePositive(l.Correlation, n) // rounded
	}
	return l, l.Bind(d)
}

// addShare adds the share of a level, or of a cell with its ends.
func addShare(c *law.Column, r Row) error {
	c.Shares, c.ShareSD = append(c.Shares, r.Value), append(c.ShareSD, r.NoiseSD)
	if r.Statistic == Share {
		return nil
	}
	from, to, _ := strings.Cut(r.Of, " to ")
	low, errLow := strconv.ParseFloat(from, 64)
	high, errHigh := strconv.ParseFloat(to, 64)
	if errLow != nil || errHigh != nil || !(low <= high) {
		return fmt.Errorf("table 1: %q of column %s is no cell", r.Of, r.Column)
	}
	if c.Edges == nil {
		c.Edges = []float64{low}
	}
	c.Edges = append(c.Edges, high)
	return nil
}
