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

// parquetColumns decode the columns in use in groups, one beside the other.
type parquetColumns []pqarrow.RecordReader

func openParquetColumns(reader *pqarrow.FileReader, leaves []int) (parquetColumns, error) {
	slices.Sort(leaves)
	leaves = slices.Compact(leaves)
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

// encodeParquet encodes batch after batch, the rows of each in as many parts as
// there are processors.
func encodeParquet(path string, batches parquetColumns, enc *encoder) error {
	parts := make([]part, runtime.GOMAXPROCS(0))
	for k := range parts {
		parts[k] = enc.newPart()
	}
	for {
		columns, n, err := batches.next(path)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = together(path, len(parts), func(k int) error {
			parts[k].empty()
			var ids arrow.Array
			if enc.units != nil {
				if ids = columns[enc.units.name]; ids == nil {
					return damaged(path)
				}
			}
			return parts[k].encodeArrays(path, columns, ids, n*k/len(parts), n*(k+1)/len(parts))
		})
		if err != nil {
			return err
		}
		for k := range parts {
			if err := enc.take(&parts[k]); err != nil {
				return err
			}
		}
	}
}

// encodeArrays encodes the rows from first to before end; ids, unless nil, is
// the column of ids.
func (p *part) encodeArrays(path string, columns map[string]arrow.Array, ids arrow.Array, first, end int) error {
	e := p.enc
	cells := make([]func(e *encoder, c *column, i int), len(e.columns))
	arrays := make([]arrow.Array, len(e.columns))
	for k := range e.columns {
		c := &e.columns[k]
		arrays[k] = columns[c.name]
		if arrays[k] == nil {
			return damaged(path)
		}
		open, err := cellReader(arrays[k].DataType(), c)
		if err != nil {
			return damaged(path)
		}
		cells[k] = open(arrays[k])
	}
	id := func(int) []byte { return nil }
	if ids != nil {
		var err error
		if id, err = idsOf(path, ids); err != nil {
			return err
		}
	}
	for i := first; i < end; i++ {
		for k := range e.columns {
			c := &e.columns[k]
			if arrays[k].IsNull(i) {
				e.absent(c)
			} else {
				cells[k](e, c, i)
			}
		}
		p.identify(id(i))
		p.end()
	}
	return nil
}
