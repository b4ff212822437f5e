package tablefile

import "bytes"

// separators may stand between the fields of CSV text; spec.Separators are their
// names.
const separators = ",;\t|"

// SeparatorOf is the separator with a name, one of spec.Separators.
func SeparatorOf(name string) byte {
	if name == "tab" {
		return '\t'
	}
	return name[0]
}

// SeparatorName is how a model file writes a separator.
func SeparatorName(separator byte) string {
	if separator == '\t' {
		return "tab"
	}
	return `"` + string(separator) + `"`
}

// HeadAdvice is what to do about a first line that names no columns as CSV does; "" where it shows no reason.
func HeadAdvice(line []byte) string {
	switch {
	case !bytes.ContainsAny(line, separators) && bytes.IndexByte(bytes.TrimSpace(line), ' ') > 0:
		return "separate fields by commas, semicolons, tabs or bars, not by spaces; in R by write.csv"
	case inSingleQuotes(line):
		return "put names and values in double quotes or none, not in single ones"
	case bytes.Count(line, []byte{'"'})%2 != 0:
		return "the first line must name the columns: take line breaks out of the names"
	}
	return ""
}

// inSingleQuotes reports whether all fields of a line stand in single quotes, which are part of the text in CSV.
func inSingleQuotes(line []byte) bool {
	for field := range bytes.SplitSeq(line, []byte{Separator(line)}) {
		if field = bytes.TrimSpace(field); len(field) < 2 || field[0] != '\'' || field[len(field)-1] != '\'' {
			return false
		}
	}
	return true
}

// UTF16 is the encoding of a line of text that has zero bytes as UTF-16 has; "" for other text.
func UTF16(line []byte) string {
	for i, name := range []string{"utf-16be", "utf-16le"} { // the byte that is 0 of a Latin letter
		if len(line) > 3 && line[i] == 0 && line[i+2] == 0 && line[1-i] != 0 {
			return name
		}
	}
	return ""
}

// Separator returns the separator of CSV text that starts with this header: the most
// frequent of comma, semicolon, tab and bar outside quotes, a comma without any.
func Separator(header []byte) byte {
	var count [256]int
	for i, part := range bytes.Split(header, []byte{'"'}) {
		if i%2 == 0 {
			for _, c := range part {
				count[c]++
			}
		}
	}
	best := separators[0]
	for _, c := range []byte(separators) {
		if count[c] > count[best] {
			best = c
		}
	}
	return best
}

// NoNames reports whether a first line is blank or Excel's note of the separator: the names of
// the columns follow it.
func NoNames(line []byte) bool {
	note, ok := bytes.CutPrefix(bytes.Trim(line, "\"\r\n"), []byte("sep="))
	return len(line) == 0 || ok && len(note) == 1
}

// UnsureDecimals refuses a file with semicolons between fields, which decimal commas
// require, unless the decimal sign is declared: with the wrong sign every record would
// contribute nothing, without a message.
func UnsureDecimals(path string, separator byte, decimal string) error {
	if separator != ';' || decimal != "" {
		return nil
	}
	return &FileError{File: path, Problem: "fields are separated by semicolons, so decimals may be commas", Hint: `under data: add decimal: ",", as in 3,14, or decimal: "."`}
}
