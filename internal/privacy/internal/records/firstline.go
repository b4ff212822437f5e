package records

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"d3p/internal/models/encoding"
	"d3p/internal/privacy/internal/records/tablefile"
)

// head returns the column names of CSV text, its separator, and the number of line ends in
// the first line, which has the names. If the model file has the names it reads nothing,
// because the first line is a record.
func (e *encoder) head(path string, blocks *tablefile.Blocks, enc encoding.Encoding) (names []string, separator byte, lines int, err error) {
	if enc.Headless {
		if enc.Separator == "" {
			return nil, 0, 0, &tablefile.FileError{File: path, Problem: "has no header line that shows what separates its fields", Hint: `under data add separator: ",", or ";", "|", tab`}
		}
		return enc.Header, tablefile.SeparatorOf(enc.Separator), 0, nil
	}
	line, lines, err := blocks.Header()
	if errors.Is(err, io.EOF) {
		return nil, 0, 0, &tablefile.FileError{File: path, Problem: "is empty", Hint: "the first line must name the columns"}
	}
	if err != nil {
		return nil, 0, 0, readError(path, err)
	}
	if wide := tablefile.UTF16(line); wide != "" {
		return nil, 0, 0, &tablefile.FileError{File: path, Problem: "is text in UTF-16 that does not say so", Hint: "under data add encoding: " + wide}
	}
	if separator = tablefile.Separator(line); enc.Separator != "" {
		separator = tablefile.SeparatorOf(enc.Separator)
	}
	text := tablefile.Lines{Separator: separator, Quotes: enc.Quotes}
	if _, problem, _ := text.Row(line, true); problem != "" {
		hint := cmp.Or(tablefile.HeadAdvice(line), "the first line must name the columns")
		return nil, 0, 0, &tablefile.FileError{File: path, Problem: "in the first line " + string(problem), Hint: hint}
	}
	names, err = e.header(path, text.Cells, line, separator)
	return names, separator, lines, err
}

// header returns the names of the columns of a CSV file with this first line of cells. An invalid
// header is an error, which never quotes it.
func (e *encoder) header(path string, cells [][]byte, line []byte, separator byte) (names []string, err error) {
	names, wanted := make([]string, len(cells)), e.names()
	for i, cell := range cells {
		if problem := notText(cell); problem != nil {
			problem.File = path
			return nil, problem
		}
		if names[i] = string(cell); !slices.Contains(wanted, names[i]) { // a declared header may end in spaces, too
			names[i] = string(bytes.TrimSpace(cell))
		}
	}
	all, some := true, false
	for _, w := range wanted {
		all = all && slices.Contains(names, w)
		some = some || slices.ContainsFunc(names, func(h string) bool { return strings.EqualFold(w, h) })
	}
	if !all && !some {
		hint := "put the names there, without a title above; or, where it is a record, under data: header: [" + shortList(wanted) + "], all columns of the file in order, and separator: " + tablefile.SeparatorName(separator)
		return nil, &tablefile.FileError{File: path, Problem: "the first line names none of the columns " + shortList(wanted), Hint: cmp.Or(tablefile.HeadAdvice(line), hint)}
	}
	return names, nil // match reports the mistake
}

// names are the names of the columns to read; the column of ids, if any, comes last.
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

// notText is the reason why a cell of the first line is not text; nil if it may be text.
func notText(cell []byte) *tablefile.FileError {
	switch i := bytes.IndexByte(cell, '\r'); {
	case !utf8.Valid(cell) || bytes.IndexByte(cell, 0) >= 0:
		return &tablefile.FileError{Problem: "is not text in UTF-8", Hint: "under data add encoding: windows-1252, which Excel writes in Western Europe; or export CSV in UTF-8, or Parquet"}
	case i >= 0 && !bytes.HasPrefix(cell[i:], []byte("\r\n")):
		return &tablefile.FileError{Problem: "its lines end in carriage returns alone", Hint: `tr '\r' '\n' < FILE > NEW.csv`}
	}
	return nil
}

// shortList joins names by commas as a list of a model file does, the first of many.
func shortList(names []string) string {
	const most = 6
	var list []string
	for _, name := range names[:min(len(names), most)] {
		if strings.ContainsAny(name, ",:#[]{}\"'?&*!|>%@`") {
			name = strconv.Quote(name)
		}
		list = append(list, name)
	}
	if len(names) > most {
		list = append(list, "...")
	}
	return strings.Join(list, ", ")
}
