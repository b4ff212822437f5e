package records

import (
	"errors"
	"fmt"
	"os"

	"d3p/internal/models"
	"d3p/internal/parquet"
	"d3p/internal/privacy/internal/records/tablefile"
)

// parquetBatch is the number of rows decoded at a time.
const parquetBatch = 16 << 10

// readParquet reads the columns in use, a batch of rows at a time. The types of columns
// are part of the file's schema, so dates where a number is declared are an error; what
// the cells hold is not.
func readParquet(path string, f *os.File, e models.Encoding, opt Options) (*Rows, Check, error) {
	check := Check{File: path}
	info, err := f.Stat()
	if err != nil {
		return nil, check, err
	}
	table := &parquetTable{path: path}
	if table.file, err = parquet.Open(f, info.Size()); err != nil {
		return nil, check, damaged(path)
	}
	enc, err := newEncoder(e, opt)
	if err != nil {
		return nil, check, err
	}
	if err := table.match(enc); err != nil {
		return nil, check, err
	}
	n := table.file.Rows()
	if n > 64*info.Size() { // possible, but rather damage: grow as rows come
		n = 0
	}
	enc.allocate(int(n), e, opt)
	encode := table.encode
	if enc.units != nil {
		encode = table.encodeUnits
	}
	switch err := encode(enc); {
	case errors.Is(err, errFull):
		return nil, check, tooLarge(path, opt)
	case err != nil:
		return nil, check, damaged(path)
	}
	return enc.rows, enc.check(path), nil
}

// damaged is the error about a file that cannot be decoded.
func damaged(path string) error {
	return &tablefile.FileError{File: path, Problem: "is no Parquet file that can be decoded", Hint: "write it again, as a file of its own, compressed by zstd or snappy or not at all; or export CSV"}
}

// parquetTable is the columns of a file that are read.
type parquetTable struct {
	path   string
	file   *parquet.File
	places []int // in the file, of those of the encoder; that of ids last
	cells  []parquet.Cells
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
	t.places = places
	for i := range enc.columns {
		c := &enc.columns[i]
		if of := columns[places[i]]; cellReader(of.Kind, c) == nil {
			errs = append(errs, &tablefile.FileError{
				File: t.path, Column: c.name,
				Problem: fmt.Sprintf("has type %s in the file", of.Type),
				Hint:    wanted(c),
			})
		}
	}
	if enc.units != nil {
		if of := columns[places[len(enc.columns)]]; idReader(of.Kind) == nil {
			errs = append(errs, &tablefile.FileError{
				File: t.path, Column: enc.units.name,
				Problem: fmt.Sprintf("has type %s in the file", of.Type),
				Hint:    "ids are text or numbers",
			})
		}
	}
	return errors.Join(errs...)
}

func wanted(c *column) string {
	if c.date {
		return "the model file declares a date"
	}
	if c.numeric {
		return "the model file declares a number"
	}
	return "the model file declares levels: text, numbers or truth values"
}
