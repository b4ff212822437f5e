package tablefile

import (
	"bytes"
	"fmt"
	"slices"

	"d3p/internal/models/spec"
)

// CSV text is split as RFC 4180 and encoding/csv do: fields are separated by one letter;
// quoted fields may hold separators, doubled quotes and line ends; lines end in \n or \r\n;
// blank lines are skipped.
//
// A row is a line, or several lines that quotes join, all of them closed, with as many
// fields as the table has columns. Any other line is malformed: it is one row, and the next
// line starts a new row. So a correctly quoted row is read in the same way between any
// rows. If the model file declares that quotes join no lines, a row is a line.

// MaxRow bounds the length of a row in bytes; a quote that is open for longer is never
// closed.
const MaxRow = 16 << 20

// A csvProblem is the reason why a row is malformed; "" for a sound row.
type Malformed string

const (
	bareQuote  Malformed = "a quote stands inside a field that does not start with one"
	afterQuote Malformed = "something stands between a closing quote and the end of its field"
	openQuote  Malformed = "a quote is never closed"
	LongRow    Malformed = "a line is longer than 16 MiB"
)

// Ragged is the fault of a line of a table of width fields that has more or fewer.
func Ragged(width int) Malformed {
	return Malformed(fmt.Sprintf("a line does not have the %d fields of the table", width))
}

// Lines splits rows.
type Lines struct {
	Separator byte     // of fields
	Width     int      // fields of a row; 0: any number, and a row is a line
	Quotes    string   // their meaning, as in encoding.Encoding
	Cells     [][]byte // of the current row
	Quoted    []byte   // cells that had to be rewritten
}

// Row splits the row at the begin of text, with its line end, into r.cells (none for a
// blank line), and returns its end. If text is not final, the answer is provisional unless
// it is sure.
func (r *Lines) Row(text []byte, final bool) (end int, problem Malformed, sure bool) {
	line, end := LineOf(text)
	sure = end > len(line) || final
	long := len(line) > MaxRow // its mark included, as in text without quotes
	line, r.Cells = bytes.TrimPrefix(line, []byte(MarkUTF8)), r.Cells[:0]
	switch {
	case len(line) == 0:
		return end, "", sure
	case long:
		return end, LongRow, sure
	case r.Quotes == spec.NoQuotes || bytes.IndexByte(line, '"') < 0:
		r.split(line)
		if r.Width > 0 && len(r.Cells) != r.Width {
			problem = Ragged(r.Width)
		}
		return end, problem, sure
	}
	if r.Quotes == spec.OneLine {
		text, final = text[:end], sure
	}
	mark := len(text[:end]) - len(bytes.TrimPrefix(text[:end], []byte(MarkUTF8)))
	rowEnd, problem, whole := r.splitQuoted(text[mark:min(len(text), mark+MaxRow)])
	cut := len(text)-mark >= MaxRow
	if !whole && problem == "" && cut {
		problem = openQuote
	}
	if rowEnd += mark; problem != "" && rowEnd >= end {
		problem = openQuote // in its line
	}
	switch {
	case !whole && !cut && !final:
		return end, problem, false
	case problem == "" && rowEnd > end && len(r.Cells) != r.Width:
		return end, openQuote, true
	case problem == "" && r.Width > 0 && len(r.Cells) != r.Width:
		return end, Ragged(r.Width), true
	case problem == "":
		return rowEnd, "", true
	}
	return end, problem, sure
}

// LineOf returns the first line of text without its end, and where the next one starts.
func LineOf(text []byte) (line []byte, next int) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return bytes.TrimSuffix(text[:i], []byte("\r")), i + 1
	}
	return bytes.TrimSuffix(text, []byte("\r")), len(text)
}

// split cuts a line without quotes at its separators.
func (r *Lines) split(text []byte) {
	start := 0
	for i, c := range text {
		if c == r.Separator {
			r.Cells = append(r.Cells, text[start:i])
			start = i + 1
		}
	}
	r.Cells = append(r.Cells, text[start:])
}

// splitQuoted cuts a row with quoted fields and returns its end; whole is false if text
// ends first. It stops after more than r.width fields.
func (r *Lines) splitQuoted(text []byte) (end int, problem Malformed, whole bool) {
	r.Quoted = r.Quoted[:0]
	for at := 0; ; {
		if r.Width > 0 && len(r.Cells) > r.Width {
			return at, Ragged(r.Width), true
		}
		if at == len(text) || text[at] != '"' {
			stop := at
			for stop < len(text) && text[stop] != r.Separator && text[stop] != '\n' {
				if text[stop] == '"' {
					return at, bareQuote, true
				}
				stop++
			}
			cell := text[at:stop]
			if stop == len(text) || text[stop] == '\n' {
				r.Cells = append(r.Cells, bytes.TrimSuffix(cell, []byte("\r")))
				return min(stop+1, len(text)), "", stop < len(text)
			}
			r.Cells = append(r.Cells, cell)
			at = stop + 1
			continue
		}
		at++
		start := len(r.Quoted)
		for {
			stop := bytes.IndexByte(text[at:], '"')
			if stop < 0 {
				return at, openQuote, false
			}
			r.Quoted = append(r.Quoted, text[at:at+stop]...)
			at += stop + 1
			if at == len(text) || text[at] != '"' {
				break
			}
			r.Quoted = append(r.Quoted, '"')
			at++
		}
		r.Cells = append(r.Cells, slices.Clip(r.Quoted[start:]))
		switch rest := text[at:]; {
		case len(rest) == 0 || len(rest) == 1 && rest[0] == '\r':
			return len(text), "", false
		case rest[0] == '\n':
			return at + 1, "", true
		case rest[0] == '\r' && rest[1] == '\n':
			return at + 2, "", true
		case rest[0] != r.Separator:
			return at, afterQuote, true
		}
		at++
	}
}
