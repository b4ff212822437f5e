package records

import (
	"slices"

	"d3p/internal/models/encoding"
	"d3p/internal/privacy/internal/records/storage"
)

// Codes hold the level of every cell, and whether the cell has a value, beside the encoded
// numbers. Counts and moments need both, also of rejected rows. A table has them until
// Finish.
type Codes struct {
	Columns []CodedColumn
	// Most is the number of rows of a record, Width the number of a row's columns in
	// Rows.
	Most, Width int
	size        int           // bytes of a row
	room        *storage.Room // that has them; nil: the heap
	bytes       []byte        // row r of record i at (i·Most+r)·size: its state, then the codes
}

// CodedColumn is a column of the file.
type CodedColumn struct {
	Field encoding.Field
	// Number is the column of a row in Rows that has the number, -1 for levels.
	Number int
	at     int // of the code in a row's bytes, little end first
	width  int
	number field
	open   *textCodes // of a field with all levels
}

// Texts are the levels of a field with all of them, by code.
func (k *CodedColumn) Texts() []string { return k.open.names }

// RowState is the state of a row.
type RowState byte

// The states of rows. A malformed row counts as NoRow.
const (
	NoRow RowState = iota
	RejectedRow
	UsableRow
)

// newCodes returns the codes of an encoding, without rows.
func newCodes(e encoding.Encoding) *Codes {
	most := max(1, e.RowsPerUnit)
	c := &Codes{Most: most, Width: e.Width() / most, size: 1}
	for _, f := range e.Columns() {
		k := CodedColumn{Field: f, Number: -1, at: c.size, width: 1}
		if f.Levels == nil {
			k.Number, k.number = f.Out[0], resolve(f)
		} else {
			for n := (len(f.Levels) + 1) >> 8; n > 0; n >>= 8 {
				k.width++
			}
			if f.Open {
				k.width = 4
			}
		}
		c.size += k.width
		c.Columns = append(c.Columns, k)
	}
	return c
}

// alike are empty codes of the same columns, with one row per record.
func (c *Codes) alike() *Codes {
	if c == nil {
		return nil
	}
	other := *c
	other.Most, other.bytes, other.room = 1, nil, nil
	return &other
}

// reserve makes room for n records.
func (c *Codes) reserve(n int, at storage.Place) error {
	n *= c.Most * c.size
	var err error
	if c.room, err = storage.New(at, n); err != nil {
		return err
	}
	if c.room == nil {
		c.bytes = make([]byte, 0, n)
	} else {
		c.bytes = c.room.Bytes[:0]
	}
	return nil
}

// grow makes room for n more records, of no rows.
func (c *Codes) grow(n int) {
	if c != nil {
		at := len(c.bytes)
		c.bytes = slices.Grow(c.bytes, n*c.Most*c.size)[:at+n*c.Most*c.size]
		clear(c.bytes[at:])
	}
}

// Row are the state and the codes of row r of record i.
func (c *Codes) Row(i, r int) []byte {
	at := (i*c.Most + r) * c.size
	return c.bytes[at : at+c.size : at+c.size]
}

// Code is the code of a row in the column. For a number it is 0, or 1 without a value. For
// a level it is its index, len(Levels) for an undeclared one, and len(Levels)+1 without a
// value.
func (k *CodedColumn) Code(row []byte) int {
	code := int(row[k.at])
	for i := 1; i < k.width; i++ {
		code |= int(row[k.at+i]) << (8 * i)
	}
	return code
}

func (k *CodedColumn) set(row []byte, code int) {
	for i := range k.width {
		row[k.at+i] = byte(code >> (8 * i))
	}
}

// Missing is the code of a row without a value.
func (k *CodedColumn) Missing() int {
	if k.Number >= 0 {
		return 1
	}
	return len(k.Field.Levels) + 1
}

// Stored is the number that a table of this precision has for x.
func (k *CodedColumn) Stored(x float64, p Precision) float64 {
	x = k.number.encode(min(max(x, k.number.lower), k.number.upper))
	if p == Float32 {
		return float64(float32(x))
	}
	return x
}

// ofCell is the code of a cell by the rules of the column.
func (k *CodedColumn) ofCell(code int, declared, missing bool) int {
	if k.Number >= 0 {
		if missing {
			return 1
		}
		return 0
	}
	if !declared {
		code = k.Field.Unknown
	}
	switch {
	case code == encoding.UnknownReject:
		return len(k.Field.Levels)
	case code < 0:
		return len(k.Field.Levels) + 1
	}
	return code
}

// keepCodes has the codes of the table kept; at has the encoder's columns by name.
func (e *encoder) keepCodes(c *Codes, at map[string]int) {
	e.codes, e.noted = c, make([]byte, c.size)
	for i := range c.Columns {
		own := &e.columns[at[c.Columns[i].Field.Column]]
		own.coded = i
		if own.levels != nil {
			c.Columns[i].open = own.levels.open
		}
		for k := range own.fields {
			own.fields[k].noted = c.Columns[i].at
		}
	}
}

// state is the state of the current row.
func (e *encoder) state() RowState {
	switch {
	case !e.sound:
		return NoRow
	case e.valid:
		return UsableRow
	}
	return RejectedRow
}

// setCodes sets the codes of row r of record i.
func (r *Rows) setCodes(i, row int, codes []byte, state RowState) {
	if r.Codes == nil {
		return
	}
	to := r.Codes.Row(i, row)
	copy(to, codes)
	to[0] = byte(state)
}

// note keeps the code of a cell of the current row.
func (e *encoder) note(c *column, code int, declared, missing bool) {
	if e.codes != nil && c.coded >= 0 {
		k := &e.codes.Columns[c.coded]
		k.set(e.noted, k.ofCell(code, declared, missing))
	}
}

// Finish drops the codes and the numbers of rejected rows. Records then have the form that
// engines expect.
func (r *Rows) Finish() {
	c := r.Codes
	if c == nil {
		return
	}
	r.Codes = nil
	defer c.room.Free()
	if c.Most == 1 {
		r.clearInvalid(0)
		return
	}
	record := make([]float64, r.K)
	for i := range r.N {
		if !r.Valid[i] {
			r.Set(i, 0, make([]float64, c.Most*c.Width))
			continue
		}
		r.Row(i, record)
		for other := 1; other < c.Most; other++ {
			if RowState(c.Row(i, other)[0]) != UsableRow {
				copy(record[other*c.Width:(other+1)*c.Width], record[:c.Width])
				record[(other+1)*c.Width-1] = 0
			}
		}
		r.Set(i, 0, record[:c.Most*c.Width])
	}
}

// columnsOf copies the codes of `count` of the encoder's columns from first on to a row.
// Other calls copy the row's other columns; valid is the state so far.
func (e *encoder) columnsOf(row []byte, first, count int, valid bool) {
	for _, c := range e.columns[first : first+count] {
		if c.coded >= 0 {
			k := &e.codes.Columns[c.coded]
			for i := k.at; i < k.at+k.width; i++ {
				row[i] = e.noted[i]
			}
		}
	}
	row[0] = byte(RejectedRow)
	if valid {
		row[0] = byte(UsableRow)
	}
}

// Lower and Upper are the bounds of a number.
func (k *CodedColumn) Lower() float64 { return k.number.lower }

// Upper is the greater one.
func (k *CodedColumn) Upper() float64 { return k.number.upper }
