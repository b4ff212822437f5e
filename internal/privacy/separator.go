package privacy

import "d3p/internal/privacy/internal/records"

// Separator returns what stands between the fields of CSV text that starts with this
// header line; see records.Separator.
func Separator(header []byte) byte { return records.Separator(header) }
