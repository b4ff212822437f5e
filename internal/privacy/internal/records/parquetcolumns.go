package records

import (
	"cmp"
	"io"
	"sync"

	"d3p/internal/parquet"
)

// parquetColumns decode some columns side by side.
type parquetColumns struct {
	readers []*parquet.ColumnReader
	cells   []parquet.Cells // of the batch, and of rows behind it
	threads int
	batch   int // most rows of one
	row     int // of the file, behind the batch
	n       int // rows of the batch
}

// open opens the columns at these places of the file, in row groups, into the first
// len(places) cells. Close them before others are opened into the same cells.
func (t *parquetTable) open(places []int, of rowGroups, cells []parquet.Cells, threads int) (*parquetColumns, error) {
	p := &parquetColumns{cells: cells[:len(places)], threads: threads, batch: t.batch, row: of.row}
	for i := range p.cells {
		p.cells[i].Drop(p.cells[i].N) // of other columns
	}
	for _, at := range places {
		r, err := t.file.GroupReader(at, of.first, of.end)
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
// end. Batches lie within blocks of p.batch rows, and are shorter where texts are long.
func (p *parquetColumns) next() (n int, err error) {
	left := p.batch - p.row%p.batch
	err = together(min(p.threads, len(p.readers)), func(k, of int) error {
		for i := k; i < len(p.readers); i += of {
			p.cells[i].Drop(p.n)
			if err := p.readers[i].Fill(&p.cells[i], left); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	least, most := p.cells[0].N, p.cells[0].N
	for i := range p.cells {
		least, most = min(least, p.cells[i].N), max(most, p.cells[i].N)
	}
	if p.n = least; least == 0 && most > 0 {
		return 0, parquet.ErrDamaged
	}
	if least == 0 {
		return 0, io.EOF
	}
	p.row += least
	return least, nil
}

// block is the number of the batch's block among the file's blocks.
func (p *parquetColumns) block() int { return (p.row - 1) / p.batch }

// together runs work on n goroutines and returns the first error.
func together(n int, work func(k, of int) error) error {
	errs := make([]error, n)
	var group sync.WaitGroup
	for k := range n {
		group.Go(func() { errs[k] = work(k, n) })
	}
	group.Wait()
	return cmp.Or(errs...)
}

// cellsOf returns the functions that encode cell i of each of p's columns from `first` on.
func (t *parquetTable) cellsOf(p *parquetColumns, e *encoder, first, count int) []func(i int) {
	cells := make([]func(i int), count)
	for k := range cells {
		c, from := &e.columns[first+k], &p.cells[k]
		if cell := e.partitions[first+k]; cell != nil {
			cells[k] = func(int) { e.text(c, cell) }
			continue
		}
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
