package report

import "slices"

// Format is a file format of the posterior draws.
type Format struct {
	Name    string
	Default bool
	Files   func(*Run) []File
}

// Formats is the table of formats; a new one is a file and a line here.
func Formats() []Format {
	return []Format{
		{"parquet", true, func(r *Run) []File { return []File{DrawsFile(r.Draws, r.metadata())} }},
		{"zarr", true, zarrFiles},
		{"csv", false, func(r *Run) []File { return []File{csvFile(r)} }},
		{"long", false, func(r *Run) []File { return []File{longFile(r)} }},
		{"stan", false, func(r *Run) []File { return []File{stanFile(r)} }},
	}
}

// FormatNames lists the names of the formats.
func FormatNames() (names []string) {
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// drawsFiles are the files of the wanted formats, or of the default ones.
func (r *Run) drawsFiles() (files []File) {
	for _, f := range Formats() {
		if slices.Contains(r.Formats, f.Name) || len(r.Formats) == 0 && f.Default {
			files = append(files, f.Files(r)...)
		}
	}
	return files
}
