package records

import (
	"errors"
	"io"
	"runtime"
	"sync/atomic"

	"d3p/internal/parquet"
)

// columnsAtATime is the number of columns that one pass over the file decodes. A page or
// two of each are in memory, some megabytes; all columns of a wide table would take as much
// memory as the table.
const columnsAtATime = 8

// encode encodes row groups side by side, in place, and in each some columns after the
// others.
func (t *parquetTable) encode(enc *encoder) error {
	start := enc.rows.N
	enc.deal(int(t.file.Rows()))
	enc.deal(t.batch)
	if len(enc.columns) == 0 { // a model without columns has the records nevertheless
		n := enc.share.before(t.file.Rows(), t.batch)
		if enc.limit > 0 && start+n > enc.limit {
			return errFull
		}
		if err := enc.rows.extend(n); err != nil {
			return err
		}
		for i := range n {
			enc.rows.setCodes(start+i, 0, enc.noted, UsableRow)
		}
		return nil
	}
	pieces, err := t.pieces(enc)
	if err != nil {
		return err
	}
	threads := runtime.GOMAXPROCS(0)
	workers := make([]groupWorker, min(threads, len(pieces), mostGroups))
	for k := range workers {
		workers[k] = t.newWorker(enc, threads/len(workers))
	}
	var begun atomic.Int64
	err = together(len(workers), func(k, _ int) error {
		for {
			i := int(begun.Add(1)) - 1
			if i >= len(pieces) {
				return nil
			}
			if err := workers[k].encode(enc, pieces[i]); err != nil {
				begun.Store(int64(len(pieces)))
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	for k := range workers {
		for i := range workers[k].parts {
			enc.takeChecks(&workers[k].parts[i])
		}
	}
	if enc.codes == nil {
		enc.rows.clearInvalid(start)
	}
	return nil
}

// groupWorker encodes row groups on some threads.
type groupWorker struct {
	*parquetTable
	parts []rowBuffer // one for each thread
	cells []parquet.Cells
}

func (t *parquetTable) newWorker(enc *encoder, threads int) groupWorker {
	w := groupWorker{t, make([]rowBuffer, threads), make([]parquet.Cells, min(columnsAtATime, len(enc.columns)))}
	for i := range w.parts {
		w.parts[i] = enc.newRowBuffer()
	}
	return w
}

// encode encodes the columns of row groups.
func (w *groupWorker) encode(enc *encoder, of rowGroups) error {
	for first := 0; first < len(enc.columns); first += columnsAtATime {
		if err := w.encodePass(enc, &of, first, min(columnsAtATime, len(enc.columns)-first)); err != nil {
			return err
		}
	}
	return nil
}

// encodePass encodes `count` columns from first on. The first pass makes the records of
// growing row groups.
func (w *groupWorker) encodePass(e *encoder, of *rowGroups, first, count int) error {
	p, err := w.open(w.places[first:first+count], *of, w.cells, len(w.parts))
	if err != nil {
		return err
	}
	defer p.close()
	for at := of.low; ; {
		n, err := p.next()
		if err == nil && !e.share.has(p.block()) {
			continue
		}
		switch {
		case errors.Is(err, io.EOF) && at == of.high:
			return nil
		case err != nil:
			return err
		case of.grows && first == 0:
			if e.limit > 0 && at+n > e.limit {
				return errFull
			}
			if err := e.rows.extend(n); err != nil {
				return err
			}
			of.high += n
		case at+n > of.high:
			return parquet.ErrDamaged
		}
		together(len(w.parts), func(k, parts int) error {
			one := &w.parts[k]
			one.encodeColumns(w.cellsOf(p, one.enc, first, count), e.rows, at, first, p.row-n, n*k/parts, n*(k+1)/parts)
			return nil
		})
		at += n
	}
}

// encodeColumns encodes cells of the columns from first on, in the rows from low to
// before high of a batch that starts at record `at` of the table and behind `row` rows of
// the file.
func (p *rowBuffer) encodeColumns(cells []func(i int), to *Rows, at, first, row, low, high int) {
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
		e.valid, e.line = true, row+i+1
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

// rowGroups are row groups of a Parquet file, one after the other.
type rowGroups struct {
	first, end int  // from first to before end
	row        int  // of the file, where they start
	low, high  int  // the records of the table that are theirs
	grows      bool // the table, and high with it, grows as they are read
}

// mostGroups bounds the pieces of a file that are decoded at a time: each takes megabytes
// for every column of a pass.
const mostGroups = 8

// allGroups are those of the file.
func (t *parquetTable) allGroups() rowGroups { return rowGroups{end: len(t.file.Groups())} }

// pieces cuts the file's row groups into pieces of at least parquetBatch rows and makes
// their records. A file that states more rows than its bytes can hold stays in one piece.
func (t *parquetTable) pieces(enc *encoder) ([]rowGroups, error) {
	start, groups := enc.rows.N, t.file.Groups()
	if t.rows == 0 {
		return []rowGroups{{end: len(groups), low: start, high: start, grows: true}}, nil
	}
	own := enc.share.before(t.file.Rows(), t.batch)
	if enc.limit > 0 && start+own > enc.limit {
		return nil, errFull
	}
	if err := enc.rows.extend(own); err != nil {
		return nil, err
	}
	var pieces []rowGroups
	first, low, row, begin := 0, start, int64(0), int64(0)
	for i, n := range groups {
		row += n
		if row-begin < parquetBatch && i < len(groups)-1 {
			continue
		}
		high := start + enc.share.before(row, t.batch)
		pieces = append(pieces, rowGroups{first: first, end: i + 1, row: int(begin), low: low, high: high})
		first, low, begin = i+1, high, row
	}
	return pieces, nil
}
