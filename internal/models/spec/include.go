package spec

import (
	"errors"
	"path"

	"d3p/internal/models/source"
)

var errNoFiles = errors.New("this command reads no other files")

// noFiles is the Loader of a caller without files.
func noFiles(string) ([]byte, error) { return nil, errNoFiles }

// include reads `include: file.yaml` or a list of files. A file must not repeat a
// declaration of an included file, such as the custodian's data block.
func (b *blocks) include(r *reader, e entry, depth int) {
	var files []source.Value[string]
	if describe(e.node) == "a list" {
		files = r.texts(e)
	} else if v := r.text(e); v.IsSet() {
		files = []source.Value[string]{v}
	}
	for _, f := range files {
		if depth >= maxIncludes {
			r.Add(f.At, "", "files include each other more than %d deep", maxIncludes)
			return
		}
		at := r.relative(f.V)
		src, err := b.load(at)
		if err != nil {
			r.Add(f.At, "", "cannot read %s: %v", f.V, err)
			continue
		}
		if depth == 0 {
			b.spec.Include = append(b.spec.Include, f)
		}
		included := &reader{Problems: b.Problems, spec: b.spec, file: at, dir: path.Dir(at)}
		if !path.IsAbs(at) {
			included.file = path.Join(path.Dir(b.spec.File), at)
		}
		b.file(included, src, depth+1)
	}
}

// relative is the path, relative to the model file, of a file that the file
// being read names.
func (r *reader) relative(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(r.dir, name)
}
