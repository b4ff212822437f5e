package report

import (
	"io"
	"maps"
	"net/url"
	"slices"

	"d3p/internal/release"
)

// publicFolder of a release holds the public files that its model names.
const publicFolder = "public"

// PublicFiles are the public tables and level lists that a model file names, by
// the path it names them by: a release carries them, so that it can be used
// where they are not.
func PublicFiles(public map[string][]byte) []release.File {
	var files []release.File
	for _, path := range slices.Sorted(maps.Keys(public)) {
		files = append(files, release.File{Name: publicFolder + "/" + url.PathEscape(path), Covered: false, Write: func(w io.Writer) error {
			_, err := w.Write(public[path])
			return err
		}})
	}
	return files
}

// ReadPublic reads a file of PublicFiles from a release.
func ReadPublic(f *release.Folder, path string) ([]byte, error) {
	return f.ReadFile(publicFolder + "/" + url.PathEscape(path))
}
