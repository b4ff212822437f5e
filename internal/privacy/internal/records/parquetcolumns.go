package records

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// parquetColumns decode some columns in groups, one beside the other.
type parquetColumns []pqarrow.RecordReader

func openParquetColumns(reader *pqarrow.FileReader, leaves []int) (parquetColumns, error) {
	leaves = slices.Compact(slices.Sorted(slices.Values(leaves)))
	var p parquetColumns
	groups := min(runtime.GOMAXPROCS(0), len(leaves))
	for k := range groups {
		var group []int
		for i := k; i < len(leaves); i += groups {
			group = append(group, leaves[i])
		}
		r, err := reader.GetRecordReader(context.Background(), group, nil)
		if err != nil {
			p.release()
			return nil, err
		}
		p = append(p, r)
	}
	return p, nil
}

func (p parquetColumns) release() {
	for _, r := range p {
		r.Release()
	}
}

// next returns the columns of the next batch by name and its number of rows;
// io.EOF at the end. They are valid until the next call.
func (p parquetColumns) next(path string) (columns map[string]arrow.Array, n int, err error) {
	batches := make([]arrow.Record, len(p))
	err = together(path, len(p), func(k int) error {
		var err error
		if batches[k], err = p[k].Read(); errors.Is(err, io.EOF) {
			batches[k] = nil
			return nil
		}
		return err
	})
	if err != nil {
		return nil, 0, damaged(path)
	}
	if !slices.ContainsFunc(batches, func(b arrow.Record) bool { return b != nil }) {
		return nil, 0, io.EOF
	}
	columns = map[string]arrow.Array{}
	for k, batch := range batches {
		if batch != nil && k == 0 {
			n = int(batch.NumRows())
		}
		if batch == nil || int(batch.NumRows()) != n {
			return nil, 0, damaged(path)
		}
		for i, f := range batch.Schema().Fields() {
			if columns[f.Name] != nil {
				return nil, 0, damaged(path)
			}
			columns[f.Name] = batch.Column(i)
		}
	}
	return columns, n, nil
}

// together runs work on n goroutines and returns the first error. Arrow panics
// on some damaged files.
func together(path string, n int, work func(k int) error) error {
	errs := make([]error, n)
	var group sync.WaitGroup
	for k := range n {
		group.Go(func() {
			defer func() {
				if recover() != nil {
					errs[k] = damaged(path)
				}
			}()
			errs[k] = work(k)
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// cellsOf returns what encodes cell i of each of the columns.
func (e *encoder) cellsOf(path string, from []column, columns map[string]arrow.Array) ([]func(i int), error) {
	cells := make([]func(i int), len(from))
	for k := range from {
		c, a := &from[k], columns[from[k].name]
		if a == nil {
			return nil, damaged(path)
		}
		open, err := cellReader(a.DataType(), c)
		if err != nil {
			return nil, damaged(path)
		}
		cell := open(a)
		cells[k] = func(i int) {
			if a.IsNull(i) {
				e.absent(c)
			} else {
				cell(e, c, i)
			}
		}
	}
	return cells, nil
}
