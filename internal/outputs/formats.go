package outputs

import (
	"slices"
	"strings"

	"d3p/internal/release"
	"d3p/internal/settings"
)

// format writes a file format of the posterior draws.
type format struct {
	name  string
	names []string // of its files, except those below idata.zarr/
	files func(*Sample) []release.File
}

// formats is the table of writers for the formats of package settings. A new one is a file
// and a line here and a line there.
func formats() []format {
	return []format{
		{"parquet", []string{drawsName}, func(s *Sample) []release.File { return []release.File{DrawsFile(s.Draws, s.Metadata())} }},
		{settings.FormatZarr, nil, zarrFiles},
		{"csv", []string{csvName}, func(s *Sample) []release.File { return []release.File{csvFile(s)} }},
		{"long", []string{longName}, func(s *Sample) []release.File { return []release.File{longFile(s)} }},
		{"stan", []string{stanDrawsName}, func(s *Sample) []release.File { return []release.File{stanFile(s)} }},
	}
}

// The files of draws.
const (
	drawsName     = "draws.parquet"
	csvName       = "draws.csv"
	longName      = "draws_long.csv"
	stanDrawsName = "draws.stan.csv"
)

// IsDrawsFile reports whether a format has a file of this name.
func IsDrawsFile(name string) bool {
	for _, f := range formats() {
		if slices.Contains(f.names, name) {
			return true
		}
	}
	return strings.HasPrefix(name, ZarrRoot+"/")
}

// drawnByDefault is the largest number of numbers in a posterior whose draws are written
// without a request: more would be a hundred megabytes that few read.
const drawnByDefault = 500

// Files are the files of the named formats. Without names they are the files of the
// default formats, or none if a draw has more than drawnByDefault numbers. No file has the
// format settings.FormatsNone.
func (s *Sample) Files(names []string) (files []release.File) {
	if len(names) == 0 && len(s.Draws.Variables) <= drawnByDefault {
		names = settings.DefaultFormats()
	}
	for _, f := range formats() {
		if slices.Contains(names, f.name) {
			files = append(files, f.files(s)...)
		}
	}
	return files
}
