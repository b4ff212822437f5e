package records

import (
	"errors"
	"io"
	"runtime"

	"d3p/internal/parquet"
)

// encodeUnits encodes batch after batch of all columns, the rows of each batch in as many
// parts as there are processors. The last column is that of ids.
func (t *parquetTable) encodeUnits(enc *encoder) error {
	threads := runtime.GOMAXPROCS(0)
	p, err := t.open(t.places, t.allGroups(), make([]parquet.Cells, len(t.places)), threads)
	if err != nil {
		return err
	}
	defer p.close()
	parts := make([]rowBuffer, threads)
	for k := range parts {
		parts[k] = enc.newRowBuffer()
	}
	for {
		n, err := p.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		together(len(parts), func(k, of int) error {
			parts[k].empty()
			parts[k].encodeRows(t, p, n*k/of, n*(k+1)/of)
			return nil
		})
		for k := range parts {
			if err := enc.take(&parts[k]); err != nil {
				return err
			}
		}
	}
}

// encodeRows encodes the rows of a batch from first to before end.
func (p *rowBuffer) encodeRows(t *parquetTable, columns *parquetColumns, first, end int) {
	last := len(t.places) - 1
	cells := t.cellsOf(columns, p.enc, 0, last)
	ids, spell := &columns.cells[last], idReader(t.file.Columns()[t.places[last]].Kind)
	var id []byte
	for i := first; i < end; i++ {
		p.enc.line = columns.row - columns.n + i + 1
		for _, cell := range cells {
			cell(i)
		}
		if id = id[:0]; ids.Null == nil || !ids.Null[i] {
			id = spell(ids, i, id)
		}
		p.identify(id)
		p.end()
	}
}
