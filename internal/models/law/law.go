// Package law describes the public distribution of the columns of records, from
// declarations alone or bought from the records. Simulated records take their covariates
// from it.
package law

import (
	"errors"
	"fmt"
	"slices"

	"d3p/internal/models/data"
)

// Law is the public joint distribution of the columns of usable rows: marginals,
// and a Gaussian copula that ties them together.
type Law struct {
	// Records is the number of units with a usable row, RecordsSD the standard deviation of
	// its noise. RecordsSD is 0 if the number is declared.
	Records   float64 `json:"records"`
	RecordsSD float64 `json:"records_sd"`
	// Columns are all columns of the file, in the order of data.AllColumns.
	Columns []Column `json:"columns"`
	// Correlation is the positive definite correlation matrix of the columns'
	// normal scores, [len(Columns) x len(Columns)], row-major; nil: independent.
	// The score of a level follows the order of the levels.
	Correlation []float64 `json:"correlation,omitempty"`
	// CorrelationSD is the standard deviation of the noise of each correlation.
	CorrelationSD []float64 `json:"correlation_sd,omitempty"`
	// Coded are the columns of levels that are drawn jointly, as Pairs states, before the
	// scores of the other columns. Within is the law of the other scores among the records
	// of these levels. The correlations of coded columns are 0.
	Coded  []int    `json:"coded,omitempty"`
	Pairs  []Pair   `json:"pairs,omitempty"`
	Within []Within `json:"within,omitempty"`
	// Groups are what is known of the scores of columns that are constant within a category, or may
	// be, by level of that category.
	Groups []Within `json:"groups,omitempty"`
	// Rows are the shares of units with 1, 2, ... rows; nil where they are not known.
	Rows []float64 `json:"-"`
	// Closer is the result of a closer look at columns of numbers; nil if none was bought.
	Closer *Closer `json:"closer,omitempty"`

	shared *shared
}

// Column is the distribution of one column.
type Column struct {
	Name string `json:"name"`
	// Edges are the ends of the cells of a histogram, in the unit of the file: one
	// more than there are cells. Within a cell numbers are uniform. Nil for levels.
	Edges []float64 `json:"edges,omitempty"`
	// Shares are the shares of the cells or of the declared levels among the rows with a
	// value; nil if only the declaration is known. They add up to 1.
	Shares []float64 `json:"shares,omitempty"`
	// ShareSD is the standard deviation of the noise of each share.
	ShareSD []float64 `json:"share_sd,omitempty"`
	// Counted are the counted cells, in order, whose parts are the cells between Edges; nil of levels, and
	// where each cell was counted by itself with the noise ShareSD.
	Counted []Counted `json:"counted,omitempty"`
	// AsDeclared means that the counts agree with the declared scale: the shares are drawn
	// towards those of its normal.
	AsDeclared bool `json:"as_declared,omitempty"`
	// ShiftSD is the standard deviation of what is not known of the mean, in standard
	// deviations of the column, and ScaleSD that of the log of the standard deviation; 0
	// where ShareSD is all that is known of the error.
	ShiftSD float64 `json:"shift_sd,omitempty"`
	ScaleSD float64 `json:"scale_sd,omitempty"`
	// Limits are those of mean and standard deviation wherever records are that no count
	// shows; nil of levels.
	Limits *Limits `json:"limits,omitempty"`
	// Missing is the share of rows without a value, MissingSD its noise.
	Missing   float64 `json:"missing,omitempty"`
	MissingSD float64 `json:"missing_sd,omitempty"`
	// Undeclared is the share of rows with a level that is not declared, UndeclaredSD
	// its noise.
	Undeclared   float64 `json:"undeclared,omitempty"`
	UndeclaredSD float64 `json:"undeclared_sd,omitempty"`

	// Own is the part of the variance that the other columns of the closer look do not explain, OwnSD
	// what is not known of it; 0 without one.
	Own   float64 `json:"own,omitempty"`
	OwnSD float64 `json:"own_sd,omitempty"`

	declared *data.Column
	rejects  bool   // a row without a value is not usable
	group    int    // the place of the group column within which it is constant; -1: none
	deal     uint64 // which values its groups have where they are not known
}

// Counted is a counted cell of a column: the number of its parts, the share that its count has of the
// rows with a value, and the standard deviation of the noise of that share.
type Counted struct {
	Parts int     `json:"parts"`
	Share float64 `json:"share"`
	SD    float64 `json:"sd"`
}

// Limits are limits of the mean and of the standard deviation of a column, in the unit after the
// declared transform, and the lower and upper ones of quartiles, in that of the file. Each holds in 95 of
// 100 purchases.
type Limits struct {
	MeanLow   float64       `json:"mean_low"`
	MeanHigh  float64       `json:"mean_high"`
	SDLow     float64       `json:"sd_low"`
	SDHigh    float64       `json:"sd_high"`
	Quartiles [3][2]float64 `json:"quartiles"`
	// Open reports that counts show more records far out than the column has.
	Open bool `json:"open,omitempty"`
}

// RowsPerUnit is the mean number of rows of a unit, 1 where it is not known.
func (l *Law) RowsPerUnit() float64 {
	if l.Rows == nil {
		return 1
	}
	sum := 0.0
	for i, share := range l.Rows {
		sum += share * float64(i+1)
	}
	return sum
}

// Declared is the law that the declarations suggest: a number is normal at its
// declared scale, moved to the nearest bound, or uniform on its bounds if no
// scale is declared; levels have equal shares; columns are independent.
func Declared(d *data.Data) *Law {
	l := &Law{Records: float64(d.Rows.N()), shared: &shared{}}
	columns := d.AllColumns()
	l.Columns = make([]Column, len(columns))
	for i, c := range columns {
		l.Columns[i].Name = c.Name.V
		l.Columns[i].bind(d, columns, c)
	}
	return l
}

// bind gives a column its declaration, c among columns.
func (own *Column) bind(d *data.Data, columns []*data.Column, c *data.Column) {
	own.declared, own.rejects, own.group = c, Rejects(d, c), -1
	if g := d.Group(c); g != nil {
		own.group = slices.Index(columns, g)
	}
}

// Bind gives a law that was read from a file the declarations that it belongs to.
// It returns an error if they declare other columns.
func (l *Law) Bind(d *data.Data) error {
	columns := d.AllColumns()
	if len(columns) != len(l.Columns) {
		return fmt.Errorf("the law has %d columns, the model file declares %d", len(l.Columns), len(columns))
	}
	for i, c := range columns {
		own := &l.Columns[i]
		if own.Name != c.Name.V {
			return fmt.Errorf("column %d of the law is %s, that of the model file %s", i+1, own.Name, c.Name.V)
		}
		if !c.Numeric() && own.Shares != nil && len(own.Shares) != len(c.Levels) {
			return fmt.Errorf("the law has %d levels of column %s, the model file declares %d", len(own.Shares), c.Name.V, len(c.Levels))
		}
		if !own.countsAll() {
			return fmt.Errorf("the law has counted cells of column %s that are not those of its histogram", c.Name.V)
		}
		own.bind(d, columns, c)
	}
	l.shared = &shared{}
	if err := l.checkCloser(); err != nil {
		return err
	}
	return l.checkLevels()
}

// checkLevels returns an error if the law's parts about coded columns do not fit its
// columns.
func (l *Law) checkLevels() error {
	size := func(i int) int {
		if i < 0 || i >= len(l.Columns) || l.Columns[i].declared.Numeric() {
			return -1
		}
		return len(l.Columns[i].declared.Levels)
	}
	for _, i := range l.Coded {
		if size(i) < 0 {
			return fmt.Errorf("the law codes the levels of column %d, which has none", i+1)
		}
	}
	for _, p := range l.Pairs {
		if !slices.Contains(l.Coded, p.Of[0]) || !slices.Contains(l.Coded, p.Of[1]) || p.Of[0] == p.Of[1] || len(p.Shares) != size(p.Of[0])*size(p.Of[1]) {
			return fmt.Errorf("the law has a table of columns %d and %d that does not fit their levels", p.Of[0]+1, p.Of[1]+1)
		}
	}
	for _, w := range l.Within {
		if !slices.Contains(l.Coded, w.Category) || w.Column < 0 || w.Column >= len(l.Columns) || len(w.Mean) != size(w.Category) || len(w.SD) != len(w.Mean) {
			return fmt.Errorf("the law has means within column %d that do not fit its levels", w.Category+1)
		}
	}
	for _, w := range l.Groups {
		if size(w.Category) < 0 || size(w.Column) >= 0 || w.Column < 0 || w.Column >= len(l.Columns) || len(w.Mean) != size(w.Category) || len(w.SD) != len(w.Mean) ||
			l.Columns[w.Column].group >= 0 && l.Columns[w.Column].group != w.Category {
			return fmt.Errorf("the law has values of groups that do not fit column %d", w.Column+1)
		}
	}
	return nil
}

// checkCloser returns an error if the closer look does not fit the law's columns.
func (l *Law) checkCloser() error {
	c := l.Closer
	if c == nil {
		return nil
	}
	size := len(c.Columns) * len(c.Columns)
	if len(c.Basis) != size || len(c.Moments) != size || len(c.SD) != size || len(c.Correlation) != size || len(c.CorrelationSD) != size ||
		slices.ContainsFunc(c.Columns, func(i int) bool { return i < 0 || i >= len(l.Columns) || !l.Columns[i].declared.Numeric() }) {
		return errors.New("the law has a closer look that does not fit its columns")
	}
	return nil
}

// Copy is a law like l whose columns and correlations may be changed.
func (l *Law) Copy() *Law {
	out := *l
	out.Columns, out.Correlation, out.shared = slices.Clone(l.Columns), slices.Clone(l.Correlation), &shared{}
	return &out
}

// AsBought is a copy of l that is drawn from with the correlations that were bought, not with
// cautious ones.
func (l *Law) AsBought() *Law {
	out := l.Copy()
	out.CorrelationSD = nil
	if l.Closer != nil {
		out.Closer = l.Closer.noiseless()
	}
	return out
}

// Bought reports whether any column's distribution was bought.
func (l *Law) Bought() bool {
	return slices.ContainsFunc(l.Columns, func(c Column) bool { return c.Shares != nil })
}

// Column returns the column of that name, or nil.
func (l *Law) Column(name string) *Column {
	for i := range l.Columns {
		if l.Columns[i].Name == name {
			return &l.Columns[i]
		}
	}
	return nil
}

// Rejects reports whether a row without a value of the column is not usable.
func Rejects(d *data.Data, c *data.Column) bool {
	rule := d.MissingOf(c).Rule
	return rule != data.MissingImpute && rule != data.MissingModel
}
