package records

// rowGroups are row groups of a Parquet file, one after the other.
type rowGroups struct {
	first, end int  // from first to before end
	row        int  // of the file, where they start
	low, high  int  // the records of the table that are theirs
	grows      bool // the table grows as they are read, and high with it
}

// mostGroups bounds the pieces of a file that are decoded at a time: each takes megabytes
// for every column of a pass.
const mostGroups = 8

// allGroups are those of the file.
func (t *parquetTable) allGroups() rowGroups { return rowGroups{end: len(t.file.Groups())} }

// pieces are the row groups of the file in pieces of at least parquetBatch rows, and makes
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
