package records

import (
	"errors"
	"io"
	"runtime"

	"d3p/internal/parquet"
)

// columnsAtATime is how many columns are decoded in one pass over the file: a page or
// two of each, megabytes, are in memory, which for all columns of a wide table would be
// as much as the table.
const columnsAtATime = 8

// encode encodes some columns after the others, in place.
func (t *parquetTable) encode(enc *encoder) error {
	workers := make([]part, runtime.GOMAXPROCS(0))
	for k := range workers {
		workers[k] = enc.newPart()
	}
	start := enc.rows.N
	if len(enc.columns) == 0 { // a model that reads nothing has the records all the same
		n := enc.share.of(int(t.file.Rows()))
		if enc.limit > 0 && start+n > enc.limit {
			return errFull
		}
		if err := enc.rows.extend(n); err != nil {
			return err
		}
		for i := range n {
			enc.rows.setCodes(start+i, 0, enc.noted, UsableRow)
		}
	}
	for first := 0; first < len(enc.columns); first += columnsAtATime {
		if err := t.encodePass(enc, start, first, min(columnsAtATime, len(enc.columns)-first), workers); err != nil {
			return err
		}
	}
	for k := range workers {
		enc.takeChecks(&workers[k])
	}
	if enc.codes == nil {
		enc.rows.clearInvalid(start)
	}
	return nil
}

// encodePass encodes `count` columns from first on, in the records from start on. The
// first pass makes them.
func (t *parquetTable) encodePass(e *encoder, start, first, count int, workers []part) error {
	p, err := t.open(t.places[first : first+count])
	if err != nil {
		return err
	}
	defer p.close()
	for at := start; ; {
		n, err := p.next()
		if err == nil && !e.share.has(p.block()) {
			continue
		}
		switch {
		case errors.Is(err, io.EOF) && at == e.rows.N:
			return nil
		case err != nil:
			return err
		case first == 0 && e.limit > 0 && at+n > e.limit:
			return errFull
		case first == 0:
			if err := e.rows.extend(n); err != nil {
				return err
			}
		case at+n > e.rows.N:
			return parquet.ErrDamaged
		}
		together(len(workers), func(k, of int) error {
			w := &workers[k]
			w.encodeColumns(t.cellsOf(p, w.enc, first, count), e.rows, at, first, n*k/of, n*(k+1)/of)
			return nil
		})
		at += n
	}
}

// encodeColumns encodes cells of the columns from first on, in the rows from low to
// before high of a batch that starts at record `at` of the table.
func (p *part) encodeColumns(cells []func(i int), to *Rows, at, first, low, high int) {
	e := p.enc
	var places []int
	for _, c := range e.columns[first : first+len(cells)] {
		for _, f := range c.fields {
			for _, out := range f.Out {
				if out >= 0 {
					places = append(places, out)
				}
			}
		}
	}
	for i := low; i < high; i++ {
		e.valid = true
		for _, cell := range cells {
			cell(i)
		}
		to.Valid[at+i] = to.Valid[at+i] && e.valid
		for _, out := range places {
			to.set(at+i, out, e.row[out])
		}
		if to.Codes != nil {
			e.columnsOf(to.Codes.Row(at+i, 0), first, len(cells), to.Valid[at+i])
		}
	}
}
