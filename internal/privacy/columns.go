package privacy

import (
	"errors"
	"fmt"
	"sync"

	"d3p/internal/atomicfile"
	"d3p/internal/models/encoding"
	"d3p/internal/privacy/internal/records"
	"d3p/internal/privacy/noise"
)

// Columns are the columns of a data set as the file has them, from which a curator
// releases counts and moments. They are read apart from the Table of a fit, whose
// encoding may depend on what was released here. Several curators may hold them.
type Columns struct {
	cfg   TableConfig
	once  sync.Once
	rows  *Rows
	check records.Check
	err   error
}

// NewColumns returns the columns that cfg.Encoding reads. The first release reads them.
func NewColumns(cfg TableConfig) *Columns {
	if cfg.MaxMemory == 0 {
		cfg.MaxMemory = physicalMemory()
	}
	return &Columns{cfg: cfg}
}

// selection is the child of a root that chooses the rows of units for Columns: other
// random numbers than a Table with the same root takes.
const selection = 1 << 33

func (c *Columns) read() error {
	c.once.Do(func() {
		c.rows, c.check, c.err = c.cfg.read(c.cfg.Encoding.Raw(), records.Options{
			Precision: Float64, MaxMemory: c.cfg.MaxMemory,
			Selection: c.cfg.Root.Child(selection).Stream(noise.RowSelection),
		})
	})
	return c.err
}

// readColumns reads the columns. Where they cannot be read, the data check says why, as
// it does for a table.
func (c *Curator) readColumns() error {
	err := c.columns.read()
	if err != nil && c.private != nil {
		check := c.columns.check
		err = errors.Join(err, atomicfile.WriteIn(c.private, DataCheckName, 0o600, check.Write))
	}
	return err
}

// Format prints a fixed text for every verb: no log may show a record.
func (c *Columns) Format(f fmt.State, _ rune) { fmt.Fprint(f, "privacy.Columns(secret)") }

// find is the place of a column of the file, and a field that says what it is.
func (c *Columns) find(name string) (at int, f encoding.Field, err error) {
	for i, f := range c.cfg.Encoding.Columns() {
		if f.Column == name {
			return 2 * i, f, nil
		}
	}
	return 0, f, fmt.Errorf("privacy: the model reads no column %s", name)
}

// eachUnit calls use with the rows of every unit. They are valid during the call. A
// unit has at most Encoding.RowsPerUnit rows, and may have none.
func (c *Columns) eachUnit(use func(rows [][]float64)) {
	e := c.cfg.Encoding
	k, width := e.Raw().K, c.rows.K
	record, unit := make([]float64, width), make([][]float64, 0, max(e.RowsPerUnit, 1))
	for i := range c.rows.N {
		unit = unit[:0]
		if c.rows.Valid[i] {
			c.rows.Row(i, record)
			if e.RowsPerUnit <= 1 {
				unit = append(unit, record[:k])
			} else {
				for at := 0; at < width; at += k + 1 {
					if record[at+k] == 1 {
						unit = append(unit, record[at:at+k])
					}
				}
			}
		}
		use(unit)
	}
}

// usable returns what says whether the declared rules take a row into a fit.
func (c *Columns) usable() func(row []float64) bool {
	fields := c.cfg.Encoding.Columns()
	return func(row []float64) bool {
		for i := range fields {
			f, x, absent := &fields[i], row[2*i], row[2*i+1] == 1
			switch {
			case absent:
				if f.Missing != encoding.MissingImpute {
					return false
				}
			case f.Levels != nil:
				if int(x) == len(f.Levels) { // undeclared
					return false
				}
			case f.RejectOutside:
				if f.Lower != nil && x < *f.Lower || f.Upper != nil && x > *f.Upper {
					return false
				}
			}
		}
		return true
	}
}
