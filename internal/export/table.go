// Package export writes tables drawn from a model, synthetic or simulated, as data files:
// in the unit of the file, levels by name, missing values as empty cells. It writes images
// as one picture, and Arrow records as Parquet.
package export

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"d3p/internal/models/simulate"
)

// Options are the parts of a file besides the table.
type Options struct {
	// Privacy, if not empty, is the text of every row in a last column `privacy`: it
	// states that nothing protects the records.
	Privacy string
	// Metadata is stored in the file if its format has a place for it.
	Metadata map[string]string
}

// format is a file format. Formats are the names in the table and the extensions of files.
type format struct {
	name  string
	write func(io.Writer, simulate.Table, Options) error
}

// formats is the table of formats. A new format is a file and a line here.
func formats() []format {
	return []format{
		{"csv", writeCSV},
		{"parquet", writeParquet},
		{"npy", writeNPY},
	}
}

// Formats lists the names of the formats.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// FormatOf is the format that the extension of a path names.
func FormatOf(path string) (string, error) {
	ext := strings.TrimPrefix(filepath.Ext(path), ".")
	if !slices.Contains(Formats(), ext) {
		return "", fmt.Errorf("%s: unknown extension; use one of .%s", path, strings.Join(Formats(), ", ."))
	}
	return ext, nil
}

// Write writes a table in one of Formats.
func Write(w io.Writer, name string, t simulate.Table, o Options) error {
	for _, f := range formats() {
		if f.name == name {
			return f.write(w, t, o)
		}
	}
	return fmt.Errorf("export: unknown format %s", name)
}

// rows is the number of records of a table.
func rows(t simulate.Table) int {
	if len(t.Values) == 0 {
		return 0
	}
	return len(t.Values[0])
}
