package records

import (
	"bytes"
	"errors"
	"fmt"

	"d3p/internal/models/encoding"
	"d3p/internal/privacy/noise"
)

// units puts the rows of a unit side by side in one record, in the layout of
// encoding.Encoding.Width. Rows of a unit may be anywhere in the file.
//
// Two ids are the same unit when their texts, without the spaces around them,
// are: anything cleverer could join two people in one record or split one.
type units struct {
	name   string // the column of ids
	most   int    // rows kept of a unit
	random *noise.Stream
	check  *UnitCheck

	record map[string]int // of every unit seen
	usable []int          // rows seen of every unit, without the rejected ones
	others []int          // rejected rows seen of every unit, where codes are kept
	id     []byte         // of the current row; empty if it has none
	block  []float64      // a row, and whether it is one when there are several
}

// newUnits returns nil if every row of the encoding is a unit.
func newUnits(e encoding.Encoding, random *noise.Stream) (*units, error) {
	if e.UnitID == "" {
		return nil, nil
	}
	u := &units{name: e.UnitID, most: e.RowsPerUnit, record: make(map[string]int), check: &UnitCheck{Column: e.UnitID}}
	if e.Keep == encoding.KeepRandom {
		if random == nil {
			return nil, errors.New("records: no random numbers to choose the rows of a unit with")
		}
		u.random = random
	}
	u.block = make([]float64, e.Width()/e.RowsPerUnit)
	return u, nil
}

// validateUnits checks that records can be made of rows.
func validateUnits(e encoding.Encoding) error {
	switch {
	case e.UnitID == "" && e.RowsPerUnit > 1:
		return fmt.Errorf("records: %d rows per unit and no column of ids", e.RowsPerUnit)
	case e.UnitID == "":
		return nil
	case e.RowsPerUnit < 1:
		return fmt.Errorf("records: %d rows per unit, want at least 1", e.RowsPerUnit)
	case e.Keep != encoding.KeepRandom && e.Keep != encoding.KeepFirst:
		return fmt.Errorf("records: unknown rule %q for the rows of a unit", e.Keep)
	}
	return nil
}

// idOf is the id in a cell; empty if it has none.
func (e *encoder) idOf(cell []byte) []byte {
	cell = bytes.TrimSpace(cell)
	if e.isMissing(e.tokens, cell) {
		return nil
	}
	return cell
}

// add gives the current row to its unit. A row without an id is left out. A rejected one
// is left out, too, but its unit is in the table: it has a record, which is invalid until
// a usable row comes.
func (e *encoder) add() error {
	u := e.units
	if !e.share.hasUnit(u.id) {
		return nil
	}
	u.check.Rows++
	if len(u.id) == 0 {
		u.check.WithoutID++
		return nil
	}
	i, seen := u.record[string(u.id)]
	if !seen {
		i = e.rows.N
		if err := e.store(nil, false); err != nil {
			return err
		}
		u.record[string(u.id)] = i
		u.usable, u.others = append(u.usable, 0), append(u.others, 0)
	}
	if !e.valid {
		u.check.Rejected++
		e.addRejected(i)
		return nil
	}
	u.usable[i]++
	place, kept := u.place(u.usable[i])
	if u.usable[i] > u.most {
		u.check.Dropped++
	}
	if !kept {
		return nil
	}
	u.put(e.rows, i, place, e.row, true)
	e.rows.setCodes(i, place, e.noted, UsableRow)
	for other := 1; e.codes == nil && u.usable[i] == 1 && other < u.most; other++ {
		u.put(e.rows, i, other, e.row, false)
	}
	e.rows.Valid[i] = true
	return nil
}

// addRejected keeps a rejected row for counts, from the last place on, as long as the
// usable rows of its unit leave room.
func (e *encoder) addRejected(i int) {
	u := e.units
	if e.codes == nil || !e.sound {
		return
	}
	u.others[i]++
	if place := u.most - u.others[i]; place >= u.usable[i] {
		u.put(e.rows, i, place, e.row, true)
		e.rows.setCodes(i, place, e.noted, RejectedRow)
	}
}

// place decides whether the n-th usable row of the current unit is kept for now, and in
// which block. At random, the kept rows are a uniform choice of those seen so
// far. Vitter 1985, "Random sampling with a reservoir", algorithm R. The random number
// follows from the key, the id and n: given the key, a unit's choice depends on no other
// unit, also where the records are read several times.
func (u *units) place(n int) (block int, kept bool) {
	if n <= u.most {
		return n - 1, true
	}
	if u.random == nil {
		return 0, false
	}
	u.random.SeekBlock(idHash(u.id), uint64(n))
	j := u.random.Uint64n(uint64(n))
	return int(j), j < uint64(u.most)
}

// put writes a row to a block of record i.
func (u *units) put(rows *Rows, i, block int, row []float64, present bool) {
	copy(u.block, row)
	if len(u.block) > len(row) {
		u.block[len(row)] = indicator(present)
	}
	rows.Set(i, block*len(u.block), u.block)
}
