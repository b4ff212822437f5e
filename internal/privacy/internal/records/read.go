package records

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"d3p/internal/models/encoding"
	"d3p/internal/models/spec"
	"d3p/internal/parquet"
	"d3p/internal/privacy/internal/records/storage"
	"d3p/internal/privacy/internal/records/tablefile"
	"d3p/internal/privacy/noise"
)

// Options are the options of reading a table.
type Options struct {
	Precision Precision
	// Spare is the number of columns to keep free behind the encoded ones, for
	// derived columns.
	Spare int
	// MaxMemory bounds the encoded table in bytes; 0 is no bound.
	MaxMemory int64
	// Selection chooses the rows of units with too many, each unit's by its id.
	Selection *noise.Stream
	// Place is the place of the table. MaxMemory does not bound a table that may be on
	// disk.
	Place storage.Place
	// Codes makes the table keep the codes that counts need, until Rows.Finish.
	Codes bool
	// PackFrom is the size in bytes from which a float32 table is packed; 0: never.
	PackFrom int64
	// Share is the part of the records to read.
	Share Share
}

// Read reads the CSV, Parquet, idx, npy or CIFAR-10 files at paths, one table, and encodes
// it. e.Format or the file's name gives the format. name is the name of the table in the
// Check. The Check is private, also if err is not nil.
func Read(name string, paths []string, e encoding.Encoding, opt Options) (*Rows, Check, error) {
	check := Check{File: name}
	if err := validate(e); err != nil {
		return nil, check, err
	}
	enc, err := newEncoder(e, opt)
	if err != nil {
		return nil, check, err
	}
	if len(paths) > 1 {
		if paths, err = enc.makeRoom(opt.Share.ofFiles(paths, enc), e); err != nil {
			return nil, check, err
		}
	}
	texts := tablefile.NewDecompression(paths, e.Format)
	defer texts.Close()
	for _, path := range paths {
		switch err := enc.readFile(path, e, texts); {
		case errors.Is(err, errFull):
			return nil, check, tooLarge(path, opt)
		case err != nil:
			return nil, check, err
		}
	}
	check = enc.check(name)
	check.countVarying(enc.rows, e)
	enc.rows.Dealt = enc.dealt
	return enc.rows, check, nil
}

// makeRoom makes the table with room for the records of all paths. Of several files
// each must be one that can be opened again, so no pipe.
func (e *encoder) makeRoom(paths []string, enc encoding.Encoding) ([]string, error) {
	rows := make([]int, len(paths))
	err := together(min(runtime.GOMAXPROCS(0), len(paths)), func(k, of int) (err error) {
		for i := k; i < len(paths) && err == nil; i += of {
			rows[i], err = about(paths[i], enc)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	n := 0
	for _, more := range rows {
		n += more
	}
	return paths, e.room(n)
}

// about is roughly the number of rows of one of several files; 0 if unknown.
func about(path string, e encoding.Encoding) (int, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, &tablefile.FileError{File: path, Problem: "is no regular file", Hint: "only one file can be a pipe"}
	}
	size := info.Size()
	switch is := tablefile.FormatOf(path, e.Format); is.Kind {
	case tablefile.CSV:
		return countLines(path, is.Gzipped, e.Quotes)
	case tablefile.Parquet:
		f, err := os.Open(path)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		table, err := parquet.Open(f, size)
		if err != nil {
			return 0, damaged(path)
		}
		return plausibleRows(table.Rows(), size), nil
	}
	return 0, nil
}

// readFile adds the records of a file to the table.
func (e *encoder) readFile(path string, enc encoding.Encoding, texts *tablefile.Decompression) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		return &tablefile.FileError{File: path, Problem: "is a directory", Hint: "name one CSV or Parquet file"}
	case !info.Mode().IsRegular() && !e.share.all(): // each process would get other bytes of a pipe
		return &tablefile.FileError{File: path, Problem: "is no regular file", Hint: "several processes read a file; only one process reads a pipe"}
	}
	e.begin(path)
	is := tablefile.FormatOf(path, enc.Format)
	if is.Kind == tablefile.CSV {
		var count func() (int, error)
		if info.Mode().IsRegular() { // a pipe has text of unknown length
			count = func() (int, error) { return countLines(path, is.Gzipped, enc.Quotes) }
		}
		text, err := texts.Open(path, f, is.Gzipped)
		if err != nil {
			return err
		}
		return e.readCSV(path, text, count, e.share.block(info.Size(), tablefile.BlockSize), enc)
	}
	switch {
	case !info.Mode().IsRegular():
		return &tablefile.FileError{File: path, Problem: "is no regular file", Hint: "only CSV is read from a pipe"}
	case is.Kind == tablefile.Parquet:
		return e.readParquet(path, f, info.Size())
	}
	return e.readArray(path, f, enc)
}

// countLines returns about the number of rows of a CSV file, compressed or not, so that the
// table is allocated once. A line end within quotes ends no row: a text of one record could
// have millions.
func countLines(path string, gzipped bool, quotes string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	text, err := tablefile.Plain(path, f, gzipped)
	if err != nil {
		return 0, err
	}
	joined := quotes != spec.NoQuotes && quotes != spec.OneLine
	buf := make([]byte, 1<<20)
	lines, open := 1, false
	for {
		n, err := text.Read(buf)
		for piece := buf[:n]; len(piece) > 0; {
			end := -1
			if joined {
				end = bytes.IndexByte(piece, '"')
			}
			if end < 0 {
				end = len(piece)
			}
			if !open {
				lines += bytes.Count(piece[:end], []byte{'\n'})
			}
			if end < len(piece) {
				open = !open
				end++
			}
			piece = piece[end:]
		}
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// readCSV reads CSV text in blocks of some size; count, unless nil, is about the number of
// its rows. The first bytes of text with a header line show its encoding. Without a header
// line they belong to a record, and are not used.
func (e *encoder) readCSV(path string, text *bufio.Reader, count func() (int, error), block int, enc encoding.Encoding) error {
	encoding := enc.Text
	if !enc.Headless {
		start, _ := text.Peek(tablefile.Magic)
		if other := tablefile.OtherFormat(path, string(start)); other != nil {
			return other
		}
		encoding = tablefile.Marked(text, enc.Text)
	}
	return e.readBlocks(path, &tablefile.Blocks{Src: tablefile.Decoded(text, encoding), Size: block}, count, enc)
}

// readBlocks encodes blocks of text. It finds mistakes in the header before it reads the
// rest.
func (e *encoder) readBlocks(path string, blocks *tablefile.Blocks, count func() (int, error), enc encoding.Encoding) error {
	names, separator, lines, err := e.head(path, blocks, enc)
	if err != nil {
		return err
	}
	at, errs := e.match(path, names)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if err := tablefile.UnsureDecimals(path, separator, enc.Decimal); err != nil {
		return err
	}
	blocks.Rows = tablefile.Lines{Separator: separator, Width: len(names), Quotes: enc.Quotes}
	if e.rows == nil {
		n := 0
		if count != nil {
			if n, err = count(); err != nil {
				return err
			}
		}
		if err := e.room(n); err != nil {
			return err
		}
	}
	err = encodeCSV(blocks, lines, newCSVLayout(blocks.Rows, at, e), e)
	if err == nil || errors.Is(err, errFull) {
		return err
	}
	return readError(path, err)
}

// room makes the table with room for n rows; 0 means unknown. The number of units is
// unknown before reading, so with several rows per unit the table starts as one of full
// units, and grows. n rows that would not fit in memory are no error, because n may be too
// large.
func (e *encoder) room(n int) error {
	if e.units != nil {
		n /= e.units.most
	}
	n = e.share.of(n)
	stride := e.stride
	pack := e.packFrom > 0 && int64(n) >= e.packFrom/int64(4*stride) && e.packing != nil
	if pack {
		stride = padded(e.packing.Words(e.width+e.spare), 4)
		e.limit = e.limit * e.stride / stride
	}
	if e.limit > 0 {
		n = min(n, e.limit)
	}
	e.rows = newRows(e.precision, e.width, stride, e.place)
	if pack {
		e.rows.Packing = e.packing
	}
	e.rows.Valid = make([]bool, 0, n)
	if e.rows.Codes = e.codes; e.codes != nil {
		if err := e.codes.reserve(n, e.place); err != nil {
			return err
		}
	}
	return e.rows.makeRoom(n)
}

func tooLarge(path string, opt Options) error {
	return &tablefile.FileError{
		File:    path,
		Problem: fmt.Sprintf("the encoded table does not fit in the %d MiB allowed", opt.MaxMemory>>20),
		Hint:    "use fewer columns, float32, or a larger machine",
	}
}

// readError means that a file cannot be read to its end.
func readError(path string, err error) error {
	var file *tablefile.FileError
	if errors.As(err, &file) { // its own error explains it
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
