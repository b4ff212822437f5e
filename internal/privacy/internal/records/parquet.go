package records

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"d3p/internal/models/data"
	"d3p/internal/parquet"
	"d3p/internal/privacy/internal/records/storage"
	"d3p/internal/privacy/internal/records/tablefile"
)

// parquetBatch is the most rows that are decoded at a time.
const parquetBatch = 16 << 10

// readParquet adds the records of a file of some size, a batch of rows at a time. The types
// of columns are part of the file's schema, so dates for a declared number are an error;
// the content of a cell never is one.
func (e *encoder) readParquet(path string, f *os.File, size int64) (err error) {
	table := &parquetTable{path: path}
	if table.file, err = parquet.Open(f, size); err != nil {
		return damaged(path)
	}
	if err := table.match(e); err != nil {
		return err
	}
	table.rows = plausibleRows(table.file.Rows(), size)
	if e.rows == nil {
		if err := e.room(table.rows); err != nil {
			return err
		}
	}
	table.batch = e.share.block(int64(table.rows), parquetBatch)
	encode := table.encode
	if e.units != nil {
		encode = table.encodeUnits
	}
	err = encode(e)
	var full *storage.Error
	if err == nil || errors.Is(err, errFull) || errors.As(err, &full) {
		return err
	}
	return damaged(path)
}

// plausibleRows is the number of rows that a Parquet file states; 0 if the file is too small for
// them and so probably damaged: then the table grows as rows come.
func plausibleRows(rows, size int64) int {
	if rows > 64*size {
		return 0
	}
	return int(rows)
}

// damaged is the error about a file that cannot be decoded.
func damaged(path string) error {
	return &tablefile.FileError{File: path, Problem: "is no Parquet file that can be decoded", Hint: "write it again, as a file of its own, compressed by zstd or snappy or not at all; or export CSV"}
}

// parquetTable is the columns of a file that are read.
type parquetTable struct {
	path   string
	file   *parquet.File
	places []int // the encoder's columns in the file; the column of ids is last
	rows   int   // as it states, 0 if that is rather damage
	batch  int   // rows decoded at a time
}

// match finds the columns in use and checks their types.
func (t *parquetTable) match(enc *encoder) error {
	columns := t.file.Columns()
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	places, errs := enc.match(t.path, names)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	used := slices.Max(append(places, 0))
	for i, at := range places {
		if at < 0 {
			places[i] = used // whose cells have the number of rows
		}
	}
	t.places = places
	for i := range enc.columns {
		c := &enc.columns[i]
		if enc.partitions[i] != nil {
			continue
		}
		of := columns[places[i]]
		switch hint := foreign(c, of.Kind); {
		case cellReader(of.Kind, c) == nil:
			errs = append(errs, &tablefile.FileError{
				File: t.path, Column: c.name,
				Problem: fmt.Sprintf("has type %s in the file", of.Type),
				Hint:    wanted(c, of),
			})
		case hint != "":
			errs = append(errs, &tablefile.FileError{File: t.path, Column: c.name, Problem: fmt.Sprintf("has type %s in the file, and no declared level fits", of.Type), Hint: hint})
		}
	}
	if enc.units != nil {
		if of := columns[places[len(enc.columns)]]; idReader(of.Kind) == nil {
			hint := "ids are text or numbers"
			if of.Kind == parquet.Other && of.Type != "nested" {
				hint += "; a UUID cast to text is one"
			}
			errs = append(errs, &tablefile.FileError{File: t.path, Column: enc.units.name, Problem: fmt.Sprintf("has type %s in the file", of.Type), Hint: hint})
		}
	}
	return errors.Join(errs...)
}

// foreign is the advice for a column of levels if no cell of this kind can be one of them, else "".
// If the purchase of levels found too few, cells need not be any of them.
func foreign(c *column, kind parquet.Kind) string {
	if c.levels == nil || c.levels.open != nil || slices.ContainsFunc(c.levels.spellings, func(s string) bool { return strings.HasPrefix(s, data.Placeholder) }) {
		return ""
	}
	switch kind {
	case parquet.Bool:
		_, yes := c.levels.findBool(true)
		_, no := c.levels.findBool(false)
		if !yes && !no {
			return "declare levels: [false, true]"
		}
	case parquet.Int, parquet.Uint, parquet.Float, parquet.Decimal:
		if len(c.levels.byNumber) == 0 {
			return "declare the numbers that stand for the levels, such as [0, 1]"
		}
	}
	return ""
}

// wanted is the advice for a column of a kind that does not fit the declaration.
func wanted(c *column, of parquet.Column) string {
	switch {
	case of.Type == "nested":
		return "write each of its fields as a column of its own"
	case of.Kind == parquet.Words:
		return "a tensor with tokens: words.txt, a public vocabulary with a token on each line, reads lists of words"
	case of.Kind == parquet.List:
		return "a tensor with tokens: 30000, how many tokens there are, reads lists of whole numbers"
	case c.lists:
		return "the model file declares lists of tokens: whole numbers from 0 on"
	}
	if c.date {
		return "the model file declares a date"
	}
	if c.numeric {
		return "the model file declares a number"
	}
	return "the model file declares levels: text, numbers or truth values"
}
