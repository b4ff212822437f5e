package records

import (
	"errors"
	"io"
	"runtime"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// encodeParquetUnits encodes batch after batch of all columns, the rows of each
// in as many parts as there are processors; the last leaf is the column of ids.
func encodeParquetUnits(path string, reader *pqarrow.FileReader, leaves []int, enc *encoder) error {
	batches, err := openParquetColumns(reader, leaves)
	if err != nil {
		return damaged(path)
	}
	defer batches.release()
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
			return parts[k].encodeArrays(path, columns, enc.units.name, n*k/len(parts), n*(k+1)/len(parts))
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

// encodeArrays encodes the rows from first to before end.
func (p *part) encodeArrays(path string, columns map[string]arrow.Array, idName string, first, end int) error {
	cells, err := p.enc.cellsOf(path, p.enc.columns, columns)
	if err != nil {
		return err
	}
	ids := columns[idName]
	if ids == nil {
		return damaged(path)
	}
	id, err := idsOf(path, ids)
	if err != nil {
		return err
	}
	for i := first; i < end; i++ {
		for _, cell := range cells {
			cell(i)
		}
		p.identify(id(i))
		p.end()
	}
	return nil
}
