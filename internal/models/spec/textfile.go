package spec

import "slices"

// Encodings are the names, for `data: encoding:`, of how the letters of a file of
// text are written.
func Encodings() []string {
	return []string{"utf-8", "latin1", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1257"}
}

// checkHeader checks that `header:`, which stands for the first line of a file,
// names what is read from it.
func (r *reader) checkHeader(d *Data) {
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
			r.add(at, hint, "header does not name %s", c.HeaderName())
		}
	}
	if id := d.Unit.ID; id.IsSet() && !slices.Contains(names, id.V) {
		r.add(at, hint, "header does not name %s, the id of the unit", id.V)
	}
}
