package records

import (
	"slices"

	"d3p/internal/models/encoding"
)

// countVarying counts, for columns that are declared constant within a group, the usable
// rows that differ from the first row of their group. It compares encoded numbers, of
// models that read both columns.
func (c *Check) countVarying(rows *Rows, e encoding.Encoding) {
	for _, w := range e.Within {
		outs, group := outsOf(e, w.Column), codeOf(e, w.Group)
		at := slices.IndexFunc(c.Columns, func(c ColumnCheck) bool { return c.Column == w.Column })
		if len(outs) == 0 || group < 0 || at < 0 {
			continue
		}
		first := map[float64][]float64{} // by level
		record, value := make([]float64, rows.K), make([]float64, len(outs))
		block := e.K // of a row; rows of a unit have a 1 behind it
		if e.RowsPerUnit > 1 {
			block++
		}
		for i := range rows.N {
			if !rows.Valid[i] {
				continue
			}
			rows.Row(i, record)
			for from := 0; from+block <= e.Width(); from += block {
				if block > e.K && record[from+e.K] != 1 || rows.Codes != nil && RowState(rows.Codes.Row(i, from/block)[0]) != UsableRow {
					break // no row, or one that is kept for counts only
				}
				for k, out := range outs {
					value[k] = record[from+out]
				}
				level := record[from+group]
				switch seen, ok := first[level]; {
				case !ok:
					first[level] = slices.Clone(value)
				case !slices.Equal(seen, value):
					c.Columns[at].Varying++
				}
			}
		}
	}
}

// outsOf are the encoded columns of a raw column.
func outsOf(e encoding.Encoding, column string) (outs []int) {
	for _, f := range e.Fields {
		for _, out := range f.Out {
			if f.Column == column && f.Kind != encoding.MissingIndicator && out >= 0 {
				outs = append(outs, out)
			}
		}
	}
	return outs
}

// codeOf is the encoded column with the level of a raw column; -1: none.
func codeOf(e encoding.Encoding, column string) int {
	for _, f := range e.Fields {
		if f.Column == column && f.Kind == encoding.LevelCode {
			return f.Out[0]
		}
	}
	return -1
}
