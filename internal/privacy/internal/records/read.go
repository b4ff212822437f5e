package records

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"d3p/internal/models"
	"d3p/internal/privacy/internal/records/tablefile"
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

// Read reads the CSV, Parquet, idx or npy file at path and encodes it. What it is
// says its name or e.Format. The Check is private, also when err is not nil.
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
		return nil, check, &tablefile.FileError{File: path, Problem: "is a directory", Hint: "name one CSV or Parquet file"}
	}
	is := tablefile.FormatOf(path, e.Format)
	if is.Kind == tablefile.CSV {
		var count func() (int, error)
		if info.Mode().IsRegular() { // a pipe has text of unknown length
			count = func() (int, error) { return countLines(path, is.Gzipped) }
		}
		text, err := tablefile.Plain(path, f, is.Gzipped)
		if err != nil {
			return nil, check, err
		}
		return readCSV(path, text, count, e, opt)
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, check, &tablefile.FileError{File: path, Problem: "is no regular file", Hint: "only CSV is read from a pipe"}
	case is.Kind == tablefile.Parquet:
		return readParquet(path, f, e, opt)
	}
	return readArray(path, f, e, opt)
}

// countLines returns an upper bound on the rows of a CSV file, compressed or not, so
// that the table is allocated once.
func countLines(path string, gzipped bool) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	text, err := tablefile.Plain(path, f, gzipped)
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

// readCSV reads CSV text; count, unless nil, bounds the number of its rows. Of a text
// with a header line the first bytes say how it is encoded; without one they are a
// record's and say nothing.
func readCSV(path string, text *bufio.Reader, count func() (int, error), e models.Encoding, opt Options) (*Rows, Check, error) {
	encoding := e.Text
	if !e.Headless {
		start, _ := text.Peek(4)
		if other := tablefile.OtherFormat(path, string(start)); other != nil {
			return nil, Check{File: path}, other
		}
		encoding = tablefile.Marked(text, e.Text)
	}
	return encodeBlocks(path, &tablefile.Blocks{Src: tablefile.Decoded(text, encoding), Size: tablefile.BlockSize}, count, e, opt)
}

// encodeBlocks encodes blocks of text. What is wrong with the header is found before
// the rest is looked at.
func encodeBlocks(path string, blocks *tablefile.Blocks, count func() (int, error), e models.Encoding, opt Options) (*Rows, Check, error) {
	check := Check{File: path}
	enc, err := newEncoder(e, opt)
	if err != nil {
		return nil, check, err
	}
	names, separator, lines, err := enc.head(path, blocks, e)
	if err != nil {
		return nil, check, err
	}
	at, errs := enc.match(path, names)
	if len(errs) > 0 {
		return nil, check, errors.Join(errs...)
	}
	if err := tablefile.UnsureDecimals(path, separator, e.Decimal); err != nil {
		return nil, check, err
	}
	blocks.Rows = tablefile.Lines{Separator: separator, Width: len(names), Quotes: e.Quotes}
	n := 0
	if count != nil {
		if n, err = count(); err != nil {
			return nil, check, err
		}
	}
	enc.allocate(n, e, opt)
	switch err := encodeCSV(blocks, lines, newCSVLayout(blocks.Rows, at, enc), enc); {
	case errors.Is(err, errFull):
		return nil, check, tooLarge(path, opt)
	case err != nil:
		return nil, check, readError(path, err)
	}
	return enc.rows, enc.check(path), nil
}

// allocate makes the table with room for n rows of the file; 0 is unknown. How
// many units have them is not known before they are read, so with several rows
// per unit the table starts as one of full units, and grows. That n rows would not fit
// in memory is no error: line ends in quotes are counted in n, too.
func (e *encoder) allocate(n int, enc models.Encoding, opt Options) {
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
	}
	if e.limit > 0 {
		n = min(n, e.limit)
	}
	e.rows = newRows(opt.Precision, n, k, stride)
}

func tooLarge(path string, opt Options) error {
	return &tablefile.FileError{
		File:    path,
		Problem: fmt.Sprintf("the encoded table does not fit in the %d MiB allowed", opt.MaxMemory>>20),
		Hint:    "use fewer columns, float32, or a larger machine",
	}
}

// readError says that a file cannot be read to its end.
func readError(path string, err error) error {
	var file *tablefile.FileError
	if errors.As(err, &file) { // what says so itself
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
