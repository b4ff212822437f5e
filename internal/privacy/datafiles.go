package privacy

import (
	"path/filepath"
	"strings"

	"d3p/internal/privacy/internal/records"
)

// DataFiles are the files of the table that a user calls data, in order: data itself; the
// data files below a folder; those that match a pattern such as claims/*.parquet; those
// that @LIST names, a path in each line.
func DataFiles(data string) ([]string, error) { return records.Files(data) }

// AbsoluteData is data with an absolute path.
func AbsoluteData(data string) (string, error) {
	list, isList := strings.CutPrefix(data, "@")
	path, err := filepath.Abs(list)
	if isList {
		path = "@" + path
	}
	return path, err
}
