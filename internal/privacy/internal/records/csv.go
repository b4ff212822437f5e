package records

import (
	"bytes"
	"fmt"
	"io"
)

// malformed says why the text is not CSV. The line goes to the private check.
type malformed struct {
	line    int
	problem string
}

func (m *malformed) Error() string { return m.problem }

// csvText splits whole lines of CSV text as RFC 4180 and encoding/csv do: fields
// are separated by commas, or by what Separator says of the first record, and may be
// quoted, and then hold separators, doubled quotes and line ends; lines end in \n or \r\n; blank lines are skipped; every record has as
// many fields as the first.
type csvText struct {
	rest      []byte // not read yet
	separator byte   // of fields; 0: not known before the first record
	line      int    // of the record last read, from 1
	lines     int    // line ends seen
	width     int    // fields of the first record
	cells     [][]byte
	quoted    []byte // cells of the current record that had to be rewritten
}

// read returns the cells of the next record, valid until the next call, or
// io.EOF. Other errors are of type *malformed.
func (r *csvText) read() ([][]byte, error) {
	for {
		if len(r.rest) == 0 {
			return nil, io.EOF
		}
		text := r.record()
		if len(text) == 0 {
			continue // a blank line
		}
		if r.separator == 0 {
			r.separator = Separator(text)
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
			return nil, raggedLine(r.line, r.width)
		}
		return r.cells, nil
	}
}

func raggedLine(line, width int) error {
	return &malformed{line, fmt.Sprintf("a line does not have the %d fields of the first line", width)}
}

// record returns the text up to the next line end that is not inside quotes, or
// all that is left.
func (r *csvText) record() []byte {
	r.line = r.lines + 1
	text, quotes := r.rest, 0
	for scanned := 0; ; {
		end := bytes.IndexByte(text[scanned:], '\n')
		if end < 0 {
			r.rest = nil
			return bytes.TrimSuffix(text, []byte("\r"))
		}
		r.lines++
		quotes += bytes.Count(text[scanned:scanned+end], []byte{'"'})
		scanned += end + 1
		if quotes%2 == 0 {
			r.rest = text[scanned:]
			return bytes.TrimSuffix(text[:scanned-1], []byte("\r"))
		}
	}
}

// split cuts a record without quotes at its separators.
func (r *csvText) split(text []byte) {
	start := 0
	for i, c := range text {
		if c == r.separator {
			r.cells = append(r.cells, text[start:i])
			start = i + 1
		}
	}
	r.cells = append(r.cells, text[start:])
}

// splitQuoted cuts a record in which some field is quoted.
func (r *csvText) splitQuoted(text []byte) error {
	r.quoted = r.quoted[:0]
	if cap(r.quoted) < len(text) { // cells point into it: it must not move
		r.quoted = make([]byte, 0, 2*len(text))
	}
	for {
		if len(text) == 0 || text[0] != '"' {
			end := bytes.IndexByte(text, r.separator)
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
		if text[0] != r.separator {
			return &malformed{r.line, "something stands between a closing quote and the end of its field"}
		}
		text = text[1:]
	}
}
