package spec

import (
	"slices"
	"strings"

	"d3p/internal/models/data"
)

// Encodings are the names, for `data: encoding:`, of how the letters of a file of
// text are written.
func Encodings() []string {
	return []string{"utf-8", "latin1", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1257", "utf-16le", "utf-16be"}
}

// Formats are the names, for `data: format:`, of what a file is: the ends that names
// of such files have.
func Formats() []string {
	return []string{"csv", "csv.gz", "parquet", "npy", "npy.gz", "idx", "idx.gz"}
}

// Separators are the names, for `data: separator:`, of what stands between fields.
func Separators() []string { return []string{",", ";", "|", "tab"} }

// What `data: quotes:` may say of a file of text besides RFC 4180, where a quoted field
// may hold line ends: a quote that is open at the end of its line is a mistake; or
// quotes are letters like any other.
const (
	OneLine  = "one_line"
	NoQuotes = "none"
)

// checkSeparator checks that what a header line would tell of the fields of a file
// of text is declared where there is none.
func (r *reader) checkSeparator(d *data.Data) {
	text := !d.Format.IsSet() || strings.HasPrefix(d.Format.V, "csv")
	if len(d.Header) > 0 && text && !d.Separator.IsSet() {
		hint := "add `separator: \",\"`, or \";\", \"|\", tab"
		if d.Decimal.V == "," {
			hint = "add `separator: \";\"`, or \",\", \"|\", tab"
		}
		r.Add(d.Header[0].At, hint, "header: a file without header line does not say what separates its fields")
	}
	if d.Separator.V == ";" && !d.Decimal.IsSet() {
		r.Add(d.Separator.At, "add `decimal: \",\"`, as in 3,14, or `decimal: \".\"`", "fields are separated by semicolons, so decimals may be commas")
	}
}

// checkHeader checks that `header:`, which stands for the first line of a file,
// names what is read from it.
func (r *reader) checkHeader(d *data.Data) {
	if len(d.Header) == 0 {
		return
	}
	names := make([]string, len(d.Header))
	for i, h := range d.Header {
		names[i] = h.V
	}
	at, hint := d.Header[0].At, "name all columns of the file in order, also those that nothing reads"
	for _, c := range d.AllColumns() {
		if !slices.Contains(names, c.HeaderName()) {
			r.Add(at, hint, "header does not name %s", c.HeaderName())
		}
	}
	if id := d.Unit.ID; id.IsSet() && !slices.Contains(names, id.V) {
		r.Add(at, hint, "header does not name %s, the id of the unit", id.V)
	}
}
