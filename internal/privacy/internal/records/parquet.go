package records

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/models"
)

// parquetBatch is the number of records decoded at a time.
const parquetBatch = 16 << 10

// parquetGarbage is about how much garbage in bytes may come together while Arrow
// decodes into a table that is larger.
const parquetGarbage = 8 << 20

// collectEarly makes the garbage collector run more often beside a table of
// `size` bytes, which costs it nothing because a table has no pointers, and
// returns what ends that.
func collectEarly(size int) (end func()) {
	percent := min(100, max(1, 100*parquetGarbage/max(1, size)))
	old := debug.SetGCPercent(percent)
	if old >= 0 && old < percent {
		debug.SetGCPercent(old)
	}
	return func() { debug.SetGCPercent(old) }
}

// readParquet reads the columns in use, a batch of records at a time. Column
// types are part of the file's schema, so a text column where a number is
// declared is an error; what the cells hold is not.
func readParquet(path string, f *os.File, e models.Encoding, opt Options) (rows *Rows, check Check, err error) {
	check = Check{File: path}
	defer func() {
		if recover() != nil { // Arrow panics on some damaged files
			rows, err = nil, damaged(path)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, check, err
	}
	mem := bounded{memory.DefaultAllocator, int(64<<20 + 1024*info.Size())}
	properties := parquet.NewReaderProperties(mem)
	properties.BufferedStreamEnabled, properties.BufferSize = true, 256<<10 // not a whole column at a time
	pf, err := file.NewParquetReader(f, file.WithReadProps(properties))
	if err != nil {
		return nil, check, damaged(path)
	}
	defer pf.Close()
	// the Arrow schema some writers add says nothing that the Parquet one does
	// not, and Arrow allocates whatever length a damaged one states
	pf.MetaData().FileMetaData.KeyValueMetadata = nil
	reader, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: parquetBatch}, mem)
	if err != nil {
		return nil, check, damaged(path)
	}
	schema, err := reader.Schema()
	if err != nil {
		return nil, check, damaged(path)
	}
	enc, err := newEncoder(e, opt)
	if err != nil {
		return nil, check, err
	}
	leaves, err := matchSchema(path, schema, pf, enc)
	if err != nil {
		return nil, check, err
	}
	n := pf.NumRows()
	if n < 0 || n > 64*info.Size() { // possible, but rather damage: grow as records come
		n = 0
	}
	enc.allocate(int(n), e, opt)
	defer collectEarly(enc.rows.bytes())()
	encode := encodeParquet
	if enc.units != nil {
		encode = encodeParquetUnits
	}
	switch err := encode(path, reader, leaves, enc); {
	case errors.Is(err, errFull):
		return nil, check, tooLarge(path, opt)
	case err != nil:
		return nil, check, err
	}
	return enc.rows, enc.check(path), nil
}

// bounded is an allocator that refuses a length which cannot come from a sound
// file; readParquet recovers from the panic. Arrow believes every length that
// a damaged file states.
type bounded struct {
	memory.Allocator
	limit int
}

func (b bounded) Allocate(size int) []byte {
	if size > b.limit {
		panic("records: Parquet file states an impossible length")
	}
	return b.Allocator.Allocate(size)
}

func (b bounded) Reallocate(size int, old []byte) []byte {
	if size > b.limit {
		panic("records: Parquet file states an impossible length")
	}
	return b.Allocator.Reallocate(size, old)
}

// damaged is the error for a file that Arrow cannot decode. Arrow's own words
// may quote the pages it read, so they are not passed on.
func damaged(path string) error {
	return &FileError{File: path, Problem: "starts like Parquet but cannot be decoded", Hint: "write it again, without gzip, or export CSV"}
}

// matchSchema finds the columns in use and checks their types. Nested columns
// are not supported.
func matchSchema(path string, schema *arrow.Schema, pf *file.Reader, enc *encoder) (leaves []int, err error) {
	names := make([]string, len(schema.Fields()))
	for i, f := range schema.Fields() {
		names[i] = f.Name
	}
	at, errs := enc.match(path, names)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for i := range enc.columns {
		c := &enc.columns[i]
		f := schema.Field(at[i])
		leaf := pf.MetaData().Schema.ColumnIndexByName(f.Name)
		if _, err := cellReader(f.Type, c); err != nil || leaf < 0 {
			errs = append(errs, &FileError{
				File: path, Column: c.name,
				Problem: fmt.Sprintf("has type %s in the file", f.Type),
				Hint:    wanted(c),
			})
			continue
		}
		leaves = append(leaves, leaf)
	}
	if enc.units != nil {
		f := schema.Field(at[len(enc.columns)])
		leaf := pf.MetaData().Schema.ColumnIndexByName(f.Name)
		if idReader(f.Type) == nil || leaf < 0 {
			errs = append(errs, &FileError{
				File: path, Column: enc.units.name,
				Problem: fmt.Sprintf("has type %s in the file", f.Type),
				Hint:    "ids are text or whole numbers",
			})
		}
		leaves = append(leaves, leaf)
	}
	return leaves, errors.Join(errs...)
}

func wanted(c *column) string {
	if c.date {
		return "the model file declares a date"
	}
	if c.numeric {
		return "the model file declares a number"
	}
	return "the model file declares levels: text, whole numbers or truth values"
}
