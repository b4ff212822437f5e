package records

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
)

// gzipMagic starts a compressed file. CSV and array files may be compressed.
const gzipMagic = "\x1f\x8b"

// decompressed gives the text of a compressed file. That a part of it is missing
// or damaged is an error of type *FileError: it must not look like the end.
type decompressed struct {
	path string
	z    *gzip.Reader
}

// decompress reads f, a compressed file, from where it stands.
func decompress(path string, f io.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, notDecompressed(path)
	}
	return decompressed{path, z}, nil
}

func (d decompressed) Read(p []byte) (int, error) {
	n, err := d.z.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = notDecompressed(d.path)
	}
	return n, err
}

func notDecompressed(path string) error {
	return &FileError{File: path, Problem: "is compressed and cannot be decompressed to its end", Hint: "write or download it again"}
}

// plain gives what f, a file or a pipe, holds, decompressed where it is compressed.
func plain(path string, f io.Reader) (*bufio.Reader, error) {
	const size = 1 << 16 // bytes
	src := bufio.NewReaderSize(f, size)
	if start, _ := src.Peek(len(gzipMagic)); string(start) != gzipMagic {
		return src, nil
	}
	z, err := decompress(path, src)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, size), nil
}
