package report

import (
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
)

// publicFolder of a release holds the public files that its model names.
const publicFolder = "public"

// PublicFiles are the public tables and level lists that a model file names, by
// the path it names them by: a release carries them, so that it can be used
// where they are not.
func PublicFiles(public map[string][]byte) []File {
	var files []File
	for _, path := range slices.Sorted(maps.Keys(public)) {
		files = append(files, File{publicFolder + "/" + url.PathEscape(path), false, func(w io.Writer) error {
			_, err := w.Write(public[path])
			return err
		}})
	}
	return files
}

// ReadPublic reads a file of PublicFiles from a release or its run folder.
func ReadPublic(dir, path string) ([]byte, error) {
	return os.ReadFile(filepath.Join(ReleaseFolder(dir), publicFolder, url.PathEscape(path)))
}
