package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"d3p/internal/models"
	"d3p/internal/privacy/noise"
)

// Options say how a table is read.
type Options struct {
	Precision Precision
	// Spare is the number of columns to keep free behind the encoded ones, for
	// derived columns.
	Spare int
	// MaxMemory bounds the encoded table in bytes; 0 is no bound.
	MaxMemory int64
	// Selection chooses the rows of units that have too many. The stream must be
	// secret: its numbers are used one after the other, so that with known ones
	// the choice of one unit's rows would tell of the units before it.
	Selection *noise.Stream
}

// Read reads the CSV, Parquet, idx or npy file at path and encodes it; all but
// Parquet may be compressed by gzip. All but CSV are known by their first bytes,
// whatever their name. The Check is private, also when err is not nil.
func Read(path string, e models.Encoding, opt Options) (rows *Rows, check Check, err error) {
	check = Check{File: path}
	if err := validate(e); err != nil {
		return nil, check, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, check, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, check, err
	}
	if info.IsDir() {
		return nil, check, &FileError{File: path, Problem: "is a directory", Hint: "name one CSV or Parquet file"}
	}
	text, err := plain(path, f)
	if err != nil {
		return nil, check, err
	}
	if !info.Mode().IsRegular() { // a pipe: CSV of unknown length
		return readCSV(path, decoded(text, e.Text), nil, e, opt)
	}
	magic, _ := text.Peek(len(parquetMagic)) // shorter in a shorter file
	switch {
	case string(magic) == parquetMagic:
		return readParquet(path, f, e, opt)
	case isArray(magic):
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, check, err
		}
		return readArray(path, f, e, opt)
	case slices.Contains(workbookMagic, string(magic)):
		return nil, check, &FileError{File: path, Problem: "is a workbook or an archive", Hint: "save its sheet as CSV in UTF-8"}
	}
	return readCSV(path, decoded(text, e.Text), func() (int, error) { return countLines(path) }, e, opt)
}

// workbookMagic are the first bytes of .xlsx and .ods, which are zip files, and of
// .xls.
var workbookMagic = []string{"PK\x03\x04", "\xd0\xcf\x11\xe0"}

// countLines returns an upper bound on the records of a CSV file, compressed or
// not, so that the table is allocated once.
func countLines(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	text, err := plain(path, f)
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 1<<20)
	lines := 1
	for {
		n, err := text.Read(buf)
		lines += bytes.Count(buf[:n], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// readCSV reads CSV text; count, unless nil, bounds the number of its records.
// What is wrong with the header is found before the rest is looked at.
func readCSV(path string, src io.Reader, count func() (int, error), e models.Encoding, opt Options) (*Rows, Check, error) {
	return encodeBlocks(path, &csvBlocks{src: src, size: csvBlockSize}, count, e, opt)
}

func encodeBlocks(path string, blocks *csvBlocks, count func() (int, error), e models.Encoding, opt Options) (*Rows, Check, error) {
	check := Check{File: path}
	first, err := firstRecord(blocks)
	if errors.Is(err, io.EOF) {
		return nil, check, &FileError{File: path, Problem: "is empty", Hint: "the first line must name the columns"}
	}
	if err != nil {
		return nil, check, csvError(path, err, &check)
	}
	enc, err := newEncoder(e, opt)
	if err != nil {
		return nil, check, err
	}
	header, isRecord, err := enc.firstLine(path, first.cells, e)
	if err != nil {
		return nil, check, err
	}
	at, errs := enc.match(path, header)
	if len(errs) > 0 {
		return nil, check, errors.Join(errs...)
	}
	records, lines := first.rest, first.restLines
	if isRecord {
		records, lines = first.block, first.lines
	}
	blocks.unread(records)
	if err := unsureDecimals(path, first.separator, e.Decimal); err != nil {
		return nil, check, err
	}
	n := 0
	if count != nil {
		if n, err = count(); err != nil {
			return nil, check, err
		}
	}
	if err := enc.allocate(path, n, e, opt); err != nil {
		return nil, check, err
	}
	switch err := encodeCSV(blocks, lines, newCSVLayout(len(header), first.separator, at, enc), enc); {
	case errors.Is(err, errFull):
		return nil, check, tooLarge(path, opt)
	case err != nil:
		return nil, check, csvError(path, err, &check)
	}
	return enc.rows, enc.check(path), nil
}

// allocate makes the table for at most n rows of the file; 0 is unknown. How
// many units have them is not known before they are read, so with several rows
// per unit the table starts as one of full units, and grows.
func (e *encoder) allocate(path string, n int, enc models.Encoding, opt Options) error {
	k := enc.Width()
	width := 8
	if opt.Precision == Float32 {
		width = 4
	}
	stride := padded(k+opt.Spare, width)
	record := int64(stride) * int64(width)
	if opt.MaxMemory > 0 && record > 0 {
		e.limit = int(max(1, opt.MaxMemory/record))
	}
	if e.units != nil {
		n /= e.units.most
		if e.limit > 0 {
			n = min(n, e.limit)
		}
	}
	if e.limit > 0 && n > e.limit {
		return tooLarge(path, opt)
	}
	e.rows = newRows(opt.Precision, n, k, stride)
	return nil
}

func tooLarge(path string, opt Options) error {
	return &FileError{
		File:    path,
		Problem: fmt.Sprintf("the encoded table does not fit in the %d MiB allowed", opt.MaxMemory>>20),
		Hint:    "use fewer columns, float32, or a larger machine",
	}
}

// csvError keeps the line number out of the message and in the check; where that
// can be read is for the caller to add.
func csvError(path string, err error, check *Check) error {
	var file *FileError
	if errors.As(err, &file) { // what says so itself
		return err
	}
	var bad *malformed
	if !errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", path, err)
	}
	check.Problem = &MalformedCheck{Line: bad.line, Problem: bad.problem}
	return &FileError{File: path, Problem: bad.problem}
}
