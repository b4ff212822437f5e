package records

import (
	"io"
	"runtime"
	"sync"

	"d3p/internal/parquet"
)

// parquetColumns decode some columns, one beside the other.
type parquetColumns struct {
	readers []*parquet.ColumnReader
	cells   []parquet.Cells // of the batch
	batch   int             // most rows of one
}

// open opens the columns at these places of the file, which have to be closed before
// others are opened.
func (t *parquetTable) open(places []int) (*parquetColumns, error) {
	if len(t.cells) < len(places) {
		t.cells = make([]parquet.Cells, len(places))
	}
	p := &parquetColumns{cells: t.cells[:len(places)], batch: t.batch}
	for _, at := range places {
		r, err := t.file.Reader(at)
		if err != nil {
			p.close()
			return nil, err
		}
		p.readers = append(p.readers, r)
	}
	return p, nil
}

func (p *parquetColumns) close() {
	for _, r := range p.readers {
		r.Close()
	}
}

// next reads the next batch into p.cells and returns its number of rows; io.EOF at the
// end.
func (p *parquetColumns) next() (n int, err error) {
	err = together(min(runtime.GOMAXPROCS(0), len(p.readers)), func(k, of int) error {
		for i := k; i < len(p.readers); i += of {
			if err := p.readers[i].Read(&p.cells[i], p.batch); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for i := range p.cells {
		if p.cells[i].N != p.cells[0].N {
			return 0, parquet.ErrDamaged
		}
	}
	if n = p.cells[0].N; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// together runs work on n goroutines and returns the first error.
func together(n int, work func(k, of int) error) error {
	errs := make([]error, n)
	var group sync.WaitGroup
	for k := range n {
		group.Go(func() { errs[k] = work(k, n) })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// cellsOf returns what encodes cell i of each of the columns from `first` on that p
// has.
func (t *parquetTable) cellsOf(p *parquetColumns, e *encoder, first, count int) []func(i int) {
	cells := make([]func(i int), count)
	for k := range cells {
		c, from := &e.columns[first+k], &p.cells[k]
		read := cellReader(t.file.Columns()[t.places[first+k]].Kind, c)
		cells[k] = func(i int) {
			if from.Null != nil && from.Null[i] {
				e.absent(c)
			} else {
				read(e, c, from, i)
			}
		}
	}
	return cells
}
