package privacy

import (
	"d3p/internal/models"
	"d3p/internal/privacy/internal/records"
)

// Separator returns what stands between the fields of CSV text that starts with this
// header line; see records.Separator.
func Separator(header []byte) byte { return records.Separator(header) }

// ReadNewRows reads and encodes rows that the caller may see and that no fit
// protects: rows to predict for. They never reach a Curator.
func ReadNewRows(path string, e models.Encoding) (*Rows, error) {
	rows, _, err := records.Read(path, e, records.Options{})
	return rows, err
}
