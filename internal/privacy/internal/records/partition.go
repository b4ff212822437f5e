package records

import (
	"encoding/hex"
	"path/filepath"
	"strings"
)

// noPartition is Hive's name of the folder with the records without a value.
const noPartition = "__HIVE_DEFAULT_PARTITION__"

// partition is the cell that the records of a file have in a column which the names of
// the file's folders give, as in year=2020/part.parquet; ok is false if none does. The
// innermost folder counts.
func partition(file, column string) (cell []byte, ok bool) {
	folders := strings.Split(filepath.ToSlash(filepath.Dir(file)), "/")
	for i := len(folders) - 1; i >= 0; i-- {
		name, value, found := strings.Cut(folders[i], "=")
		if !found || plain(name) != column {
			continue
		}
		if value == noPartition {
			return []byte{}, true
		}
		return []byte(plain(value)), true
	}
	return nil, false
}

// Partitions are the columns that the names of a file's folders give, the outermost first.
func Partitions(file string) (columns []string) {
	for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(file)), "/") {
		if name, _, found := strings.Cut(folder, "="); found {
			columns = append(columns, plain(name))
		}
	}
	return columns
}

// plain is a name without the escapes of Hive, such as %2F. A name without valid escapes
// stays unchanged.
func plain(name string) string {
	parts := strings.Split(name, "%")
	for i, part := range parts[1:] {
		if len(part) < 2 {
			return name
		}
		b, err := hex.DecodeString(part[:2])
		if err != nil {
			return name
		}
		parts[i+1] = string(b) + part[2:]
	}
	return strings.Join(parts, "")
}

// partitionCells encodes the cells of the current row that its file does not have.
func (e *encoder) partitionCells() {
	for k, cell := range e.partitions {
		if cell != nil {
			e.text(&e.columns[k], cell)
		}
	}
}
