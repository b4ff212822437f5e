package records

import (
	"slices"

	"d3p/internal/privacy/internal/records/storage"
)

// A rowBuffer holds the encoded rows of one piece of the file. Threads encode pieces at the
// same time; take adds them to the table in the order of the file.
type rowBuffer struct {
	enc    *encoder // by the same rules, every row a record
	ids    []byte   // of the rows, one after the other, where units have ids
	idEnds []int
	before int // lines of the file before those of its rows
}

// newRowBuffer returns a buffer without rows.
func (e *encoder) newRowBuffer() rowBuffer {
	other := *e
	other.units, other.limit, other.row, other.columns = nil, 0, make([]float64, len(e.row)), slices.Clone(e.columns)
	for i := range other.columns {
		other.columns[i].ownTokenizers()
		other.columns[i].check, other.columns[i].places = ColumnCheck{}, nil // the table keeps the codes of earlier files
	}
	stride := e.rows.Stride
	if e.units != nil {
		stride = len(e.row)
	}
	other.rows = newRows(e.rows.Precision(), len(e.row), stride, storage.Place{})
	if e.units == nil {
		other.rows.Packing = e.rows.Packing
	}
	other.codes, other.noted = e.codes.alike(), make([]byte, len(e.noted))
	other.rows.Codes = other.codes
	return rowBuffer{enc: &other}
}

// empty removes all rows and keeps the memory.
func (p *rowBuffer) empty() {
	p.enc.rows.empty()
	p.ids, p.idEnds = p.ids[:0], p.idEnds[:0]
}

// identify takes the id of the current row as the file spells it.
func (p *rowBuffer) identify(cell []byte) { p.ids = append(p.ids, p.enc.idOf(cell)...) }

// idStart is the place in ids where the id of the current row begins.
func (p *rowBuffer) idStart() int {
	if len(p.idEnds) == 0 {
		return 0
	}
	return p.idEnds[len(p.idEnds)-1]
}

// end stores the current row.
func (p *rowBuffer) end() {
	p.idEnds = append(p.idEnds, len(p.ids))
	_ = p.enc.end() // only a limit can refuse it, and a buffer has none
}

// take adds the rows of a buffer to the table.
func (e *encoder) take(p *rowBuffer) error {
	e.takeChecks(p)
	rows := p.enc.rows
	if e.units == nil {
		if e.limit > 0 && e.rows.N+rows.N > e.limit {
			return errFull
		}
		return e.rows.append(rows)
	}
	start := 0
	for i, end := range p.idEnds {
		rows.Row(i, e.row)
		if rows.Codes != nil {
			copy(e.noted, rows.Codes.Row(i, 0))
		}
		e.valid, e.units.id = rows.Valid[i], append(e.units.id[:0], p.ids[start:end]...)
		start = end
		if err := e.end(); err != nil {
			return err
		}
	}
	return nil
}

// takeChecks adds the counts of a buffer.
func (e *encoder) takeChecks(p *rowBuffer) {
	for i := range e.columns {
		from := &p.enc.columns[i].check
		e.columns[i].check.add(*from)
		e.columns[i].addPlaces(p.enc.columns[i].places, p.before)
		p.enc.columns[i].places = nil
		*from = ColumnCheck{}
	}
}
