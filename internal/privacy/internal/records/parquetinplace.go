package records

import (
	"errors"
	"io"
	"runtime"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// columnsAtATime is how many columns are decoded in one pass over the file:
// Arrow holds a page or two of each, megabytes, which for all columns of a wide
// table would be as much as the table.
const columnsAtATime = 8

// encodeParquet encodes some columns after the others, in place.
func encodeParquet(path string, reader *pqarrow.FileReader, leaves []int, enc *encoder) error {
	workers := make([]part, runtime.GOMAXPROCS(0))
	for k := range workers {
		workers[k] = enc.newPart()
	}
	for first := 0; first < len(enc.columns); first += columnsAtATime {
		end := min(first+columnsAtATime, len(enc.columns))
		if err := enc.encodePass(path, reader, leaves[first:end], first, workers); err != nil {
			return err
		}
	}
	for k := range workers {
		enc.takeChecks(&workers[k])
	}
	enc.rows.clearInvalid()
	return nil
}

// encodePass encodes the columns from first on whose leaves are given. The first
// pass makes the records.
func (e *encoder) encodePass(path string, reader *pqarrow.FileReader, leaves []int, first int, workers []part) error {
	batches, err := openParquetColumns(reader, leaves)
	if err != nil {
		return damaged(path)
	}
	defer batches.release()
	for at := 0; ; {
		columns, n, err := batches.next(path)
		switch {
		case errors.Is(err, io.EOF) && at == e.rows.N:
			return nil
		case errors.Is(err, io.EOF):
			return damaged(path)
		case err != nil:
			return err
		case first == 0 && e.limit > 0 && at+n > e.limit:
			return errFull
		case first == 0:
			e.rows.extend(n)
		case at+n > e.rows.N:
			return damaged(path)
		}
		err = together(path, len(workers), func(k int) error {
			return workers[k].encodeColumns(path, columns, e.rows, at, first, len(leaves), n*k/len(workers), n*(k+1)/len(workers))
		})
		if err != nil {
			return err
		}
		at += n
	}
}

// encodeColumns encodes `count` columns from first on, in the rows from low to
// before high of a batch that starts at record `at` of the table.
func (p *part) encodeColumns(path string, columns map[string]arrow.Array, to *Rows, at, first, count, low, high int) error {
	e := p.enc
	from := e.columns[first : first+count]
	cells, err := e.cellsOf(path, from, columns)
	if err != nil {
		return err
	}
	var places []int
	for _, c := range from {
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
	}
	return nil
}
