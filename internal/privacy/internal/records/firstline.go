package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"d3p/internal/models"
)

// opening is the start of CSV text: its first record, and what lies around it.
type opening struct {
	cells     [][]byte
	separator byte
	block     []byte // the text it stands in, blank lines before it included
	lines     int    // line ends before the block
	rest      []byte // of the block, behind the record
	restLines int    // line ends before rest
}

// firstRecord reads the first record of CSV text.
func firstRecord(blocks *csvBlocks) (opening, error) {
	var text csvText
	for {
		before := text.lines
		block, _, err := blocks.next(nil)
		text.rest = block
		cells, textErr := text.read()
		switch {
		case textErr == nil:
			return opening{cells, text.separator, block, before, text.rest, text.lines}, nil
		case !errors.Is(textErr, io.EOF): // else blank lines
			return opening{}, textErr
		case err != nil:
			var bad *malformed
			if errors.As(err, &bad) {
				bad.line += text.lines
			}
			return opening{}, err
		}
	}
}

// firstLine returns the names of the columns of a CSV file with this first line,
// and whether the line itself is a record, whose names the model file has. What it
// cannot be is an error, which never quotes it.
func (e *encoder) firstLine(path string, cells [][]byte, enc models.Encoding) (names []string, isRecord bool, err error) {
	header := make([]string, len(cells))
	for i, cell := range cells {
		if problem := notText(cell); problem != nil && !enc.Headless {
			problem.File = path
			return nil, false, problem
		}
		header[i] = string(bytes.TrimSpace(cell))
	}
	wanted := e.names()
	all, some := len(wanted) > 0 || !enc.Headless, false
	for _, w := range wanted {
		all = all && slices.Contains(header, w)
		some = some || slices.ContainsFunc(header, func(h string) bool { return strings.EqualFold(w, h) })
	}
	switch {
	case all:
		return header, false, nil
	case enc.Headless && len(cells) != len(enc.Header):
		return nil, false, &FileError{File: path, Problem: fmt.Sprintf("header names %d columns, but a line has %d fields", len(enc.Header), len(cells)),
			Hint: "under data, header: names all columns of the file in order"}
	case enc.Headless:
		return enc.Header, true, nil
	case !some:
		return nil, false, &FileError{File: path, Problem: "the first line names none of the columns " + shortList(wanted),
			Hint: "put the names there; or, where it is a record, under data: header: [" + shortList(wanted) + "], all columns of the file in order"}
	}
	return header, false, nil // match says what is wrong
}

// names are those of the columns that are read; that of ids, where there is one,
// comes last.
func (e *encoder) names() []string {
	var names []string
	for i := range e.columns {
		names = append(names, e.columns[i].name)
	}
	if e.units != nil {
		names = append(names, e.units.name)
	}
	return names
}

// notText says why a cell of the first line is none of a text; nil when it may be.
func notText(cell []byte) *FileError {
	switch i := bytes.IndexByte(cell, '\r'); {
	case !utf8.Valid(cell) || bytes.IndexByte(cell, 0) >= 0:
		return &FileError{Problem: "is not text in UTF-8", Hint: "under data add encoding: windows-1252, which Excel writes in Western Europe; or export CSV in UTF-8, or Parquet"}
	case i >= 0 && !bytes.HasPrefix(cell[i:], []byte("\r\n")):
		return &FileError{Problem: "its lines end in carriage returns alone", Hint: `tr '\r' '\n' < FILE > NEW.csv`}
	}
	return nil
}

// shortList joins names by commas, the first of many.
func shortList(names []string) string {
	const most = 6
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "...")
	}
	return strings.Join(names, ", ")
}
