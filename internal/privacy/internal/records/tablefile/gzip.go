package tablefile

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
)

// gzipMagic starts a compressed file.
const gzipMagic = "\x1f\x8b"

// decompressed reads the text of a compressed file. A missing or damaged part is an
// error of type *FileError: it must not look like the end.
type decompressed struct {
	path string
	z    *gzip.Reader
}

func (d decompressed) Read(p []byte) (int, error) {
	n, err := d.z.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = notDecompressed(d.path)
	}
	return n, err
}

// notDecompressed has one text for all failures.
func notDecompressed(path string) error {
	return &FileError{File: path, Problem: "is not, to its end, a file compressed by gzip", Hint: "write or download it again; the name of an uncompressed file has no .gz"}
}

// Plain gives the content of f, a file or a pipe from its start, decompressed if the
// format is compressed.
func Plain(path string, f io.Reader, gzipped bool) (*bufio.Reader, error) {
	const size = 1 << 16 // bytes
	src := bufio.NewReaderSize(f, size)
	if !gzipped {
		return src, nil
	}
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, notDecompressed(path)
	}
	return bufio.NewReaderSize(decompressed{path, z}, size), nil
}
