package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds the length of one record: beyond it a quote was never closed.
const maxLine = 16 << 20

// malformed says why the text is not CSV. The line goes to the private check.
type malformed struct {
	line    int
	problem string
}

func (m *malformed) Error() string { return m.problem }

// csvReader splits CSV text as RFC 4180 and encoding/csv do: comma separated,
// fields may be quoted and then hold commas, doubled quotes and line ends;
// lines end in \n or \r\n; blank lines are skipped; a byte order mark at the
// start is skipped; every record has as many fields as the first.
type csvReader struct {
	src    io.Reader
	buf    []byte // unread text is buf[lo:hi]
	lo, hi int
	eof    bool
	line   int // of the record last read, from 1
	lines  int // line ends seen
	width  int // fields of the first record
	cells  [][]byte
	quoted []byte // cells of the current record that had to be rewritten
}

func newCSVReader(src io.Reader) *csvReader {
	return &csvReader{src: src, buf: make([]byte, 256<<10)}
}

// read returns the cells of the next record, valid until the next call, or
// io.EOF. An error of type *malformed is about the text.
func (r *csvReader) read() ([][]byte, error) {
	for {
		text, err := r.record()
		if err != nil {
			return nil, err
		}
		if len(text) == 0 {
			continue // a blank line
		}
		r.cells = r.cells[:0]
		if bytes.IndexByte(text, '"') < 0 {
			r.split(text)
		} else if err := r.splitQuoted(text); err != nil {
			return nil, err
		}
		if r.width == 0 {
			r.width = len(r.cells)
		}
		if len(r.cells) != r.width {
			return nil, &malformed{r.line, fmt.Sprintf("a line does not have the %d fields of the first line", r.width)}
		}
		return r.cells, nil
	}
}

// record returns the text up to the next line end that is not inside quotes.
func (r *csvReader) record() ([]byte, error) {
	r.line = r.lines + 1
	scanned, quotes := 0, 0
	for {
		end := bytes.IndexByte(r.buf[r.lo+scanned:r.hi], '\n')
		if end < 0 {
			if !r.eof {
				scanned, quotes = 0, 0
				r.lines = r.line - 1
				if err := r.fill(); err != nil {
					return nil, err
				}
				continue
			}
			if r.lo == r.hi {
				return nil, io.EOF
			}
			text := r.buf[r.lo:r.hi]
			r.lo = r.hi
			return bytes.TrimSuffix(text, []byte("\r")), nil
		}
		r.lines++
		quotes += bytes.Count(r.buf[r.lo+scanned:r.lo+scanned+end], []byte(`"`))
		scanned += end + 1
		if quotes%2 == 0 {
			text := r.buf[r.lo : r.lo+scanned-1]
			r.lo += scanned
			return bytes.TrimSuffix(text, []byte("\r")), nil
		}
	}
}

// fill reads more text behind the unread part, growing the buffer when that
// part fills it.
func (r *csvReader) fill() error {
	start := r.line == 1 && r.lo == 0 && r.hi == 0
	if r.lo > 0 {
		r.hi = copy(r.buf, r.buf[r.lo:r.hi])
		r.lo = 0
	}
	if r.hi == len(r.buf) {
		if len(r.buf) >= maxLine {
			return &malformed{r.line, "a line is longer than 16 MiB: is a quote never closed?"}
		}
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	n, err := io.ReadAtLeast(r.src, r.buf[r.hi:], min(3, len(r.buf)-r.hi))
	r.hi += n
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.eof = true
	} else if err != nil {
		return err
	}
	if start && bytes.HasPrefix(r.buf[:r.hi], []byte("\xef\xbb\xbf")) {
		r.lo = 3
	}
	return nil
}

// split cuts a record without quotes at its commas.
func (r *csvReader) split(text []byte) {
	start := 0
	for i, c := range text {
		if c == ',' {
			r.cells = append(r.cells, text[start:i])
			start = i + 1
		}
	}
	r.cells = append(r.cells, text[start:])
}

// splitQuoted cuts a record in which some field is quoted.
func (r *csvReader) splitQuoted(text []byte) error {
	r.quoted = r.quoted[:0]
	if cap(r.quoted) < len(text) { // cells point into it: it must not move
		r.quoted = make([]byte, 0, 2*len(text))
	}
	for {
		if len(text) == 0 || text[0] != '"' {
			end := bytes.IndexByte(text, ',')
			cell := text
			if end >= 0 {
				cell = text[:end]
			}
			if bytes.IndexByte(cell, '"') >= 0 {
				return &malformed{r.line, "a quote stands inside a field that does not start with one"}
			}
			r.cells = append(r.cells, cell)
			if end < 0 {
				return nil
			}
			text = text[end+1:]
			continue
		}
		start := len(r.quoted)
		text = text[1:]
		for {
			end := bytes.IndexByte(text, '"')
			if end < 0 {
				return &malformed{r.line, "a quote is never closed"}
			}
			r.quoted = append(r.quoted, text[:end]...)
			text = text[end+1:]
			if len(text) == 0 || text[0] != '"' {
				break
			}
			r.quoted = append(r.quoted, '"')
			text = text[1:]
		}
		r.cells = append(r.cells, r.quoted[start:len(r.quoted):len(r.quoted)])
		if len(text) == 0 {
			return nil
		}
		if text[0] != ',' {
			return &malformed{r.line, "something stands between a closing quote and the next comma"}
		}
		text = text[1:]
	}
}
