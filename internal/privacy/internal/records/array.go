package records

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"d3p/internal/models/encoding"
	"d3p/internal/privacy/internal/records/tablefile"
)

// arrayBlock is the most records of an array file that one process reads in a row.
const arrayBlock = 1 << 12

// readArray adds the records of an array file, which it reads from its start.
func (enc *encoder) readArray(path string, f *os.File, e encoding.Encoding) error {
	src, a, err := tablefile.OpenArray(path, f, tablefile.FormatOf(path, e.Format))
	if err != nil {
		return err
	}
	if enc.units != nil {
		return &tablefile.FileError{File: path, Column: enc.units.name, Problem: "is not in an array of numbers", Hint: "units with ids need CSV or Parquet"}
	}
	names, labels, err := arrayNames(path, e.Header, enc, a)
	if err != nil {
		return err
	}
	at, errs := enc.match(path, names)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if enc.rows == nil {
		if err := enc.room(a.Records); err != nil {
			return err
		}
	}
	block := enc.share.block(int64(a.Records), arrayBlock)
	var tags *labelReader
	if labels != "" {
		if tags, err = openLabels(labels, a.Records, e.Format); err != nil {
			return err
		}
		defer tags.close()
	}
	record := make([]byte, a.Columns*a.Bytes)
	for i := range a.Records {
		if _, err := io.ReadFull(src, record); err != nil {
			return tablefile.ShortArray(path)
		}
		label := 0.0
		if tags != nil {
			if label, err = tags.next(); err != nil {
				return err
			}
		}
		if !enc.share.has(i / block) {
			continue
		}
		for i := range enc.columns {
			j := at[i]
			if tags != nil {
				j-- // the label comes first
			}
			if j < 0 {
				enc.number(&enc.columns[i], label)
			} else {
				enc.number(&enc.columns[i], a.Number(record[j*a.Bytes:]))
			}
		}
		if err := enc.end(); err != nil {
			return err
		}
	}
	return nil
}

// arrayNames names the numbers of a record in order: they are the declared
// columns, those of tensors last, or the ones that are read. With one number
// too few for either, labels is the file beside an idx file of images that has the first.
func arrayNames(path string, header []string, enc *encoder, a tablefile.Array) (names []string, labels string, err error) {
	var read []string
	for _, name := range header {
		if slices.ContainsFunc(enc.columns, func(c column) bool { return c.name == name }) {
			read = append(read, name)
		}
	}
	beside := labelsBeside(path)
	switch a.Columns {
	case len(header):
		return header, "", nil
	case len(read):
		return read, "", nil
	case len(read) - 1:
		if beside != "" {
			return read, beside, nil
		}
	case len(header) - 1:
		if beside != "" {
			return header, beside, nil
		}
	}
	return nil, "", &tablefile.FileError{
		File:    path,
		Problem: fmt.Sprintf("has %d numbers in a record, but the model file declares %d columns", a.Columns, len(header)),
		Hint:    "the numbers are the declared columns in order, those of tensors last",
	}
}

// labelsBeside is the file of labels that belongs to an idx file of images, by
// the names of MNIST; "" for other names.
func labelsBeside(path string) string {
	base := filepath.Base(path)
	labels := strings.Replace(strings.Replace(base, "images", "labels", 1), "idx3", "idx1", 1)
	if labels == base {
		return ""
	}
	return filepath.Join(filepath.Dir(path), labels)
}

// labelReader reads one number per record.
type labelReader struct {
	path string
	file *os.File
	src  io.Reader
	a    tablefile.Array
	cell []byte
}

// openLabels opens the file of n labels.
func openLabels(path string, n int, declared string) (*labelReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &tablefile.FileError{File: path, Problem: "is not there, but the model needs the labels of the images"}
	}
	src, a, err := tablefile.OpenArray(path, f, tablefile.FormatOf(path, declared))
	if err == nil && (a.Columns != 1 || a.Records != n) {
		err = &tablefile.FileError{File: path, Problem: "does not have one label for every image"}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &labelReader{path, f, src, a, make([]byte, a.Bytes)}, nil
}

func (l *labelReader) next() (float64, error) {
	if _, err := io.ReadFull(l.src, l.cell); err != nil {
		return 0, tablefile.ShortArray(l.path)
	}
	return l.a.Number(l.cell), nil
}

func (l *labelReader) close() { l.file.Close() }
