package privacy

import (
	"fmt"
	"runtime"
	"sync"

	"d3p/internal/models/encoding"
	"d3p/internal/privacy/internal/records"
)

// Columns are the records of a data set in the form that counts and moments need. Several
// curators may hold them.
type Columns struct {
	cfg   TableConfig
	once  sync.Once
	rows  *Rows
	check records.Check
	files digest
	err   error
}

// NewColumns returns the columns that cfg.Encoding reads. The first release reads them.
func NewColumns(cfg TableConfig) *Columns {
	if cfg.MaxMemory == 0 {
		cfg.MaxMemory = physicalMemory()
	}
	return &Columns{cfg: cfg}
}

func (c *Columns) read() error {
	c.once.Do(func() {
		opt := c.cfg.options()
		opt.Codes = true
		c.rows, c.check, c.files, c.err = c.cfg.read(c.cfg.Encoding, opt)
	})
	return c.err
}

// Table is the table of the same records, which the columns give up.
func (c *Columns) Table() *Table {
	t := NewTable(c.cfg)
	t.once.Do(func() {
		t.err = c.read()
		t.rows, t.check, t.files, c.rows = c.rows, c.check, c.files, nil
		if t.err == nil {
			t.rows.Finish()
		}
	})
	return t
}

// ReadColumns reads the columns, on all ranks, unless it has. The data check counts the
// effects of the declared rules.
func (c *Curator) ReadColumns() error {
	if c.columnsRead {
		return nil
	}
	err := c.columns.read()
	err = c.keep(&c.columns.check, err)
	if err = ready(c.ranks, err); err == nil {
		err = agree(c.ranks, c.columns.files, errFilesDiffer)
	}
	c.columnsRead = err == nil
	return err
}

// Format prints a fixed text for every verb: no log may show a record.
func (c *Columns) Format(f fmt.State, _ rune) { fmt.Fprint(f, "privacy.Columns(secret)") }

// find is a column of the file.
func (c *Columns) find(name string) (encoding.Field, error) {
	for _, f := range c.cfg.Encoding.Columns() {
		switch {
		case f.Column != name:
		case f.Kind == encoding.Quantile:
			return f, fmt.Errorf("privacy: column %s is encoded by its quantiles", name)
		default:
			return f, nil
		}
	}
	return encoding.Field{}, fmt.Errorf("privacy: the model reads no column %s", name)
}

// coded is the rows' codes of a column that find has found.
func (c *Columns) coded(name string) *records.CodedColumn {
	for i := range c.rows.Codes.Columns {
		if k := &c.rows.Codes.Columns[i]; k.Field.Column == name {
			return k
		}
	}
	panic("privacy: no codes of column " + name)
}

// A part of a sum: numbers that threads add to, each its own.
type sums [][]int64

// add sets s to s + other.
func (s sums) add(other sums) {
	for i := range s {
		for j, x := range other[i] {
			s[i][j] += x
		}
	}
}

// leastRecords is the least number of records for a thread.
const leastRecords = 1 << 14

// over is the sum of what work adds for records low to before high, on all processors. Sums
// of whole numbers do not depend on the order.
func (c *Columns) over(empty func() sums, work func(to sums, low, high int)) sums {
	n := c.rows.N
	threads := max(1, min(runtime.GOMAXPROCS(0), n/leastRecords))
	all := make([]sums, threads)
	var wait sync.WaitGroup
	for k := range all {
		all[k] = empty()
		wait.Go(func() { work(all[k], n*k/threads, n*(k+1)/threads) })
	}
	wait.Wait()
	for _, s := range all[1:] {
		all[0].add(s)
	}
	return all[0]
}

// rowsOf appends the rows of record i that are there, or that are usable, to list.
func (c *Columns) rowsOf(list []int, i int, usable bool) []int {
	codes := c.rows.Codes
	for r := range codes.Most {
		state := records.RowState(codes.Row(i, r)[0])
		if state == records.UsableRow || state == records.RejectedRow && !usable {
			list = append(list, r)
		}
	}
	return list
}

// number is the value of row r of record i in a column of the table's rows.
func number(rows *Rows, i, r, column int) float64 {
	return rows.Number(i, r*rows.Codes.Width+column)
}
