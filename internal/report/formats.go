package report

import "slices"

// Format is a file format of the posterior draws.
type Format struct {
	Name    string
	Default bool
	Names   []string // of its files, but for those below idata.zarr/
	Files   func(*Sample) []File
}

// Formats is the table of formats; a new one is a file and a line here.
func Formats() []Format {
	return []Format{
		{"parquet", true, []string{drawsName}, func(s *Sample) []File { return []File{DrawsFile(s.Draws, s.metadata())} }},
		{"zarr", true, nil, zarrFiles},
		{"csv", false, []string{csvName}, func(s *Sample) []File { return []File{csvFile(s)} }},
		{"long", false, []string{longName}, func(s *Sample) []File { return []File{longFile(s)} }},
		{"stan", false, []string{stanDrawsName}, func(s *Sample) []File { return []File{stanFile(s)} }},
	}
}

// The files of draws.
const (
	drawsName     = "draws.parquet"
	csvName       = "draws.csv"
	longName      = "draws_long.csv"
	stanDrawsName = "draws.stan.csv"
)

// FormatNames lists the names of the formats.
func FormatNames() (names []string) {
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// Files are the files of the named formats, or of the default ones.
func (s *Sample) Files(names []string) (files []File) {
	for _, f := range Formats() {
		if slices.Contains(names, f.Name) || len(names) == 0 && f.Default {
			files = append(files, f.Files(s)...)
		}
	}
	return files
}
