package records

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"d3p/internal/models"
)

// arrayHead is the layout of a file that holds one array of numbers, record by
// record, without names: idx (MNIST) or npy (NumPy).
type arrayHead struct {
	records int // as the file states it, to be believed with care
	columns int // numbers of a record
	bytes   int // of one number
	number  func(b []byte) float64
}

// maxRatio is the most that deflate can shrink a file: 1032 to 1.
const maxRatio = 1032

// readArray reads an array file from its start.
func readArray(path string, f *os.File, e models.Encoding, opt Options) (*Rows, Check, error) {
	check := Check{File: path}
	src, a, err := openArray(path, f, formatOf(path, e.Format))
	if err != nil {
		return nil, check, err
	}
	enc, err := newEncoder(e, opt)
	if err != nil {
		return nil, check, err
	}
	if enc.units != nil {
		return nil, check, &FileError{File: path, Column: enc.units.name, Problem: "is not in an array of numbers", Hint: "units with ids need CSV or Parquet"}
	}
	names, labels, err := arrayNames(path, e.Header, enc, a)
	if err != nil {
		return nil, check, err
	}
	at, errs := enc.match(path, names)
	if len(errs) > 0 {
		return nil, check, errors.Join(errs...)
	}
	enc.allocate(a.records, e, opt)
	var tags *labelReader
	if labels != "" {
		if tags, err = openLabels(labels, a.records, e.Format); err != nil {
			return nil, check, err
		}
		defer tags.close()
	}
	record := make([]byte, a.columns*a.bytes)
	for range a.records {
		if _, err := io.ReadFull(src, record); err != nil {
			return nil, check, shortArray(path)
		}
		label := 0.0
		if tags != nil {
			if label, err = tags.next(); err != nil {
				return nil, check, err
			}
		}
		for i := range enc.columns {
			j := at[i]
			if tags != nil {
				j-- // the label comes first
			}
			if j < 0 {
				enc.number(&enc.columns[i], label)
			} else {
				enc.number(&enc.columns[i], a.number(record[j*a.bytes:]))
			}
		}
		if enc.end() != nil {
			return nil, check, tooLarge(path, opt)
		}
	}
	return enc.rows, enc.check(path), nil
}

// openArray reads the head of an array file. A file cannot state more records than
// its length has room for.
func openArray(path string, f *os.File, is format) (io.Reader, arrayHead, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, arrayHead{}, err
	}
	src, err := plain(path, f, is.gzipped)
	if err != nil {
		return nil, arrayHead{}, err
	}
	room := info.Size()
	if is.gzipped {
		room *= maxRatio
	}
	read := idxHead
	if is.kind == npyFormat {
		read = npyHead
	}
	a, err := read(path, src)
	if err == nil && int64(a.records) > room/int64(a.columns*a.bytes) {
		err = shortArray(path)
	}
	return src, a, err
}

func shortArray(path string) error {
	return &FileError{File: path, Problem: "is shorter than its head says", Hint: "write or download it again"}
}

// arrayNames names the numbers of a record in order: they are the declared
// columns, those of tensors last, or the ones that are read. With one number
// too few, labels is the file beside an idx file of images that has the first.
func arrayNames(path string, header []string, enc *encoder, a arrayHead) (names []string, labels string, err error) {
	var read []string
	for _, name := range header {
		if slices.ContainsFunc(enc.columns, func(c column) bool { return c.name == name }) {
			read = append(read, name)
		}
	}
	beside := labelsBeside(path)
	switch a.columns {
	case len(header):
		return header, "", nil
	case len(read):
		return read, "", nil
	case len(read) - 1:
		if beside != "" {
			return read, beside, nil
		}
	}
	return nil, "", &FileError{
		File:    path,
		Problem: fmt.Sprintf("has %d numbers in a record, but the model file declares %d columns", a.columns, len(header)),
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
	a    arrayHead
	cell []byte
}

// openLabels opens the file of n labels.
func openLabels(path string, n int, declared string) (*labelReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &FileError{File: path, Problem: "is not there, but the model needs the labels of the images"}
	}
	src, a, err := openArray(path, f, formatOf(path, declared))
	if err == nil && (a.columns != 1 || a.records != n) {
		err = &FileError{File: path, Problem: "does not have one label for every image"}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &labelReader{path, f, src, a, make([]byte, a.bytes)}, nil
}

func (l *labelReader) next() (float64, error) {
	if _, err := io.ReadFull(l.src, l.cell); err != nil {
		return 0, shortArray(l.path)
	}
	return l.a.number(l.cell), nil
}

func (l *labelReader) close() { l.file.Close() }
